package executor

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/lang"
)

// treeOf makes a tree of "path" -> content.
func treeOf(files map[string]string, changed, deleted []string) cache.Tree {
	t := cache.Tree{Changed: changed, Deleted: deleted}
	for p, c := range files {
		t.Entries = append(t.Entries, cache.Entry{Path: p, Kind: cache.File, Mode: 0o644, Digest: digest.Of([]byte(c))})
	}
	b, err := t.Encode()
	if err != nil {
		panic(err)
	}
	if t, err = cache.DecodeTree(b); err != nil {
		panic(err)
	}
	return t
}

func TestMergeRule(t *testing.T) {
	left, right := lang.Address{Task: "left"}, lang.Address{Task: "right"}
	type files = map[string]string
	for _, c := range []struct {
		name   string
		l, r   cache.Tree
		own    bool
		prefer []lang.Address
		any    bool
		want   files
		clash  string
	}{
		{name: "the union", l: treeOf(files{"a": "1"}, nil, nil), r: treeOf(files{"b": "2"}, nil, nil), want: files{"a": "1", "b": "2"}},
		{name: "a carrier outranks a deletion", l: treeOf(files{}, nil, []string{"a"}), r: treeOf(files{"a": "1"}, nil, nil), want: files{"a": "1"}},
		{name: "any deletion wins over an untouched copy", any: true, l: treeOf(files{}, nil, []string{"a"}), r: treeOf(files{"a": "1"}, nil, nil), want: files{}},
		{name: "but not over a change", any: true, l: treeOf(files{}, nil, []string{"a"}), r: treeOf(files{"a": "2"}, []string{"a"}, nil), want: files{"a": "2"}},
		{name: "all deleted it", l: treeOf(files{}, nil, []string{"a"}), r: treeOf(files{"b": "1"}, nil, []string{"a"}), want: files{"b": "1"}},
		{name: "changed beats as inherited", l: treeOf(files{"a": "2"}, []string{"a"}, nil), r: treeOf(files{"a": "1"}, nil, nil), want: files{"a": "2"}},
		{name: "changed beats as inherited, whichever comes first", l: treeOf(files{"a": "1"}, nil, nil), r: treeOf(files{"a": "2"}, []string{"a"}, nil), want: files{"a": "2"}},
		{name: "the same change twice", l: treeOf(files{"a": "2"}, []string{"a"}, nil), r: treeOf(files{"a": "2"}, []string{"a"}, nil), want: files{"a": "2"}},
		{name: "two changes", l: treeOf(files{"a": "2"}, []string{"a"}, nil), r: treeOf(files{"a": "3"}, []string{"a"}, nil), clash: "a is one thing in left and another in right"},
		{name: "two changes and a preference", prefer: []lang.Address{right}, l: treeOf(files{"a": "2"}, []string{"a"}, nil), r: treeOf(files{"a": "3"}, []string{"a"}, nil), want: files{"a": "3"}},
		{name: "a file that one made a directory", l: treeOf(files{"a": "1"}, nil, nil), r: treeOf(files{"a/b": "2"}, []string{"a/b"}, []string{"a"}), want: files{"a/b": "2"}},
		{name: "a directory that one made a file", l: treeOf(files{"a/b": "2", "a/c": "3"}, nil, nil), r: treeOf(files{"a": "1"}, []string{"a"}, []string{"a/b", "a/c"}), want: files{"a": "1"}},
		{name: "a file and a directory", l: treeOf(files{"a": "1"}, []string{"a"}, nil), r: treeOf(files{"a/b": "2"}, []string{"a/b"}, nil), clash: "a is a file in left and a directory in right"},
		{name: "a file and a directory and a preference", prefer: []lang.Address{right}, l: treeOf(files{"a": "1"}, []string{"a"}, nil), r: treeOf(files{"a/b": "2"}, []string{"a/b"}, nil), want: files{"a/b": "2"}},
		{name: "started from nothing", own: true, l: treeOf(files{"a": "2"}, nil, nil), r: treeOf(files{"a": "3"}, nil, nil), clash: "left"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := mergeTrees([]base{{left, c.l, c.own}, {right, c.r, c.own}}, c.prefer, c.any)
			if c.clash != "" {
				require.ErrorContains(t, err, c.clash)
				require.ErrorContains(t, err, "prefer")
				return
			}
			require.NoError(t, err)
			require.Equal(t, treeOf(c.want, nil, nil).Entries, got.Entries)
		})
	}
}
