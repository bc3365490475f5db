package release

import (
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReadsWhatGoReads compares with the standard library's own reading, of this program and of made-up ones.
func TestReadsWhatGoReads(t *testing.T) {
	frame := strings.Repeat("x", framed)
	for name, text := range map[string]string{
		"this program": modinfo(),
		"a release":    frame + "path\tx/cmd\nmod\tx\tv1.2.3\th1:sum\ndep\ty\tv9.9.9\th1:sum\nbuild\t-compiler=gc\nbuild\tvcs.revision=abc\nbuild\tvcs.modified=true\n" + frame,
		"a checkout":   frame + "path\tx/cmd\nmod\tx\t(devel)\t\nbuild\tvcs.modified=false\n" + frame,
		"nothing":      "",
	} {
		t.Run(name, func(t *testing.T) {
			var got, want Info
			got.readBuild(text)
			if len(text) > 0 {
				b, err := debug.ParseBuildInfo(text[framed : len(text)-framed])
				require.NoError(t, err)
				if b.Main.Version != "(devel)" {
					want.Version = b.Main.Version
				}
				for _, s := range b.Settings {
					switch s.Key {
					case "vcs.revision":
						want.Commit = s.Value
					case "vcs.modified":
						want.Modified = s.Value == "true"
					}
				}
			}
			require.Equal(t, want, got)
		})
	}
	_, ok := debug.ReadBuildInfo()
	require.True(t, ok)
	require.NotEmpty(t, modinfo())
}
