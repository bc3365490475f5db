package late_test

import (
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/lang/late"
)

// TestUp proves that the library is held back by this toolchain, and whole when it came up: with all drafts, and what each is checked by.
func TestUp(t *testing.T) {
	require.True(t, late.Held(), "the library came up at the start: see the version of Go, or that of the library")
	late.Up()
	late.Up() // does nothing
	for _, draft := range []string{"draft-04/schema", "draft-06/schema", "draft-07/schema", "draft/2019-09/schema", "draft/2020-12/schema"} {
		for text, ok := range map[string]bool{
			`{"type": "object", "properties": {"a": {"type": "integer"}}}`: true,
			`{"type": "nonsense"}`:   false,
			`{"required": "a"}`:      false,
			`{"properties": [1, 2]}`: false,
		} {
			schema := strings.Replace(text, "{", `{"$schema": "https://json-schema.org/`+draft+`", `, 1)
			v, err := jsonschema.UnmarshalJSON(strings.NewReader(schema))
			require.NoError(t, err)
			c := jsonschema.NewCompiler()
			require.NoError(t, c.AddResource("file:///a.json", v))
			_, err = c.Compile("file:///a.json")
			require.Equal(t, ok, err == nil, "%s: %v", schema, err)
		}
	}
}
