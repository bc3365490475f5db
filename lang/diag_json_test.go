package lang

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// update makes tests write their golden files instead of comparing with them.
var update = flag.Bool("update", false, "rewrite golden files")

// sampleDiagnostics has one of everything that the writers for programs must tell.
func sampleDiagnostics() Diagnostics {
	return Diagnostics{
		{
			Severity: Error, Code: "UF2002", Summary: `No task named "actor-flows" is declared.`, Detail: "50% <wrong>", Hint: "Look, twice.",
			Subject: place(find("prompts/base.md", "actor-flows")),
			Related: []Related{{find("tasks.hcl", "actors-flows"), "declared here"}},
			Fix:     &Fix{`Replace by "actors-flows"`, find("prompts/base.md", "actor-flows"), "actors-flows"},
		},
		{Severity: Warning, Code: "UF2302", Summary: "Emoji.", Subject: place(find("emoji.hcl", "bad"))},
		{Severity: Warning, Code: "UF2302", Summary: "Lines.", Subject: place(find("tasks.hcl", "retry = {\n"))},
		{Severity: Error, Code: "UF1001", Summary: "No campaign."},
		{Severity: Error, Code: "UF1003", Summary: "Too big.", Subject: &Range{File: "a b,c.hcl"}},
	}
}

func TestWriteJSON(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, WriteJSON(&b, sampleDiagnostics()[:1]))
	require.Equal(t, `{
  "schema_version": 1,
  "valid": false,
  "error_count": 1,
  "warning_count": 0,
  "diagnostics": [
    {
      "severity": "error",
      "code": "UF2002",
      "summary": "No task named \"actor-flows\" is declared.",
      "detail": "50% <wrong>",
      "hint": "Look, twice.",
      "range": {
        "file": "prompts/base.md",
        "start": {
          "line": 2,
          "column": 15,
          "byte": 21
        },
        "end": {
          "line": 2,
          "column": 26,
          "byte": 32
        }
      },
      "related": [
        {
          "message": "declared here",
          "range": {
            "file": "tasks.hcl",
            "start": {
              "line": 1,
              "column": 7,
              "byte": 6
            },
            "end": {
              "line": 1,
              "column": 19,
              "byte": 18
            }
          }
        }
      ],
      "fix": {
        "title": "Replace by \"actors-flows\"",
        "range": {
          "file": "prompts/base.md",
          "start": {
            "line": 2,
            "column": 15,
            "byte": 21
          },
          "end": {
            "line": 2,
            "column": 26,
            "byte": 32
          }
        },
        "text": "actors-flows"
      }
    }
  ]
}
`, b.String())
}

func TestWriteJSONOfNothing(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, WriteJSON(&b, nil))
	require.JSONEq(t, `{"schema_version":1,"valid":true,"error_count":0,"warning_count":0,"diagnostics":[]}`, b.String())
	b.Reset()
	require.NoError(t, WriteJSON(&b, Diagnostics{{Severity: Warning, Summary: "x"}}))
	require.JSONEq(t, `{"schema_version":1,"valid":true,"error_count":0,"warning_count":1,
		"diagnostics":[{"severity":"warning","code":"","summary":"x"}]}`, b.String())
}

func TestWriteGitHub(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, WriteGitHub(&b, sampleDiagnostics(), AnnotationOptions{Source: sampleSource, Prefix: "audit"}))
	require.Equal(t, `::error file=audit/prompts/base.md,line=2,col=15,endColumn=26,title=UF2002::No task named "actor-flows" is declared.%0A50%25 <wrong>%0Adeclared here: tasks.hcl:1:7%0Ahint: Look, twice.
::warning file=audit/emoji.hcl,line=1,col=22,endColumn=25,title=UF2302::Emoji.
::warning file=audit/tasks.hcl,line=3,endLine=4,title=UF2302::Lines.
::error title=UF1001::No campaign.
::error file=audit/a b%2Cc.hcl,title=UF1003::Too big.
`, b.String())
}

func TestWriteSARIF(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, WriteSARIF(&b, sampleDiagnostics(), AnnotationOptions{Source: sampleSource, Version: "1.2.3"}))
	want, err := os.ReadFile("testdata/diagnostics.sarif")
	if *update {
		require.NoError(t, os.WriteFile("testdata/diagnostics.sarif", b.Bytes(), 0o644))
		return
	}
	require.NoError(t, err)
	require.Equal(t, string(want), b.String())
}

func TestSARIFColumnsAreUTF16(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, WriteSARIF(&b, sampleDiagnostics()[1:2], AnnotationOptions{Source: sampleSource}))
	var log sarifLog
	require.NoError(t, json.Unmarshal(b.Bytes(), &log))
	region := log.Runs[0].Results[0].Locations[0].Physical.Region
	// `a = "` 5, the family 8 units, a blank, e and an accent, a blank, `" + ` 4: bad starts after 21.
	require.Equal(t, sarifRegion{1, 22, 1, 25}, *region)
	require.Equal(t, "utf16CodeUnits", log.Runs[0].ColumnKind)

	b.Reset()
	require.NoError(t, WriteSARIF(&b, nil, AnnotationOptions{}))
	require.Contains(t, b.String(), `"results": []`)
}
