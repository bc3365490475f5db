package contract_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/executor/contract"
	"github.com/ufbuild/ufbuild/lang"
)

func TestTrial(t *testing.T) {
	says := func(exit int, err error) contract.Validate {
		return func(context.Context, contract.Spec) (int, string, error) { return exit, "its words", err }
	}
	empty := lang.Contract{Kind: "json", HasEmpty: true, Empty: "[]", Validate: []string{"check"}}
	sample := lang.Contract{Kind: "json", Sample: "good.json", SampleDoc: []byte(`[{"id":1},{"id":1}]`), Unique: []string{"$.id"}}
	alone := lang.Contract{Kind: "text", MinBytes: 5, Validate: []string{"check"}}
	for name, tt := range map[string]struct {
		contract lang.Contract
		run      contract.Validate
		strict   bool
		want     string // "" passes
	}{
		"empty passes":                   {empty, says(0, nil), true, ""},
		"empty, command left out":        {empty, nil, false, ""},
		"empty is refused":               {empty, says(1, nil), true, "rejects its own empty form: contract: output \"x\" (x.json): validate check: exit 1:\n    its words"},
		"refused for want of its inputs": {empty, says(1, nil), false, ""},
		"cannot say":                     {empty, says(2, nil), true, "exit 2, want 0 (pass) or 1 (fail)"},
		"cannot start":                   {empty, says(0, errors.New("find program check: not on PATH")), false, "validate check: find program check: not on PATH"},
		"its program is missing":         {empty, says(127, nil), false, "validate check: exit 127; a program was not found:\n    its words"},
		"cannot be executed":             {alone, says(126, nil), false, "exit 126; a program could not be run"},
		"crashes":                        {alone, says(139, nil), false, "exit 139; a program was ended by signal 11"},
		"says no to nothing":             {alone, says(1, nil), true, ""},
		"sample breaks a rule":           {sample, nil, false, "rejects its own sample good.json: contract: output \"x\" (x.json): /1/id: unique $.id: got 1"},
		"empty breaks a rule":            {lang.Contract{Kind: "json", HasEmpty: true, Empty: "[]", MinItems: 1, Severity: "warn"}, nil, false, "min_items: got 0 items, want at least 1"},
		"others are not there":           {lang.Contract{Kind: "json", HasEmpty: true, Empty: `["a"]`, Approval: true, Joins: []lang.ContractJoin{{Path: "$", To: "task.a.outputs.b:$"}}}, nil, false, ""},
		"inside it compares":             {lang.Contract{Kind: "json", HasEmpty: true, Empty: `["a"]`, Joins: []lang.ContractJoin{{Path: "$", To: "$.id"}}}, nil, false, "join: got \"a\""},
		"schema":                         {lang.Contract{Kind: "json", Schema: "s.json", SchemaDoc: []byte(`{"pattern":"("}`)}, says(0, nil), false, "schema s.json cannot be used"},
		"nothing to try":                 {lang.Contract{Kind: "json"}, says(127, nil), true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := contract.Trial{Run: tt.run, Strict: tt.strict}.Try(context.Background(), lang.Output{Name: "x", Path: "x.json", Contract: &tt.contract})
			require.NoError(t, err)
			if tt.want == "" {
				require.Empty(t, got)
				return
			}
			require.Len(t, got, 1)
			require.Contains(t, strings.Join(got, "\n"), tt.want)
		})
	}
	got, err := contract.Trial{}.Try(context.Background(), lang.Output{Name: "x", Path: "x"})
	require.NoError(t, err)
	require.Empty(t, got, "an output without a contract")
	tree := lang.Output{Name: "t", Tree: []string{"t/**"}, Contract: &lang.Contract{Kind: "tree", Validate: []string{"check"}}}
	got, err = contract.Trial{Run: says(127, nil)}.Try(context.Background(), tree)
	require.NoError(t, err)
	require.Len(t, got, 1, "the command of a tree is started too")
}
