package executor

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/cache/mem"
	"github.com/ufbuild/ufbuild/executor/source"
)

// TestSalvagedLeftoversAreTheTasksOwn wants of what is salvaged only what the task made or changed.
func TestSalvagedLeftoversAreTheTasksOwn(t *testing.T) {
	store := mem.New(t.TempDir())
	put := func(text string) digest.Digest {
		d, err := cache.PutBytes(store, []byte(text))
		require.NoError(t, err)
		return d
	}
	file := func(path, text string, mode uint32) cache.Entry {
		return cache.Entry{Path: path, Kind: cache.File, Mode: mode, Digest: put(text)}
	}
	tree := func(entries ...cache.Entry) digest.Digest {
		text, err := cache.Tree{Entries: entries}.Encode()
		require.NoError(t, err)
		return put(string(text))
	}
	a := &Action{
		Start: tree(file("inherited", "i", 0o600), file("overlaid", "old", 0o644), file("edited", "1", 0o644)),
		Sources: []source.File{
			{Path: "same \"q\"", Digest: put("s"), Mode: 0o644}, {Path: "tool", Digest: put("t"), Mode: 0o755}, {Path: "link", Target: "tool"},
			{Path: "overlaid", Digest: put("new"), Mode: 0o644}, {Path: "chmod", Digest: put("c"), Mode: 0o644},
		},
	}
	at := &cache.Attempt{Manifest: put(string(a.Manifest()))}
	r := &Rescue{Store: store}
	for name, c := range map[string]struct{ left, want []cache.Entry }{
		"nothing of its own": {left: []cache.Entry{file("inherited", "i", 0o600), file("same \"q\"", "s", 0o644), file("tool", "t", 0o755),
			{Path: "link", Kind: cache.Link, Target: "tool"}, file("overlaid", "new", 0o644)}},
		"what it made and changed": {
			left: []cache.Entry{file("edited", "2", 0o644), file("made", "m", 0o644), file("chmod", "c", 0o755), file("overlaid", "old", 0o644), file("tool", "t", 0o755)},
			want: []cache.Entry{file("chmod", "c", 0o755), file("edited", "2", 0o644), file("made", "m", 0o644), file("overlaid", "old", 0o644)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			captured := &cache.Captured{Leftovers: tree(c.left...)}
			require.NoError(t, r.dropGiven(at, captured))
			if c.want == nil {
				require.True(t, captured.Leftovers.IsZero())
				return
			}
			got, err := cache.ReadTree(store, captured.Leftovers)
			require.NoError(t, err)
			require.Equal(t, c.want, got.Entries)
		})
	}
	kept := tree(file("same \"q\"", "s", 0o644))
	captured := &cache.Captured{Leftovers: kept}
	require.NoError(t, r.dropGiven(&cache.Attempt{}, captured), "without a manifest nobody knows")
	require.Equal(t, kept, captured.Leftovers)
}
