package lang

import (
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// interpreters are programs whose first operand is a script, with the letters of those of their options that take its place:
// "sh -ec TEXT", "python3 -m MODULE", "node -e TEXT".
var interpreters = map[string]string{
	"sh": "c", "bash": "c", "dash": "c", "zsh": "c", "ksh": "c", "fish": "c", "python": "cm", "python3": "cm", "node": "ep",
	"ruby": "e", "perl": "eE", "php": "rf", "lua": "e", "Rscript": "e",
}

// scriptExtensions tell a script that lies in the root from another word.
var scriptExtensions = []string{".sh", ".bash", ".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".php", ".lua", ".R"}

// checkScripts reports a program or script below the root that the command of a task, or that of its agent, names and that
// is not there: nothing could start. A task that works in the project itself, or that starts from a tree of another, may
// find it made by then.
func (l *loader) checkScripts(s *scope, d *taskDef, i *Instance) {
	if i.Workspace.Mode == ModeInplace || len(d.inherit) > 0 {
		return
	}
	if d.body != nil && d.body.name == "command" {
		l.checkScript(s, d.body)
	}
	if d.task.Kind == Prompt && i.Profile != nil && i.Profile.Agent != nil {
		if n := l.decl.kinds["agent"].byName[i.Profile.Agent.Name]; n != nil {
			l.checkScript(s, n.arg("command"))
		}
	}
}

func (l *loader) checkScript(s *scope, a *argument) {
	if a == nil || a.broken {
		return
	}
	t, ok := a.syntax.(*hclsyntax.TupleConsExpr)
	if !ok {
		return
	}
	known := func(k int) (string, bool) {
		if k >= len(t.Exprs) {
			return "", false
		}
		v, ok := (&outliner{scope: s}).known(t.Exprs[k])
		if !ok || v.IsNull() || v.Type() != cty.String || isSecret(v) {
			return "", false
		}
		return plain(v).AsString(), true
	}
	if words, ok := known(0); ok && strings.Contains(words, " ") && !strings.Contains(words, "/") {
		l.error("UF7103", elementRange(a.expression, 0), "No program is called %q, so nothing could start.", words).
			hint("The program and each of its arguments are elements of their own; a line of shell is [\"sh\", \"-c\", %q].", words)
		return
	}
	if k, word, ok := scriptOf(known); ok {
		l.missingScript("UF7103", elementRange(a.expression, k), word, "nothing could start")
	}
}

// missingScript reports a file below the root that a command needs and that is not there.
func (l *loader) missingScript(code string, place hcl.Range, word, so string) {
	name := path.Clean(word)
	// What lies in the directories of ufbuild is laid there when the task starts: outputs of other tasks, references.
	if !cleanPath(name) || underReserved(name) || strings.ContainsAny(name, "*?|&;<>$`\n") || l.ev.src.exists(name) {
		return
	}
	d := l.error(code, place, "%s: no such file, so %s.", name, so)
	if near := l.near(globSafe(name)); near != "" {
		d.Hint = "Did you mean " + near + "?"
	}
}

// scriptOf finds the word of a command that names a file which has to be there: the program itself, or the script of an
// interpreter. Which options take the next word is not known, so only a word that looks like a script counts.
func scriptOf(known func(k int) (string, bool)) (k int, word string, ok bool) {
	program, ok := known(0)
	if !ok || strings.Contains(program, "/") {
		return 0, program, ok
	}
	instead, ok := interpreters[program]
	if !ok {
		return 0, "", false
	}
	for k := 1; ; k++ {
		word, ok := known(k)
		switch {
		case !ok, word == "-", strings.HasPrefix(word, "-") && strings.ContainsAny(word, instead):
			return 0, "", false // its program is in the word that follows, or comes from elsewhere
		case strings.HasPrefix(word, "-"):
		default:
			return k, word, strings.Contains(word, "/") || slices.Contains(scriptExtensions, path.Ext(word))
		}
	}
}
