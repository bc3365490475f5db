package lang

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCheckSyntax(t *testing.T) {
	for _, c := range []struct{ name, src, code, place string }{
		{"x.hcl", "task \"a\" {\n  nonsense = true\n}\n", "", ""},
		{"x.hcl", "a = \n", "UF1000", "x.hcl:1:5"},
		{"x.hcl", "a = 1\na = 2\n", "UF1104", "x.hcl:2:1"},
		{"x.hcl", "a = \"\xff\"", "UF1002", "x.hcl:1:6"},
		{"x.hcl", "a = " + strings.Repeat("(", 100_000), "UF1004", "x.hcl:1:205"},
		{"x.hcl", "a = 1" + strings.Repeat("+1", 100_000), "UF1004", ""},
		{"x.hcl.json", "{\"task\": {\"a\": {}}}", "", ""},
		{"x.hcl.json", "{\"task\" {}}", "UF1006", ""},
	} {
		ds := CheckSyntax(c.name, []byte(c.src))
		if c.code == "" {
			require.Empty(t, ds)
			continue
		}
		require.Equal(t, c.code, ds[0].Code)
		if c.place != "" {
			require.Equal(t, c.place, ds[0].Subject.String())
		}
	}
}

func TestOutOf(t *testing.T) {
	for src, want := range map[string]string{
		"campaign {\n  out = \"a/../b\"\n}":             "b",
		"task \"x\" {\n  out = \"b\"\n}":                "",
		"campaign {\n  out = var.x\n}":                  "",
		"campaign {\n  out = null\n}":                   "",
		"campaign {\n  out = 3\n}":                      "",
		"task \"x\" { }\ncampaign {\n out = \"b\"\n} {": "b",
		"\xff": "",
	} {
		require.Equal(t, want, OutOf("campaign.hcl", []byte(src)), src)
	}
	require.Equal(t, "res", OutOf("campaign.hcl.json", []byte(`{"campaign": {"out": "res"}}`)))
}
