package journal

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestClosed(t *testing.T) {
	of := func(build string, r Record) Record {
		r.Build = build
		return r
	}
	complete := BuildEnded(nil)
	complete.Complete, complete.Closes = true, []string{"lost"}
	v := fold([]Record{
		of("one", BuildStarted("x")), of("one", BuildEnded(nil)),
		of("two", BuildStarted("x")), of("two", complete),
		of("three", BuildStarted("x")), of("three", BuildEnded(nil)),
	})
	closed, err := v.Closed()
	require.NoError(t, err)
	require.True(t, closed("one"), "before all was fresh")
	require.True(t, closed("two"))
	require.True(t, closed("lost"), "named, though its own records are gone")
	require.False(t, closed("three"))
}
