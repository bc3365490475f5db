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
	list, _ := leadingWords(s, a.syntax)
	if len(list) > 0 && list[0].known && strings.Contains(list[0].text, " ") && !strings.Contains(list[0].text, "/") {
		l.error("UF7103", list[0].place, "No program is called %q, so nothing could start.", list[0].text).
			hint("The program and each of its arguments are elements of their own; a line of shell is [\"sh\", \"-c\", %q].", list[0].text)
		return
	}
	if k, ok := scriptOf(list); ok {
		l.missingScript("UF7103", list[k].place, list[k].text, "nothing could start")
	}
}

// word is an element of a command.
type word struct {
	text  string
	known bool // before anything runs; else text is ""
	place hcl.Range
}

// leadingWords are the words that a command begins with, and whether these are all of it: the rest is behind a list whose
// length is not known, as in concat(["sh", "x.sh"], task.a.all[*].dir).
func leadingWords(s *scope, e hclsyntax.Expression) (list []word, whole bool) {
	switch e := e.(type) {
	case *hclsyntax.TupleConsExpr:
		list = make([]word, 0, len(e.Exprs))
		for _, x := range e.Exprs {
			v, ok := (&outliner{scope: s}).known(x)
			list = append(list, wordOf(v, ok, x.Range()))
		}
		return list, true
	case *hclsyntax.ParenthesesExpr:
		return leadingWords(s, e.Expression)
	case *hclsyntax.FunctionCallExpr:
		for k, arg := range e.Args {
			if e.Name != "concat" || e.ExpandFinal && k == len(e.Args)-1 {
				break
			}
			some, all := leadingWords(s, arg)
			if list = append(list, some...); !all {
				return list, false
			}
		}
		if e.Name == "concat" && !e.ExpandFinal {
			return list, true
		}
		if len(list) > 0 {
			return list, false
		}
	}
	v, ok := (&outliner{scope: s}).known(e)
	if !ok || v.IsNull() || isSecret(v) || !plain(v).CanIterateElements() || plain(v).Type().IsObjectType() || plain(v).Type().IsMapType() {
		return nil, false
	}
	for it := plain(v).ElementIterator(); it.Next(); {
		_, x := it.Element()
		list = append(list, wordOf(x, true, e.Range()))
	}
	return list, true
}

func wordOf(v cty.Value, ok bool, place hcl.Range) word {
	if !ok || v.IsNull() || v.Type() != cty.String || isSecret(v) {
		return word{place: place}
	}
	return word{plain(v).AsString(), true, place}
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
func scriptOf(list []word) (k int, ok bool) {
	if len(list) == 0 || !list[0].known {
		return 0, false
	}
	program := list[0].text
	if strings.Contains(program, "/") {
		return 0, true
	}
	instead, ok := interpreters[program]
	if !ok {
		return 0, false
	}
	for k := 1; k < len(list); k++ {
		switch w := list[k].text; {
		case !list[k].known, w == "-", strings.HasPrefix(w, "-") && strings.ContainsAny(w, instead):
			return 0, false // its program is in the word that follows, or comes from elsewhere
		case strings.HasPrefix(w, "-"):
		default:
			return k, strings.Contains(w, "/") || slices.Contains(scriptExtensions, path.Ext(w))
		}
	}
	return 0, false
}
