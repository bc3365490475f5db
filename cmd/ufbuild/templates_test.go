package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/ufbuild/ufbuild/lang"
)

// copiedTemplates are examples that init offers too.
var copiedTemplates = []string{"audit", "gofuzz"}

// TestTemplatesAreTheExamples keeps the copies true; -update makes them anew.
func TestTemplatesAreTheExamples(t *testing.T) {
	for _, name := range copiedTemplates {
		want := archiveOf(t, filepath.Join("..", "..", "examples", name))
		file := filepath.Join("templates", name+archiveExt)
		if *update {
			require.NoError(t, os.WriteFile(file, want, 0o644))
		}
		have, err := os.ReadFile(file)
		require.NoError(t, err)
		require.True(t, string(want) == string(have), "template %s differs from its example: run make golden", name)
	}
}

// archiveOf packs the sources of an example: not what builds put there, not its Go tests.
func archiveOf(t *testing.T, dir string) []byte {
	t.Helper()
	archive := &txtar.Archive{}
	require.NoError(t, filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, file)
		if err != nil {
			return err
		}
		if d.IsDir() {
			if rel == "out" || rel == ".ufbuild" {
				return fs.SkipDir
			}
			return nil
		}
		if rel == "agent_test.go" || filepath.Dir(rel) == "agent" && strings.HasSuffix(rel, "_test.go") {
			return nil
		}
		data, err := os.ReadFile(file)
		archive.Files = append(archive.Files, txtar.File{Name: filepath.ToSlash(rel), Data: data})
		return err
	}))
	archive.Files = append(archive.Files, txtar.File{Name: ".gitignore", Data: []byte("/out/\n")})
	packed := txtar.Format(archive)
	require.Len(t, txtar.Parse(packed).Files, len(archive.Files), "a file of %s holds a line like an archive's header", dir)
	return packed
}

// TestTemplatesAreSound loads every template from a fresh directory.
func TestTemplatesAreSound(t *testing.T) {
	for _, name := range templateNames() {
		t.Run(name, func(t *testing.T) {
			src, ok := template(name)
			require.True(t, ok)
			require.NotEmpty(t, templateNote(name))
			dir := filepath.Join(t.TempDir(), "campaign")
			require.NoError(t, os.CopyFS(dir, src))
			l := (&app{process: &process{}}).loadWith(lang.Options{Dir: dir, RequireValues: true}, nil)
			require.Empty(t, l.problems)
			require.NotEmpty(t, l.graph.Defaults())
			require.FileExists(t, filepath.Join(dir, ".gitignore"))
		})
	}
	_, ok := template("no-such")
	require.False(t, ok)
}
