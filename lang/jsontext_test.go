package lang

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSchemaTexts wants a schema that a check takes to be one that outputs can be judged by: what the judge cannot read is an error
// before anybody is paid, in parts of a schema too.
func TestSchemaTexts(t *testing.T) {
	const campaign = `
contract "c" {
  kind   = "json"
  schema = "s.json"
}
task "t" {
  command = ["true"]
  output "o" {
    path     = "o"
    contract = contract.c
  }
}
`
	deep := func(n int) string { return strings.Repeat(`{"not":`, n) + "{}" + strings.Repeat("}", n) }
	for text, want := range map[string]string{
		`{"type": "object"}`:               "",
		"\ufeff" + `{"type": "object"}`:    "",
		deep(MaxJSONDepth - 1):             "",
		deep(MaxJSONDepth):                 "nested deeper than 500",
		deep(50000):                        "nested deeper than 500",
		"{\"title\": \"caf\xe9\"}":         "not UTF-8 (byte 0xe9)",
		" \n":                              "got nothing, want a JSON value",
		`{"$ref": "` + "\ufeff" + `.json"`: "unexpected EOF",
	} {
		for _, part := range []bool{false, true} {
			root := t.TempDir()
			put := func(name, text string) {
				require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o644))
			}
			put("campaign.hcl", campaign)
			put("s.json", text)
			if part {
				put("s.json", `{"$ref": "part.json"}`)
				put("part.json", text)
			}
			c, ds := Load(Options{Dir: root})
			if want == "" {
				require.Empty(t, ds, text)
				doc := c.Tasks[0].Instances[0].Outputs[0].Contract
				_, fault := TextFault(doc.SchemaDoc)
				require.Empty(t, fault)
				_, fault = TextFault(append([]byte(nil), doc.SchemaParts["part.json"]...))
				require.Equal(t, part, fault == "")
				continue
			}
			require.Len(t, ds, 1)
			require.Equal(t, "UF6103", ds[0].Code)
			require.Contains(t, ds[0].Summary, want)
		}
	}
}

// TestByteOrderMark wants the mark that some editors put before a text to be no part of it, wherever a campaign is read from.
func TestByteOrderMark(t *testing.T) {
	const mark = "\ufeff"
	root := t.TempDir()
	for name, text := range map[string]string{
		"campaign.hcl":           "variable \"v\" {\n  default = 1\n}\n",
		"more.campaign.hcl.json": `{"task": {"t": {"command": ["echo", "${var.v}"]}}}`,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(mark+text), 0o644))
	}
	c, ds := Load(Options{Dir: root})
	require.Empty(t, ds)
	require.Len(t, c.Tasks, 1)
	require.NoError(t, os.WriteFile(filepath.Join(root, "more.campaign.hcl.json"), []byte(mark+`{"task": {"t": {"comand": ["true"]}}}`), 0o644))
	_, ds = Load(Options{Dir: root})
	require.Len(t, ds, 1)
	require.Contains(t, ds[0].Summary, "comand")
	require.EqualValues(t, 18, ds[0].Subject.Start.Column)
}
