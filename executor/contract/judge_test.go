package contract_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/executor/contract"
	"github.com/ufbuild/ufbuild/lang"
)

// file is a subject whose output "x" at x.json holds content.
func file(c lang.Contract, content string) contract.Subject {
	return contract.Subject{
		Output:   lang.Output{Name: "x", Path: "x.json", Contract: &c},
		Captured: cache.Output{Name: "x", Exists: true, Digest: digest.Of([]byte(content)), Mode: 0o644},
		Open:     func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(content)), nil },
	}
}

func named(s contract.Subject, name string) contract.Subject {
	s.Output.Name, s.Output.Path = name, name+".json"
	return s
}

func judge(t *testing.T, subjects ...contract.Subject) cache.Verdict {
	t.Helper()
	v, err := contract.Judge(context.Background(), subjects, nil)
	require.NoError(t, err)
	return v
}

const findings = `{
  "type": "array",
  "items": {
    "type": "object",
    "additionalProperties": false,
    "required": ["id", "title"],
    "properties": {
      "id": {"type": "string", "pattern": "^F-[0-9]+$"},
      "title": {"type": "string", "minLength": 3},
      "severity": {"enum": ["High", "Medium", "Low"]}
    }
  }
}`

func TestJudgeReportsEveryBrokenRule(t *testing.T) {
	js := func(c lang.Contract) lang.Contract { c.Kind = "json"; return c }
	for name, tt := range map[string]struct {
		contract lang.Contract
		content  string
		want     []string // messages without the prefix; none: pass
	}{
		"valid":         {js(lang.Contract{SchemaDoc: []byte(findings)}), `[{"id":"F-1","title":"abc","severity":"Low"}]`, nil},
		"empty array":   {js(lang.Contract{SchemaDoc: []byte(findings)}), "[]\n", nil},
		"any json":      {js(lang.Contract{}), `null`, nil},
		"nothing":       {js(lang.Contract{}), " \n", []string{"line 1, column 1: got nothing, want a JSON value"}},
		"cut short":     {js(lang.Contract{}), "[\n {\"a\": 1", []string{"line 2, column 9: JSON syntax: unexpected end of JSON input"}},
		"two documents": {js(lang.Contract{}), "[]\n[]", []string{"line 2, column 1: JSON syntax: invalid character '[' after top-level value"}},
		"fence": {js(lang.Contract{}), "```json\n[]\n```", []string{
			"line 1, column 1: JSON syntax: invalid character '`' looking for beginning of value; the JSON is wrapped in a Markdown fence, want the bare JSON"}},
		"bom":                  {js(lang.Contract{}), "\ufeff[]", []string{"line 1, column 1: starts with a byte order mark, want plain UTF-8"}},
		"not utf-8":            {js(lang.Contract{}), "[\n\"é\xff\"]", []string{"line 2, column 3: not UTF-8 (byte 0xff)"}},
		"huge number":          {js(lang.Contract{SchemaDoc: []byte(`{"multipleOf": 0.1}`)}), `{"a":[1e999999999]}`, []string{"line 1, column 1: /a/0: a number out of the range of a double"}},
		"tiny number":          {js(lang.Contract{SchemaDoc: []byte(`{"multipleOf": 0.1}`)}), `{"a":[1e-999999999]}`, []string{"line 1, column 1: /a/0: a number out of the range of a double"}},
		"zero, huge exponent":  {js(lang.Contract{Unique: []string{"$[*]"}}), `[0e99999999999999999999]`, []string{"line 1, column 1: /0: a number out of the range of a double"}},
		"zero, odd spelling":   {js(lang.Contract{Unique: []string{"$[*]"}}), `[0e999999999, 0]`, []string{"/1: unique"}},
		"too deep":             {js(lang.Contract{}), strings.Repeat("[", 501) + strings.Repeat("]", 501), []string{"line 1, column 501: nested deeper than 500"}},
		"deep enough":          {js(lang.Contract{}), strings.Repeat("[", 500) + strings.Repeat("]", 500), nil},
		"brackets in a string": {js(lang.Contract{}), `"` + strings.Repeat(`[\"`, 600) + `"`, nil},
		"all schema errors": {js(lang.Contract{SchemaDoc: []byte(findings)}),
			`[{"id":"F-1","title":"ok!","extra":1,"more":2}, {"id":7,"severity":"Urgent"}, "x", {"id":"nope","title":"a"}]`,
			[]string{
				`/0: unexpected properties "extra", "more"`,
				`/1: missing property "title"`,
				`/1/id: got number, want string`,
				`/1/severity: got "Urgent", want one of "High", "Medium", "Low"`,
				`/2: got string, want object`,
				`/3/id: got "nope", want a match of ^F-[0-9]+$`,
				`/3/title: minLength: got 1, want 3`,
			}},
		"root":             {js(lang.Contract{SchemaDoc: []byte(findings)}), `{}`, []string{"(whole document): got object, want array"}},
		"pointer escaped":  {js(lang.Contract{SchemaDoc: []byte(`{"additionalProperties":{"type":"string"}}`)}), `{"a/b~c":1}`, []string{"/a~1b~0c: got number, want string"}},
		"numbers in order": {js(lang.Contract{SchemaDoc: []byte(`{"items":{"type":"string"}}`)}), `["","",1,"","","","","","","",2]`, []string{"/2: got number, want string", "/10: got number, want string"}},
		"anyOf":            {js(lang.Contract{SchemaDoc: []byte(`{"anyOf":[{"type":"string"},{"required":["a"]}]}`)}), `{}`, []string{`(whole document): fits none of 2 allowed forms (form 1: (whole document) got object, want string; form 2: (whole document) missing property "a")`}},
		"oneOf":            {js(lang.Contract{SchemaDoc: []byte(`{"oneOf":[{"type":"object"},{"minProperties":0}]}`)}), `{}`, []string{"(whole document): fits forms 1 and 2 of oneOf, want exactly one"}},
		"relative ref": {js(lang.Contract{Schema: "a/s.json", SchemaDoc: []byte(`{"items":{"$ref":"part.json#/$defs/x"}}`),
			SchemaParts: map[string][]byte{"a/part.json": []byte(`{"$defs":{"x":{"$ref":"../b.json"}}}`), "b.json": []byte(`{"type":"string"}`)}}), `["a",1]`, []string{"/1: got number, want string"}},
		"odd names": {js(lang.Contract{Schema: "100%/a#b?.json", SchemaDoc: []byte(`{"items":{"$ref":"c d.json"}}`),
			SchemaParts: map[string][]byte{"100%/c d.json": []byte(`{"type":"string"}`)}}), `["a",1]`, []string{"/1: got number, want string"}},
		"recursive ref":     {js(lang.Contract{SchemaDoc: []byte(`{"items":{"$ref":"#"},"type":"array"}`)}), `[[[1]]]`, []string{"/0/0/0: got number, want array"}},
		"cyclic ref":        {js(lang.Contract{Schema: "s.json", SchemaDoc: []byte(`{"$ref":"#"}`)}), `[]`, []string{"(whole document)"}},
		"min bytes":         {js(lang.Contract{MinBytes: 10}), `[]`, []string{"min_bytes: got 2 bytes, want at least 10"}},
		"max bytes":         {js(lang.Contract{MaxBytes: 1}), `[]`, []string{"max_bytes: got 2 bytes, want at most 1"}},
		"min items":         {js(lang.Contract{MinItems: 2}), `[1]`, []string{"min_items: got 1 item, want at least 2"}},
		"min items, object": {js(lang.Contract{MinItems: 2}), `{}`, []string{"min_items: got an object, want an array of at least 2"}},
		"unique": {js(lang.Contract{Unique: []string{"$.id", "$[*].n"}}), `[{"id":"a","n":{"x":1,"y":2}},{"id":"b","n":{"y":2,"x":1}},{"id":"a"}]`, []string{
			`/2/id: unique $.id: got "a", which is also at /0/id`,
			`/1/n: unique $[*].n: got {"x":1,"y":2}, which is also at /0/n`}},
		"unique, bad path": {js(lang.Contract{Unique: []string{"id"}}), `[]`, []string{`unique: parse path "id": want a path that starts with $`}},
		"count":            {js(lang.Contract{Counts: []lang.ContractCount{{Path: "$.a", Equals: 3}, {Path: "$.b[*].c", Equals: 1}}}), `{"a":[1,2],"b":[{"c":0}]}`, []string{"count $.a: got 2 values, want 3"}},
		"join inside":      {js(lang.Contract{Joins: []lang.ContractJoin{{Path: "$.uses", To: "$.defs.id"}}}), `{"defs":[{"id":1}],"uses":[1,2]}`, []string{"/uses/1: join: got 2, which is not among $.defs.id"}},
		"join, no other":   {js(lang.Contract{Joins: []lang.ContractJoin{{Path: "$", To: "y:$.id"}}}), `[]`, []string{"join: y cannot be compared with: it does not exist"}},
		"several kinds at once": {js(lang.Contract{MinBytes: 99, MinItems: 3, Unique: []string{"$"}, SchemaDoc: []byte(`{"items":{"type":"string"}}`)}), `[1]`, []string{
			"min_bytes: got 3 bytes, want at least 99", "/0: got number, want string", "min_items: got 1 item, want at least 3"}},

		"jsonl":        {lang.Contract{Kind: "jsonl", SchemaDoc: []byte(`{"type":"object"}`)}, "{}\n\n{}\n", nil},
		"jsonl, empty": {lang.Contract{Kind: "jsonl", SchemaDoc: []byte(`{"type":"object"}`)}, "", nil},
		"jsonl, by line": {lang.Contract{Kind: "jsonl", SchemaDoc: []byte(`{"type":"object","required":["a"]}`)}, "{\"a\":1}\n\n{}\n[]\n", []string{
			`line 3: (whole document): missing property "a"`, "line 4: (whole document): got array, want object"}},
		"jsonl, syntax": {lang.Contract{Kind: "jsonl"}, "{}\n{\n[1,]\n", []string{"line 2, column 2: JSON syntax: unexpected end of JSON input", "line 3, column 4: JSON syntax: invalid character ']' looking for beginning of value"}},
		"jsonl, unique": {lang.Contract{Kind: "jsonl", Unique: []string{"$.id", "$[*]"}}, "{\"id\":1}\n\n{\"id\":1.0}\n", []string{
			"line 3: /id: unique $.id: got 1.0, which is also at line 1: /id", "line 3: unique $[*]: got {\"id\":1.0}, which is also at line 1"}},
		"jsonl, count":     {lang.Contract{Kind: "jsonl", Counts: []lang.ContractCount{{Path: "$.id", Equals: 2}}}, "{\"id\":1}\n", []string{"count $.id: got 1 value, want 2"}},
		"jsonl, join":      {lang.Contract{Kind: "jsonl", Joins: []lang.ContractJoin{{Path: "$.to", To: "$.id"}}}, "{\"id\":1}\n{\"to\":2}\n", []string{"line 2: /to: join: got 2, which is not among $.id"}},
		"numbers by value": {js(lang.Contract{Unique: []string{"$[*]"}}), `[100, 1e2, 0.10, 0.1, -0, 0, 1.5, 15]`, []string{"/1: unique", "/3: unique", "/5: unique"}},
		"jsonl, min items": {lang.Contract{Kind: "jsonl", MinItems: 2}, "{}\n", []string{"min_items: got 1 item, want at least 2"}},

		"markdown":           {lang.Contract{Kind: "markdown"}, "# A\n", nil},
		"markdown, blank":    {lang.Contract{Kind: "markdown"}, " \n\t\n", []string{"says nothing: got only white space, want text"}},
		"markdown, no utf-8": {lang.Contract{Kind: "markdown"}, "# A\nb\xc3(\n", []string{"line 2: not UTF-8 (byte 0xc3 at offset 5)"}},
		"text, empty":        {lang.Contract{Kind: "text"}, "", nil},
		"text, min":          {lang.Contract{Kind: "text", MinBytes: 1}, "", []string{"min_bytes: got 0 bytes, want at least 1"}},
		"text, lines":        {lang.Contract{Kind: "text", MinItems: 3}, "a\n\nb", []string{"min_items: got 2 non-blank lines, want at least 3"}},
		"text, replacement":  {lang.Contract{Kind: "text"}, "\ufffd", nil},
		"binary":             {lang.Contract{Kind: "binary"}, "\x00\xff", nil},
		"binary, sizes":      {lang.Contract{Kind: "binary", MinBytes: 3, MaxBytes: 1}, "\x00\xff", []string{"min_bytes: got 2 bytes, want at least 3", "max_bytes: got 2 bytes, want at most 1"}},
		"markdown, lines":    {lang.Contract{Kind: "markdown", MinItems: 2, MinBytes: 9}, "# A\n", []string{"min_bytes: got 4 bytes, want at least 9", "min_items: got 1 non-blank line, want at least 2"}},
		"jsonl, preserve": {lang.Contract{Kind: "jsonl", Preserves: []lang.ContractPreserve{{From: "$[0].all", Path: "$", Key: "id", Fields: []string{"t"}}}},
			"{\"all\":[{\"id\":1,\"t\":\"a\"}]}\n\n{\"id\":1,\"t\":\"b\"}\n", []string{`line 3: /t: preserve: got "b", want "a" as in $[0].all`}},
		"tree wanted": {lang.Contract{Kind: "tree"}, "x", []string{"is a file, but its contract is of kind tree"}},
	} {
		t.Run(name, func(t *testing.T) {
			v := judge(t, file(tt.contract, tt.content))
			require.Equal(t, len(tt.want) == 0, v.Pass)
			require.False(t, v.Inconclusive)
			require.Len(t, v.Messages, len(tt.want), "%q", v.Messages)
			for i, want := range tt.want {
				require.Contains(t, v.Messages[i], `contract: output "x" (x.json): `+want)
			}
		})
	}
}

func TestJudgeOutputsThatAreNotThere(t *testing.T) {
	c := &lang.Contract{Kind: "json", Severity: "warn"}
	s := contract.Subject{Output: lang.Output{Name: "x", Path: "a/x.json", Contract: c}}
	require.Equal(t, []string{`contract: output "x" (a/x.json) was not produced`}, judge(t, s).Messages)
	s.Output.Contract = nil
	require.False(t, judge(t, s).Pass)
	s.Output.Optional = true
	require.True(t, judge(t, s).Pass)
	require.True(t, judge(t).Pass, "no outputs: nothing to break")
}

// The schema library walks maps in any order. Feedback, and what `show` prints, are the same each time.
func TestJudgeSaysTheSameEachTime(t *testing.T) {
	for name, tt := range map[string]struct{ schema, content, want string }{
		"branches":     {`{"anyOf":[{"additionalProperties":{"type":"string"}},{"type":"string"}]}`, `{"a":1,"b":1,"c":1,"d":1}`, "(form 1: /a got number, want string; form 2:"},
		"one place":    {`{"dependentRequired":{"a":["x"],"b":["x"],"c":["x"],"d":["x"]}}`, `{"a":1,"b":1,"c":1,"d":1}`, "if 'a' exists"},
		"wild numbers": {`{}`, `{"a":1e999,"b":1e999,"c":1e999,"d":1e999}`, "/a: a number out of the range"},
	} {
		first := judge(t, file(lang.Contract{Kind: "json", SchemaDoc: []byte(tt.schema)}, tt.content)).Messages
		require.Contains(t, first[0], tt.want, name)
		for range 20 {
			require.Equal(t, first, judge(t, file(lang.Contract{Kind: "json", SchemaDoc: []byte(tt.schema)}, tt.content)).Messages, name)
		}
	}
}

func TestJudgeBoundsMessages(t *testing.T) {
	c := lang.Contract{Kind: "json", SchemaDoc: []byte(`{"items":{"type":"string"}}`)}
	v := judge(t, file(c, "["+strings.Repeat("1,", 200)+"1]"))
	require.Len(t, v.Messages, contract.MaxMessages+1)
	require.Equal(t, `contract: output "x" (x.json): and 151 more`, v.Messages[contract.MaxMessages])
}

func TestJudgeSeverityWarn(t *testing.T) {
	bad := file(lang.Contract{Kind: "json", MinItems: 1, Severity: "warn"}, "[]")
	v := judge(t, bad)
	require.True(t, v.Pass)
	require.Len(t, v.Warnings, 1)
	require.Contains(t, v.Warnings[0], "min_items")
}

func TestJudgeComparesDocuments(t *testing.T) {
	defs := named(file(lang.Contract{Kind: "json"}, `{"properties":[{"id":"P-1"},{"id":"P-2"}]}`), "defs")
	uses := named(file(lang.Contract{Kind: "json", Joins: []lang.ContractJoin{{Path: "$.property", To: "defs:$.properties.id"}}},
		`[{"property":"P-2"},{"property":["P-1","P-9"]}]`), "uses")
	v := judge(t, uses, defs)
	require.Equal(t, []string{`contract: output "uses" (uses.json): /1/property/1: join: got "P-9", which is not among defs:$.properties.id`}, v.Messages)

	broken := named(file(lang.Contract{Kind: "json"}, `{`), "defs")
	v = judge(t, uses, broken)
	require.Len(t, v.Messages, 2)
	require.Contains(t, v.Messages[0], "join: defs cannot be compared with: it is not valid JSON")
	require.Contains(t, v.Messages[1], `output "defs" (defs.json): line 1, column 2`)
}

func TestJudgePreserve(t *testing.T) {
	c := lang.Contract{Kind: "json", Preserves: []lang.ContractPreserve{{From: "task.dedupe.outputs.all", Key: "id", Fields: []string{"title", "severity"}}}}
	up := `[{"id":1,"title":"a","severity":"High"},{"id":2,"title":"b"},{"id":3,"title":"c"}]`
	doc := contract.Document{Name: "task.dedupe.outputs.all", Digest: digest.Of([]byte(up)), Open: func() (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(up)), nil
	}}
	v, err := contract.Judge(context.Background(), []contract.Subject{
		file(c, `[{"id":2,"title":"b","note":"n"},{"id":1,"title":"A"},{"id":9}]`),
	}, nil, doc)
	require.NoError(t, err)
	require.Equal(t, []string{
		`contract: output "x" (x.json): /1/title: preserve: got "A", want "a" as in task.dedupe.outputs.all`,
		`contract: output "x" (x.json): /1/severity: preserve: got nothing, want "High" as in task.dedupe.outputs.all`,
		`contract: output "x" (x.json): preserve: id 3 of task.dedupe.outputs.all is missing`,
	}, v.Messages)
	require.Equal(t, []string{"task.dedupe.outputs.all"}, contract.Others([]lang.Output{{Name: "x", Contract: &c}}))
}

func TestJudgeTrees(t *testing.T) {
	tree := func(n int) contract.Subject {
		s := contract.Subject{
			Output:   lang.Output{Name: "t", Tree: []string{"test/**"}, Contract: &lang.Contract{Kind: "tree", MinItems: 2, MaxBytes: 4}},
			Captured: cache.Output{Name: "t", Exists: true, Tree: true},
		}
		s.Tree = func() (cache.Tree, error) {
			tr := cache.Tree{Entries: []cache.Entry{{Path: "test", Kind: cache.Dir}}}
			for i := range n {
				tr.Entries = append(tr.Entries, cache.Entry{Path: fmt.Sprint("test/", i), Kind: cache.File, Digest: digest.Of([]byte("ab"))})
			}
			return tr, nil
		}
		return s
	}
	require.True(t, judge(t, tree(2)).Pass)
	require.Equal(t, []string{`contract: output "t" (test/**): min_items: got 1 file, want at least 2`}, judge(t, tree(1)).Messages)
	require.Equal(t, []string{`contract: output "t" (test/**): max_bytes: got 6 bytes, want at most 4`}, judge(t, tree(3)).Messages)
	wrong := tree(2)
	wrong.Output.Path = "x"
	require.Equal(t, []string{`contract: output "t" (x): is a tree, but a file is declared`}, judge(t, wrong).Messages)
}

func TestJudgeNeedsBytes(t *testing.T) {
	s := file(lang.Contract{Kind: "json"}, "[]")
	s.Open = func() (io.ReadCloser, error) { return nil, cache.ErrMissing{Digest: s.Captured.Digest} }
	_, err := contract.Judge(context.Background(), []contract.Subject{s}, nil)
	require.True(t, cache.IsMissing(err), "%v", err)

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = contract.Judge(ctx, []contract.Subject{file(lang.Contract{Kind: "json"}, "[]")}, nil)
	require.ErrorIs(t, err, context.Canceled)
}

func TestJudgeRefusesOversizedJSON(t *testing.T) {
	s := file(lang.Contract{Kind: "json"}, "[]")
	s.Captured.Digest.Size = contract.MaxJSON + 1
	s.Open = func() (io.ReadCloser, error) { return nil, errors.New("opened") }
	require.Contains(t, judge(t, s).Messages[0], "bytes of JSON, want at most")
}

func TestJudgeValidateCommands(t *testing.T) {
	c := lang.Contract{Kind: "json", Validate: []string{"sh", "check.sh"}, Uses: []string{"lib/*"}}
	run := func(exit int, err error) contract.Validate {
		return func(_ context.Context, spec contract.Spec) (int, string, error) {
			require.Equal(t, []string{"sh", "check.sh", "x.json"}, spec.Argv)
			require.Equal(t, []string{"lib/*"}, spec.Uses)
			require.Equal(t, "x", spec.Output)
			return exit, "line 1\nline 2\n", err
		}
	}
	for name, tt := range map[string]struct {
		run          contract.Validate
		content      string
		severity     string
		pass, undone bool
		want         string
	}{
		"pass":           {run: run(0, nil), content: "[]", pass: true},
		"fail":           {run: run(1, nil), content: "[]", want: "validate sh check.sh: exit 1:\n    line 1\n    line 2"},
		"odd exit":       {run: run(2, nil), content: "[]", undone: true, want: "exit 2, want 0 (pass) or 1 (fail)"},
		"cannot run":     {run: run(0, errors.New("no such program")), content: "[]", undone: true, want: "no such program"},
		"not run":        {content: "[]", undone: true, want: "not run"},
		"fails anyway":   {content: "[", want: "JSON syntax"},
		"only a warning": {run: run(2, nil), content: "[]", severity: "warn", pass: true},
	} {
		t.Run(name, func(t *testing.T) {
			c := c
			c.Severity = tt.severity
			v, err := contract.Judge(context.Background(), []contract.Subject{file(c, tt.content)}, tt.run)
			require.NoError(t, err)
			require.Equal(t, tt.pass, v.Pass)
			require.Equal(t, tt.undone, v.Inconclusive)
			require.Contains(t, strings.Join(v.Messages, "\n"), tt.want)
		})
	}
}

func FuzzJudge(f *testing.F) {
	f.Add([]byte(`[{"id":"F-1","title":"abc"}]`), []byte(findings), "$.id")
	f.Add([]byte("{\"a\":1}\n{"), []byte(`{"$ref":"#/$defs/a","$defs":{"a":{"type":"object"}}}`), "$['a'][0][*].b")
	f.Add([]byte("\xff"), []byte(`{"anyOf":[{"not":{}},false]}`), "$")
	f.Fuzz(func(t *testing.T, content, schema []byte, path string) {
		for _, kind := range []string{"json", "jsonl", "markdown", "text", "binary"} {
			c := lang.Contract{Kind: kind, SchemaDoc: schema, MinItems: 1, Unique: []string{path},
				Counts:    []lang.ContractCount{{Path: path, Equals: 1}},
				Joins:     []lang.ContractJoin{{Path: path, To: path}},
				Preserves: []lang.ContractPreserve{{From: path, Key: "id", Fields: []string{"a"}}}}
			v := judge(t, file(c, string(content)))
			if v.Pass != (len(v.Messages) == 0) {
				t.Fatalf("pass %v with messages %q", v.Pass, v.Messages)
			}
		}
	})
}

const planName = "task.plan.outputs.goals"

func document(content string) contract.Document {
	return contract.Document{Name: planName, Digest: digest.Of([]byte(content)), Open: func() (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(content)), nil
	}}
}

// TestJudgeOutsideDocuments holds that nothing but the attempt's own bytes rejects it: what is wrong with
// another document leaves the verdict open, or the rule out.
func TestJudgeOutsideDocuments(t *testing.T) {
	join := lang.Contract{Kind: "json", Joins: []lang.ContractJoin{{Path: "$.goal", To: planName + ":$.id"}}}
	keep := lang.Contract{Kind: "json", Preserves: []lang.ContractPreserve{{From: planName + ":$.goals", Path: "$", Key: "id", Fields: []string{"t"}}}}
	lines := document("{\"id\":\"a\"}\n{\"id\":\"b\"}\n")
	lines.Lines = true
	for name, tt := range map[string]struct {
		contract     lang.Contract
		content      string
		others       []contract.Document
		pass, undone bool
		words        string // of the first message, else warning
	}{
		"among them":       {join, `[{"goal":"a"}]`, []contract.Document{document(`[{"id":"a"}]`)}, true, false, ""},
		"not among them":   {join, `[{"goal":"a"},{"goal":"c"}]`, []contract.Document{document(`[{"id":"a"}]`)}, false, false, `/1/goal: join: got "c", which is not among ` + planName + ":$.id"},
		"several together": {join, `[{"goal":"a"},{"goal":"b"}]`, []contract.Document{document(`[{"id":"a"}]`), document(`[{"id":"b"}]`)}, true, false, ""},
		"json lines":       {join, `[{"goal":"a"},{"goal":"b"}]`, []contract.Document{lines}, true, false, ""},
		"none, rightly":    {join, `[{"goal":"a"}]`, []contract.Document{{Name: planName, State: contract.Empty}}, false, false, "which is not among"},
		"none to preserve": {keep, `[]`, []contract.Document{{Name: planName, State: contract.Empty}}, true, false, ""},
		"gone":             {join, `[{"goal":"a"}]`, []contract.Document{{Name: planName, State: contract.Gone, Why: "plan failed"}}, true, false, "plan failed"},
		"pending":          {join, `[{"goal":"a"}]`, []contract.Document{{Name: planName, State: contract.Pending, Why: "plan has to run first"}}, false, true, "plan has to run first"},
		"broken":           {join, `[{"goal":"a"}]`, []contract.Document{document(`[`)}, false, true, "it is not valid JSON"},
		"nobody knows":     {join, `[{"goal":"a"}]`, nil, false, true, "it does not exist"},
		"preserved":        {keep, `[{"id":1,"t":"x","more":1}]`, []contract.Document{document(`{"goals":[{"id":1,"t":"x"}]}`)}, true, false, ""},
		"lost":             {keep, `[]`, []contract.Document{document(`{"goals":[{"id":1,"t":"x"}]}`)}, false, false, "preserve: id 1 of " + planName + ":$.goals is missing"},
		"changed":          {keep, `[{"id":1,"t":"y"}]`, []contract.Document{document(`{"goals":[{"id":1,"t":"x"}]}`)}, false, false, `/0/t: preserve: got "y", want "x"`},
		"schema":           {lang.Contract{Kind: "json", Schema: "s.json", SchemaDoc: []byte(`{"$ref":"https://example.com/x.json"}`)}, `{}`, nil, false, true, "schema s.json cannot be used"},
		"schema not json":  {lang.Contract{Kind: "json", Schema: "s.json", SchemaDoc: []byte(`{`)}, `{}`, nil, false, true, "line 1, column 2"},
	} {
		t.Run(name, func(t *testing.T) {
			v, err := contract.Judge(context.Background(), []contract.Subject{file(tt.contract, tt.content)}, nil, tt.others...)
			require.NoError(t, err)
			require.Equal(t, tt.pass, v.Pass, "%q", v.Messages)
			require.Equal(t, tt.undone, v.Inconclusive, "%q", v.Messages)
			require.Contains(t, strings.Join(append(v.Messages, v.Warnings...), "\n"), tt.words)
		})
	}
}

// TestJudgeUnreadableDocument holds that a blob of another task that is gone never looks like damage to
// this one, which would run its agent again.
func TestJudgeUnreadableDocument(t *testing.T) {
	c := lang.Contract{Kind: "json", Joins: []lang.ContractJoin{{Path: "$", To: planName}}}
	d := document(`[]`)
	d.Open = func() (io.ReadCloser, error) { return nil, cache.ErrMissing{Digest: d.Digest} }
	_, err := contract.Judge(context.Background(), []contract.Subject{file(c, "[]")}, nil, d)
	require.ErrorContains(t, err, "read "+planName)
	require.False(t, cache.IsMissing(err))
}
