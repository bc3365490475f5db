package compiled_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/executor/compiled"
	"github.com/ufbuild/ufbuild/lang"
)

// chain is a campaign where b and c read a, d reads both, and e is on its own but after d.
func chain() *compiled.Campaign {
	return &compiled.Campaign{
		Beside: "b1", Total: 6, Sourced: true,
		Files: []compiled.File{{Path: "campaign.hcl", Text: []byte("# x\ntask \"a\" {}\ntask \"b\" {}\n"), Blocks: []lang.FileBlock{
			{Start: 0, Line: 1}, {Task: "a", Start: 4, Line: 2}, {Task: "b", Start: 16, Line: 3},
		}}},
		Prompts: []compiled.File{{Path: "prompts/p.md", Text: []byte("p"), Blocks: []lang.FileBlock{}, Readers: []int{1, 3}}},
		Read:    []string{"schemas/s.json"},
		Dirs:    []compiled.Dir{{Path: ".", Names: [32]byte{9}}},
		Tasks: []compiled.Task{
			{Name: "a", Nodes: []compiled.Node{{Address: "a", Attempt: cache.Key{7}, Ordinal: 3}}},
			{Name: "b", Deps: []int{0}, Nodes: []compiled.Node{
				{Address: "b/x", Attempt: cache.Key{8}, Ordinal: 1, Inherited: true}, {Address: "b/y#1", Ordinal: 300, KeepEdits: true},
			}},
			{Name: "c", Deps: []int{0}, Nodes: []compiled.Node{{Address: "c", Paid: &compiled.Payee{Profile: "p", Pool: "q"}}}},
			{Name: "d", Deps: []int{1, 2}},
			{Name: "e", Deps: []int{3}, Sources: []string{"src/a", "src/b"}},
		},
	}
}

func TestReach(t *testing.T) {
	c := chain()
	for name, test := range map[string]struct {
		changed, cone, frontier []int
	}{
		"nothing":    {nil, nil, nil},
		"the first":  {[]int{0}, []int{0, 1, 2, 3, 4}, nil},
		"one branch": {[]int{1}, []int{1, 3, 4}, []int{0, 2}},
		"the last":   {[]int{4}, []int{4}, []int{3}},
		"two":        {[]int{2, 1}, []int{1, 2, 3, 4}, []int{0}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, compiled.Reach{Cone: test.cone, Frontier: test.frontier}, c.Reach(test.changed))
		})
	}
}

func TestReaders(t *testing.T) {
	require.Equal(t, []int{4}, chain().Readers("src/b"))
	require.Empty(t, chain().Readers("src/c"))
}

func TestSaveAndLoad(t *testing.T) {
	path := compiled.Path(t.TempDir())
	_, err := compiled.Load(path)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NoError(t, compiled.Save(path, chain()))
	got, err := compiled.Load(path)
	require.NoError(t, err)
	require.Equal(t, chain(), got)
	left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".*"))
	require.NoError(t, err)
	require.Empty(t, left)
	require.NoError(t, compiled.Drop(path))
	require.NoError(t, compiled.Drop(path))
}

func TestDamageMeansNone(t *testing.T) {
	b := chain().Encode()
	for i := range b {
		spoilt := append([]byte(nil), b...)
		spoilt[i] ^= 0x10
		_, err := compiled.Decode(spoilt)
		require.Error(t, err, "byte %d", i)
		_, err = compiled.Decode(b[:i])
		require.Error(t, err, "the first %d bytes", i)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(chain().Encode())
	f.Add((&compiled.Campaign{}).Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := compiled.Decode(compiled.Seal(b))
		if err != nil {
			return
		}
		again, err := compiled.Decode(c.Encode())
		require.NoError(t, err)
		require.Equal(t, c.Encode(), again.Encode())
		c.Reach([]int{})
	})
}
