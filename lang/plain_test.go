package lang

import (
	"math/rand/v2"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/stretchr/testify/require"
)

// TestPlainTextsAreTheEvaluators proves that what is rendered without the evaluator is what the evaluator renders, and that the
// same paths flow, over the corpora, the examples, and the campaigns of the program's scripts.
func TestPlainTextsAreTheEvaluators(t *testing.T) {
	seen := 0
	for _, o := range everyCampaign(t) {
		c, ds := Load(o)
		if ds.HasErrors() {
			continue
		}
		for _, task := range c.Tasks {
			for _, i := range task.Instances {
				seen += plainAlike(t, c, i, sameResults{"text"})
			}
		}
	}
	require.Greater(t, seen, 1000)
}

// plainAlike renders every text of an instance that is plain both ways, and returns how many there are.
func plainAlike(t testing.TB, c *Campaign, i *Instance, results Results) int {
	args := c.eval.lateArgs(i.late.def)
	var texts []hclsyntax.Expression
	var of func(e hclsyntax.Expression)
	of = func(e hclsyntax.Expression) {
		switch e := e.(type) {
		case *hclsyntax.TupleConsExpr:
			for _, x := range e.Exprs {
				of(x)
			}
		case *hclsyntax.ObjectConsExpr:
			for _, it := range e.Items {
				of(it.ValueExpr)
			}
		default:
			texts = append(texts, e)
		}
	}
	for _, a := range append(append(args.env, args.vars...), args.body) {
		if a != nil && !a.broken {
			of(a.syntax)
		}
	}
	if p := i.late.prompt; p != nil && p.expression != nil {
		of(p.expression.syntax)
	}
	n := 0
	for _, e := range texts {
		quick, long := newRenderer(c.eval, i, results), newRenderer(c.eval, i, results)
		p := plainTexts{r: quick}
		text, ok := p.text(e)
		if !ok {
			continue
		}
		n++
		p.note(p.used)
		v, ok := long.value(analyze(e))
		require.True(t, ok, "%v of %s: %v", e.Range(), i.Address, long.all())
		want, ok := long.text(v, e.Range(), "it")
		require.True(t, ok, "%v of %s: %v", e.Range(), i.Address, long.all())
		require.Equal(t, want.Real, text, "%v of %s", e.Range(), i.Address)
		require.ElementsMatch(t, long.marks.keys, quick.marks.keys, "%v of %s", e.Range(), i.Address)
	}
	return n
}

// TestPlainRunReadsAlike proves that what is rendered from the text of an argument is what is rendered of its tree, over texts that
// differ from plain ones in a few bytes.
func TestPlainRunReadsAlike(t *testing.T) {
	c := loadClean(t, map[string]string{"campaign.hcl": `
task "a" {
  command = ["true"]
  output "o" { path = "o" }
}
task "b" {
  command = ["cat", task.a.outputs.o.path]
}
`})
	i, random := instanceAt(t, c, "b"), rand.New(rand.NewPCG(1, 2))
	lists, objects := 0, 0
	for _, text := range []string{
		"command = [\"sh\", \"-c\", # the shell\n \"cat ${task.a.outputs.o.path} \\\"x\\\" ${ task.a.outputs.o.path }|\", task.a.outputs.o.path, \"${task.a.outputs.o.path}\", \"\"]",
		"env = { A = \"1\", \"B\" : task.a.outputs.o.path\n C = \"${task.a.outputs.o.path}/..\" }",
	} {
		for range 20000 {
			b := mutated([]byte(text), random)
			new := func() (*quickReader, *plainTexts) {
				return newQuickReader(b, "campaign.hcl", hcl.InitialPos), &plainTexts{r: newRenderer(c.eval, i, sameResults{"text"})}
			}
			q, p := new()
			if got, ok := q.plainList(p); ok {
				lists++
				q, of := new()
				a := q.argument(&Block{Free: true})
				require.NotNil(t, a, "%s", b)
				require.Equal(t, len(b), q.at, "%s", b)
				want, ok := of.list(a.syntax)
				require.True(t, ok, "%s", b)
				require.Equal(t, want, append([]Text{}, got...), "%s", b)
				require.Equal(t, of.used, p.used, "%s", b)
			}
			q, p = new()
			if got := map[string]plainPart{}; q.plainObject(p, got) {
				objects++
				q, of := new()
				a := q.argument(&Block{Free: true})
				require.NotNil(t, a, "%s", b)
				require.Equal(t, len(b), q.at, "%s", b)
				want := map[string]plainPart{}
				require.True(t, of.object(a.syntax, want), "%s", b)
				require.Equal(t, want, got, "%s", b)
			}
		}
	}
	require.Greater(t, lists, 1500)
	require.Greater(t, objects, 1500)
}

// TestPlainTexts proves which texts are rendered without the evaluator, which are left to it, and that both come out right beside
// each other, text that is no normal form included.
func TestPlainTexts(t *testing.T) {
	c := loadClean(t, map[string]string{"campaign.hcl": `
variable "v" { default = "x" }
task "a" {
  command = ["sh", "-c", "echo 1 > o"]
  output "o" { path = "o" }
}
group "g" {
  defaults {
    env = { A = task.a.outputs.o.path, B = "1" }
  }
}
task "replaces" {
  group   = group.g
  command = ["env"]
  env     = { A = "no path" }
}
task "two" {
  for_each = toset(["k", "l"])
  command  = ["sh", "-c", "echo 1 > o"]
  output "o" { path = "o" }
}
task "plain" {
  command = ["cat", task.a.outputs.o.path, "${task.a.outputs.o.path}", "é${task.a.outputs.o.path}:$${x}", "e\u0301", ""]
  env     = { A = "1", B = "${task.a.outputs["o"].path}/.." }
}
task "not" {
  command = ["cat", "${var.v}", task.two["k"].outputs.o.path, "${task.a.outputs.o.path}"]
  env     = { C = null, D = "${1 + 1}" }
}
`})
	results := fakeResults{"a": {"o": "1"}, "two/k": {"o": "1"}, "two/l": {"o": "1"}}
	plain, not := instanceAt(t, c, "plain"), instanceAt(t, c, "not")
	require.Equal(t, 8, plainAlike(t, c, plain, results))
	require.Equal(t, 2, plainAlike(t, c, not, results))

	r, ds := c.Render(plain, results)
	require.Empty(t, ds)
	require.Equal(t, []Text{
		{"cat", "cat"}, {".uf/in/a/o", "␟in1␟"}, {".uf/in/a/o", "␟in1␟"}, {"é.uf/in/a/o:${x}", "é␟in1␟:${x}"}, {"é", "é"}, {"", ""},
	}, r.Argv)
	require.Equal(t, []EnvVar{{"A", Text{"1", "1"}}, {"B", Text{".uf/in/a/o/..", "␟in1␟/.."}}}, r.Env)
	require.Equal(t, []Flow{{From: Address{Task: "a"}, Output: "o", Mount: ".uf/in/a/o"}}, r.Flows)

	r, ds = c.Render(instanceAt(t, c, "replaces"), results)
	require.Empty(t, ds)
	require.Equal(t, []EnvVar{{"A", Text{"no path", "no path"}}, {"B", Text{"1", "1"}}}, r.Env)
	require.Empty(t, r.Flows, "what another value replaces does not flow")

	r, ds = c.Render(not, results)
	require.Empty(t, ds)
	require.Equal(t, []Text{{"cat", "cat"}, {"x", "x"}, {".uf/in/two/k/o", "␟in1␟"}, {".uf/in/a/o", "␟in2␟"}}, r.Argv)
	require.Equal(t, []EnvVar{{"D", Text{"2", "2"}}}, r.Env)
}
