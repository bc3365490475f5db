package executor

import (
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/executor/source"
	"github.com/ufbuild/ufbuild/lang"
)

// changesOf has an edit for every field of Action. A new field without a line here fails the test,
// so nobody can add one without saying whether it counts in the key.
var changesOf = map[string]func(*Action){
	"Kind":      func(a *Action) { a.Kind = lang.Command },
	"Agent":     func(a *Action) { a.Agent.Model = "other" },
	"Argv":      func(a *Action) { a.Argv = []lang.Text{text("x")} },
	"Prompt":    func(a *Action) { a.Prompt = text("other") },
	"Vars":      func(a *Action) { a.Vars = `{"a":1}` },
	"Env":       func(a *Action) { a.Env = a.Env[:1] },
	"TaskEnv":   func(a *Action) { a.TaskEnv = []lang.EnvVar{{Name: "A", Value: text("1")}} },
	"Sources":   func(a *Action) { a.Sources[1].Mode = 0o644 },
	"Inflows":   func(a *Action) { a.Inflows[0].Digest = digest.Of([]byte("z")) },
	"Start":     func(a *Action) { a.Start = digest.Of([]byte("tree")) },
	"StartTree": func(a *Action) { a.StartTree = []byte("tree") },
	"Absent":    func(a *Action) { a.Absent = 2 },
	"Outputs":   func(a *Action) { a.Outputs[0].Path = "other.json" },
	"Salt":      func(a *Action) { a.Salt = "t" },
	"Loop":      func(a *Action) { a.Loop = 3 },
	"Accepted":  func(a *Action) { a.Accepted = time.Hour },
	"Inplace":   func(a *Action) { a.Inplace = true },
	"GitInit":   func(a *Action) { a.GitInit = true },
	"Address":   func(a *Action) { a.Address.Task = "renamed" },
	"Mode":      func(a *Action) { a.Mode = lang.ModeRepo },
	"PassEnv":   func(a *Action) { a.PassEnv = []string{"TOKEN"} },
	"Secrets":   func(a *Action) { a.Secrets = []lang.EnvVar{{Name: "S", Value: text("hush")}} },
	"Timeout":   func(a *Action) { a.Timeout = time.Minute },
	"Idle":      func(a *Action) { a.Idle = time.Minute },
	"Profile":   func(a *Action) { a.Profile = "other" },
	"Budget":    func(a *Action) { a.Budget.USD = 2 },
	"Sandbox":   func(a *Action) { a.Sandbox = "writes" },
	"Writable":  func(a *Action) { a.Writable = []string{"/tmp"} },
	"Compared":  func(a *Action) { a.Compared = []Compared{{File: "goals.json"}} },
	"Readable":  func(a *Action) { a.Readable = []string{"/srv"} },
	"NoNetwork": func(a *Action) { a.NoNetwork = true },
	"Remote":    func(a *Action) { a.Remote = "x" },
	"Contracts": func(a *Action) { a.Contracts = []lang.Output{{Name: "findings"}} },
}

func TestEveryFieldSaysWhetherItCounts(t *testing.T) {
	typ := reflect.TypeFor[Action]()
	for i := range typ.NumField() {
		f := typ.Field(i)
		t.Run(f.Name, func(t *testing.T) {
			tag := f.Tag.Get("manifest")
			require.Contains(t, []string{"in", "out"}, tag, "the field needs a manifest tag")
			change, ok := changesOf[f.Name]
			require.True(t, ok, "changesOf needs a line")
			a, b := promptAction(), promptAction()
			change(b)
			if tag == "in" {
				require.NotEqual(t, a.Key(), b.Key(), "a change of %s must change the key", f.Name)
			} else {
				require.Equal(t, a.Key(), b.Key(), "a change of %s must not change the key", f.Name)
			}
		})
	}
}

func TestWhatOnlyNamesDoesNotCount(t *testing.T) {
	a, b := promptAction(), promptAction()
	b.Inflows[0].From, b.Inflows[0].Output, b.Inflows[0].Mount = lang.Address{Task: "renamed"}, "other", ".uf/in/renamed/other"
	b.Inflows[0].Mode = 0o600
	b.Sources[0].Mode = 0o600
	b.Prompt.Real = "the same prompt with other mount paths"
	require.Equal(t, a.Key(), b.Key())
}

// TestValuesCannotForgeLines holds the encoding injective: no value of one field reads as another line.
func TestValuesCannotForgeLines(t *testing.T) {
	hostile := []string{"x\nloop 3", "x\"\nsalt \"y", "  | y", "prompt", "\nkind command", "x\r\n", ""}
	seen := map[string]string{}
	add := func(what string, a *Action) {
		m := string(a.Manifest())
		require.NotContains(t, seen, m, "%s and %s have one manifest", what, seen[m])
		seen[m] = what
	}
	for _, h := range hostile {
		for name, set := range map[string]func(*Action){
			"prompt": func(a *Action) { a.Prompt = text("p" + h) },
			"salt":   func(a *Action) { a.Salt = "p" + h },
			"env":    func(a *Action) { a.Env = []lang.EnvVar{{Name: "A", Value: text("p" + h)}} },
			"vars":   func(a *Action) { a.Vars = "p" + h },
			"input":  func(a *Action) { a.Sources = []source.File{{Path: "p" + h, Target: "t"}} },
			"target": func(a *Action) { a.Sources = []source.File{{Path: "t", Target: "p" + h}} },
			"output": func(a *Action) { a.Outputs = []OutputSpec{{Name: "p" + h, Path: "x"}} },
			"glob":   func(a *Action) { a.Outputs = []OutputSpec{{Name: "x", Tree: []string{"p" + h}}} },
		} {
			a := promptAction()
			set(a)
			add(name+" "+h, a)
		}
	}
}

func TestUnsetDiffersFromEmpty(t *testing.T) {
	a, b := promptAction(), promptAction()
	a.Env = []lang.EnvVar{{Name: "A", Value: text("")}}
	b.Env = nil
	require.NotEqual(t, a.Key(), b.Key())
}

func FuzzManifestKeepsPromptsApart(f *testing.F) {
	f.Add("a", "b")
	f.Add("a\n", "a")
	f.Fuzz(func(t *testing.T, p, q string) {
		a, b := promptAction(), promptAction()
		a.Prompt, b.Prompt = text(p), text(q)
		require.Equal(t, p == q, a.Key() == b.Key())
	})
}
