package workspace

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
)

// TestGivenReadsBack wants of what was written down before a program starts what was laid, also where paths are no text, where a source
// has another mode than its file, and as earlier versions wrote it, with all sources.
func TestGivenReadsBack(t *testing.T) {
	d := func(s string) digest.Digest { return digest.Of([]byte(s)) }
	odd := "odd \xff \"<&>\u2028"
	l := &Laid{
		files: []laidFile{
			{"a", stamp{1, 2, 3, 4, unix.S_IFREG | 0o644}, d("a"), true},
			{"run", stamp{2, 2, -3, 4, unix.S_IFREG | 0o755}, d("run"), true},
			{"masked", stamp{3, 0, 3, 4, unix.S_IFREG | 0o700}, d("masked"), true}, // by a file system without modes
			{"both", stamp{4, 2, 3, 4, unix.S_IFREG | 0o644}, d("both"), true},     // inherited, and a source
			{"over", stamp{5, 2, 3, 4, unix.S_IFREG | 0o644}, d("given"), false},   // a source, and laid over
			{"link", stamp{6, 2, 3, 4, unix.S_IFLNK | 0o777}, digest.Digest{}, true},
			{"inherit", stamp{7, 2, 3, 4, unix.S_IFREG | 0o600}, d("i"), false},
			{odd, stamp{8, 2, 3, 4, unix.S_IFREG | 0o644}, d("odd"), true},
			{`"quoted"`, stamp{9, 2, 3, 4, unix.S_IFREG | 0o644}, d("q"), true},
		},
		end: 77, inherits: true, root: "/root/" + odd,
		inherited: entries{
			{Path: "both", Kind: cache.File, Mode: 0o600, Digest: d("was")},
			{Path: "inherit", Kind: cache.File, Mode: 0o600, Digest: d("i")},
			{Path: "dir", Kind: cache.Dir, Mode: 0o755},
		},
		sources: entries{
			{Path: "a", Kind: cache.File, Mode: 0o644, Digest: d("a")},
			{Path: "run", Kind: cache.File, Mode: 0o755, Digest: d("run")},
			{Path: "masked", Kind: cache.File, Mode: 0o755, Digest: d("masked")},
			{Path: "over", Kind: cache.File, Mode: 0o644, Digest: d("over")},
			{Path: "link", Kind: cache.Link, Target: odd},
			{Path: odd, Kind: cache.File, Mode: 0o644, Digest: d("odd")},
			{Path: `"quoted"`, Kind: cache.File, Mode: 0o644, Digest: d("q")},
		},
	}
	slices.SortFunc(l.files, func(a, b laidFile) int { return strings.Compare(a.path, b.path) })
	l.inherited, l.sources = l.inherited.sorted(), l.sources.sorted()
	outputs := []Output{{Name: "t", Tree: []string{"*"}}, {Name: "o", Path: "o"}}
	text := appendGiven(nil, outputs, l)
	var g given
	require.NoError(t, json.Unmarshal(text, &g), string(text))
	require.Equal(t, outputs, g.Outputs)
	require.Equal(t, l, g.Laid.laid())
	require.Equal(t, []string{`"link"`, `"masked"`, `"over"`}, sortedKeys(t, text, "sources"), "the others are told by their files")

	all := map[pathText]entryText{}
	for _, e := range l.sources {
		all[pathText{e.Path}] = entryText{e.Kind, e.Mode, e.Digest, pathText{e.Target}}
	}
	g.Laid.Sources = all
	old, err := json.Marshal(g)
	require.NoError(t, err)
	var again given
	require.NoError(t, json.Unmarshal(old, &again))
	require.Equal(t, l, again.Laid.laid())
}

func sortedKeys(t *testing.T, text []byte, field string) []string {
	t.Helper()
	var g struct{ Laid map[string]json.RawMessage }
	require.NoError(t, json.Unmarshal(text, &g))
	var m map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(g.Laid[field], &m))
	var keys []string
	for k := range maps.Keys(m) {
		q, err := json.Marshal(k)
		require.NoError(t, err)
		keys = append(keys, string(q))
	}
	slices.Sort(keys)
	return keys
}
