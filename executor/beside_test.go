package executor

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/lang"
)

// TestNamedIn wants the first path into each directory of somebody else, wherever in a log it stands.
func TestNamedIn(t *testing.T) {
	one, err := lang.ParseAddress("one")
	require.NoError(t, err)
	two, err := lang.ParseAddress("two")
	require.NoError(t, err)
	dirs := map[string]lang.Address{"1abcde": one, "12abcd2": two}
	both := []naming{{"1abcde/ws/a.go", one}, {"12abcd2", two}}
	for name, c := range map[string]struct {
		log  string
		want []naming
	}{
		"nothing":                  {"", nil},
		"others":                   {"/work/1abcdef/ws /1abcd /ws/1abcd x1abcde", nil},
		"a name without a way":     {"1abcde/ws/a.go", nil},
		"absolute and relative":    {"cat /s/work/b/1abcde/ws/a.go && ls ../../12abcd2 /1abcde/ws/b.go", both},
		"in JSON":                  {`{"file_path":"/s/1abcde/ws/a.go","x":"/12abcd2\n"}`, both},
		"in a sentence":            {"I saw /s/1abcde/ws/a.go. Is it ../12abcd2?", both},
		"at the end":               {"/12abcd2", both[1:]},
		"across what is read once": {strings.Repeat("/", nameWindow-4) + "/1abcde/ws/a.go " + strings.Repeat("y", 3*nameWindow) + "/12abcd2", both},
		"long":                     {"/1abcde/" + strings.Repeat("x", 1000), []naming{{("1abcde/" + strings.Repeat("x", 1000))[:nameMax], one}}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := namedIn(strings.NewReader(c.log), dirs)
			require.NoError(t, err)
			require.Equal(t, c.want, got)
			got, err = namedIn(iotest.OneByteReader(strings.NewReader(c.log)), dirs)
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
	_, err = namedIn(iotest.ErrReader(iotest.ErrTimeout), dirs)
	require.ErrorIs(t, err, iotest.ErrTimeout)
	_, err = namedIn(iotest.ErrReader(io.ErrUnexpectedEOF), dirs)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF, "a log that breaks off has not been read")
}
