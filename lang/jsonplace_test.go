package lang

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPlaceInJSON(t *testing.T) {
	doc := "{\n \"a\": [1, {\"b\" : null}, [ ]],\n \"x/y\": {\"a\": {\"type\": \"objct\"}}\n}"
	for path, want := range map[string]string{
		"": "{\n \"a\"", "a": "[1,", "a,0": "1,", "a,1": "{\"b\"", "a,1,b": "null", "a,2": "[ ]", "x/y,a,type": "\"objct\"",
	} {
		var steps []string
		if path != "" {
			steps = strings.Split(path, ",")
		}
		at, ok := placeInJSON([]byte(doc), steps)
		require.True(t, ok, path)
		require.True(t, strings.HasPrefix(doc[at:], want), "%s: %q", path, doc[at:])
	}
	for _, path := range []string{"b", "a,3", "a,0,x", "a,x"} {
		_, ok := placeInJSON([]byte(doc), strings.Split(path, ","))
		require.False(t, ok, path)
	}
	_, ok := placeInJSON([]byte(`{"a":`), []string{"a"})
	require.False(t, ok)
}

func TestFitsDouble(t *testing.T) {
	for _, s := range []string{"0", "-0", "0.0", "0e-999999999", "1", "1e308", "1e-308", "5e-324", "-1.5E+3"} {
		require.True(t, FitsDouble(s), s)
	}
	for _, s := range []string{"1e309", "1e-999999999", "-1e999999999", "0.1e-400", strings.Repeat("1", 1001), "x"} {
		require.False(t, FitsDouble(s), s)
	}
}
