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
	v := Fold([]Record{
		of("one", BuildStarted("x")), of("one", BuildEnded(nil)),
		of("two", BuildStarted("x")), of("two", complete),
		of("three", BuildStarted("x")), of("three", BuildEnded(nil)),
	})
	require.True(t, v.Closed("one"), "before all was fresh")
	require.True(t, v.Closed("two"))
	require.True(t, v.Closed("lost"), "named, though its own records are gone")
	require.False(t, v.Closed("three"))
}
