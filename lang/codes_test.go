package lang

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestExplainKnowsNothingElse(t *testing.T) {
	_, ok := Explain("UF0000")
	require.False(t, ok)
}
