package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/event"
	"github.com/ufbuild/ufbuild/lang"
)

// missingWords are what programs say of a file that is not there.
var missingWords = regexp.MustCompile(`(?i)no such file|cannot open|can't open|not found|does not exist|ENOENT|cannot find`)

// pathWords are the words of a message that may be paths.
var pathWords = regexp.MustCompile(`[^\s'"` + "`" + `:;,()\[\]<>=‘’“”]+`)

// undeclaredHint says what to do where a task missed a file that is in the project: it sees its declared inputs only. ""
// where that is not what went wrong.
func undeclaredHint(l *loaded, inst *lang.Instance, message string) string {
	if inst == nil || inst.Workspace.Mode == lang.ModeInplace || !missingWords.MatchString(message) {
		return ""
	}
	for _, word := range pathWords.FindAllString(message, -1) {
		file := strings.TrimPrefix(word, "./")
		if cache.CleanPath(file) != nil || strings.HasPrefix(file, l.campaign.Out+"/") || executor.OriginOf(inst, file) == executor.ByDeclaration {
			continue
		}
		info, err := os.Lstat(filepath.Join(l.campaign.Root, filepath.FromSlash(file)))
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		why := "a task sees the inputs it declares"
		if inst.Workspace.Mode == lang.ModeRepo {
			why = "the workspace leaves out what git ignores and what it excludes"
		}
		return fmt.Sprintf("%s is in the project, but %s: add input \"NAME\" { glob = [%q] } to task %q", event.Plain(file), why, event.Plain(file), inst.Task.Name)
	}
	return ""
}
