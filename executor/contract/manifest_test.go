package contract_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/executor/contract"
	"github.com/ufbuild/ufbuild/lang"
)

func full() lang.Contract {
	return lang.Contract{
		Name: "c", Kind: "json", Schema: "s.json", SchemaDoc: []byte("{}"), MinBytes: 1, MaxBytes: 9, MinItems: 2,
		Unique: []string{"$.id"}, Joins: []lang.ContractJoin{{Path: "$.a", To: "task.up.outputs.o:$.b"}},
		Counts:    []lang.ContractCount{{Path: "$.c", Equals: 3}},
		Preserves: []lang.ContractPreserve{{From: "task.up.outputs.o", Key: "id", Fields: []string{"t"}}},
		Approval:  true, HasEmpty: true, Empty: "[]", Validate: []string{"sh", "check.sh"}, Uses: []string{"lib"}, Severity: "warn",
	}
}

func key(t *testing.T, o lang.Output, c lang.Contract, files folder, d digest.Digest) cache.VerdictKey {
	t.Helper()
	o.Contract = &c
	k, err := contract.KeyOf([]lang.Output{o}, files, []cache.Output{{Name: o.Name, Exists: true, Digest: d}})
	require.NoError(t, err)
	return k
}

func TestKeyFollowsWhatCanChangeAVerdict(t *testing.T) {
	out := lang.Output{Name: "x", Path: "x.json"}
	files := folder{"check.sh": "1", "lib": "1"}
	d := digest.Of([]byte("[]"))
	base := key(t, out, full(), files, d)

	for name, edit := range map[string]func(*lang.Output, *lang.Contract){
		"name":          func(_ *lang.Output, c *lang.Contract) { c.Name = "other" },
		"schema's path": func(_ *lang.Output, c *lang.Contract) { c.Schema = "moved.json" },
		"empty form":    func(_ *lang.Output, c *lang.Contract) { c.Empty = "{}" },
		"description":   func(o *lang.Output, _ *lang.Contract) { o.Description = "new words" },
		"primary":       func(o *lang.Output, _ *lang.Contract) { o.Primary = true },
		"place in file": func(_ *lang.Output, c *lang.Contract) { c.Range.Start.Line = 8 },
	} {
		o, c := out, full()
		edit(&o, &c)
		require.Equal(t, base, key(t, o, c, files, d), name)
	}
	for name, edit := range map[string]func(*lang.Output, *lang.Contract){
		"kind":      func(_ *lang.Output, c *lang.Contract) { c.Kind = "jsonl" },
		"schema":    func(_ *lang.Output, c *lang.Contract) { c.SchemaDoc = []byte("true") },
		"min bytes": func(_ *lang.Output, c *lang.Contract) { c.MinBytes = 2 },
		"max bytes": func(_ *lang.Output, c *lang.Contract) { c.MaxBytes = 8 },
		"min items": func(_ *lang.Output, c *lang.Contract) { c.MinItems = 1 },
		"unique":    func(_ *lang.Output, c *lang.Contract) { c.Unique = []string{"$.i", "d"} },
		"join":      func(_ *lang.Output, c *lang.Contract) { c.Joins[0].To = "task.up.outputs.o:$.c" },
		"count":     func(_ *lang.Output, c *lang.Contract) { c.Counts[0].Equals = 4 },
		"preserve":  func(_ *lang.Output, c *lang.Contract) { c.Preserves[0].Fields = []string{"u"} },
		"entries":   func(_ *lang.Output, c *lang.Contract) { c.Preserves[0].Path = "$.all" },
		"part":      func(_ *lang.Output, c *lang.Contract) { c.SchemaParts = map[string][]byte{"p.json": []byte("true")} },
		"approval":  func(_ *lang.Output, c *lang.Contract) { c.Approval = false },
		"validate":  func(_ *lang.Output, c *lang.Contract) { c.Validate = []string{"sh", "-e", "check.sh"} },
		"severity":  func(_ *lang.Output, c *lang.Contract) { c.Severity = "error" },
		"optional":  func(o *lang.Output, _ *lang.Contract) { o.Optional = true },
	} {
		o, c := out, full()
		edit(&o, &c)
		require.NotEqual(t, base, key(t, o, c, files, d), name)
	}
	require.NotEqual(t, base, key(t, out, full(), folder{"check.sh": "2", "lib": "1"}, d), "the checker was edited")
	require.NotEqual(t, base, key(t, out, full(), folder{"check.sh": "1", "lib": "2"}, d), "what the checker uses was edited")
	require.NotEqual(t, base, key(t, out, full(), files, digest.Of([]byte("[1]"))), "other bytes")
}

func TestKeyKnowsEveryBlob(t *testing.T) {
	c := full()
	outs := []lang.Output{{Name: "b", Path: "b", Contract: &c}, {Name: "a", Path: "a"}}
	caps := []cache.Output{{Name: "a", Exists: true, Digest: digest.Of([]byte("a"))}, {Name: "b", Exists: true, Digest: digest.Of([]byte("b"))}}
	up := func(s string) contract.Document {
		return contract.Document{Name: "task.up.outputs.o", Digest: digest.Of([]byte(s))}
	}
	k := func(outs []lang.Output, caps []cache.Output, docs ...contract.Document) cache.VerdictKey {
		key, err := contract.KeyOf(outs, folder{}, caps, docs...)
		require.NoError(t, err)
		return key
	}
	base := k(outs, caps, up("1"))
	require.Equal(t, base, k([]lang.Output{outs[1], outs[0]}, []cache.Output{caps[1], caps[0]}, up("1")), "order does not matter")
	require.NotEqual(t, base, k(outs, caps, up("2")))
	require.NotEqual(t, base, k(outs, caps))
	require.NotEqual(t, base, k(outs, caps, up("1"), up("1")), "how many there are")
	require.NotEqual(t, k(outs, caps, up("1"), up("2")), k(outs, caps, up("2"), up("1")), "which instance said what")
	lines := up("1")
	lines.Lines = true
	require.NotEqual(t, base, k(outs, caps, lines), "read another way")
	gone := func(why string) contract.Document {
		return contract.Document{Name: "task.up.outputs.o", State: contract.Gone, Why: why}
	}
	require.NotEqual(t, base, k(outs, caps, gone("a")))
	require.Equal(t, k(outs, caps, gone("a")), k(outs, caps, gone("b")), "words do not count")
	require.NotEqual(t, base, k(outs, caps[:1], up("1")))
}

func TestManifestIsReadable(t *testing.T) {
	c := full()
	m, err := contract.Manifest([]lang.Output{{Name: "x", Path: "x.json", Optional: true, Contract: &c}}, folder{"check.sh": "1"})
	require.NoError(t, err)
	require.Equal(t, `ufbuild contract 1
output "x"
  path "x.json"
  optional
  kind "json"
  schema "`+digest.Of([]byte("{}")).String()+`"
  min_bytes 1
  max_bytes 9
  min_items 2
  unique "$.id"
  join "$.a" "task.up.outputs.o:$.b"
  count "$.c" "3"
  preserve "task.up.outputs.o" "id" "t"
  approval
  warn
  validate "sh" "check.sh"
  uses "check.sh" "`+digest.Of([]byte("1")).String()+`" "true" ""
`, string(m))
}

func TestDescribe(t *testing.T) {
	c := full()
	got := contract.Describe(lang.Output{Name: "x", Path: "x.json", Description: "All findings.", Optional: true, Contract: &c})
	for _, want := range []string{
		"### x\n", "Write it to `x.json`.", "Purpose: All findings.", "It may be left out.", "one JSON document",
		"At least 1 byte.", "At most 9 bytes.", "At least 2 items.", "No two values at `$.id` are equal.",
		"exactly 3 values at `$.c`", "Every value at `$.a` exists at `task.up.outputs.o:$.b`.", "matched by id, is kept with `t` unchanged",
		"write exactly `[]`", "checked by the command `sh check.sh`", "`ufbuild contract check c x.json`", "```json\n{}\n```",
	} {
		require.Contains(t, got, want)
	}
	c.Empty = ""
	require.Contains(t, contract.Describe(lang.Output{Name: "x", Path: "x.jsonl", Contract: &c}), "nothing to report, leave an empty file.")
	c.Empty = "{\n  \"found\": []\n}\n"
	require.Contains(t, contract.Describe(lang.Output{Name: "x", Path: "x.json", Contract: &c}), "write exactly this:\n\n~~~\n{\n  \"found\": []\n}\n~~~\n")
	c.HasEmpty = false
	require.NotContains(t, contract.Describe(lang.Output{Name: "x", Path: "x.json", Contract: &c}), "nothing to report")
	require.Contains(t, contract.Describe(lang.Output{Name: "t", Tree: []string{"a/**", "b"}}), "match `a/**`, `b` when you end")
}
