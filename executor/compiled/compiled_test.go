package compiled_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/executor/compiled"
	"github.com/ufbuild/ufbuild/lang"
)

// chain is a campaign where b and c read a, d reads both, and e is on its own but after d.
func chain() *compiled.Campaign {
	c := &compiled.Campaign{
		Beside: "b1", Total: 6, Sourced: true,
		Files: []compiled.File{{Path: "campaign.hcl", Text: []byte("# x\ntask \"a\" {}\ntask \"b\" {}\n"), Blocks: []lang.FileBlock{
			{Start: 0, Line: 1}, {Task: "a", Start: 4, Line: 2}, {Task: "b", Start: 16, Line: 3},
		}}},
		Prompts: []compiled.File{{Path: "prompts/p.md", Text: []byte("p"), Blocks: []lang.FileBlock{}, Readers: []int{1, 3}}},
		Read:    []string{"schemas/s.json"},
		Dirs:    []compiled.Dir{{Path: ".", Names: [32]byte{9}, Texts: [32]byte{8}, Listed: true}, {Path: "a"}},
	}
	c.SetTasks([]compiled.Task{
		{Name: "a", Nodes: []compiled.Node{{Address: "a", Attempt: cache.Key{7}, Ordinal: 3}}},
		{Name: "b", Deps: []int{0}, Nodes: []compiled.Node{
			{Address: "b/x", Attempt: cache.Key{8}, Ordinal: 1, Inherited: true}, {Address: "b/y#1", Ordinal: 300, KeepEdits: true},
		}},
		{Name: "c", Deps: []int{0}, Nodes: []compiled.Node{{Address: "c", Paid: &compiled.Payee{Profile: "p", Pool: "q"}}}},
		{Name: "d", Deps: []int{1, 2}},
		{Name: "e", Deps: []int{3}, Sources: []string{"src/a", "src/b"}},
	})
	return c
}

// decoded is the chain as it lies in a file.
func decoded(t *testing.T) *compiled.Campaign {
	c, err := compiled.Decode(chain().Encode())
	require.NoError(t, err)
	return c
}

// same holds what two say of everything.
func same(t *testing.T, want, got *compiled.Campaign) {
	t.Helper()
	require.Equal(t, want.Tasks(), got.Tasks())
	require.Equal(t, want.Files, got.Files)
	require.Equal(t, want.Prompts, got.Prompts)
	require.Equal(t, []any{want.Beside, want.Total, want.Sourced, want.Read, want.Dirs}, []any{got.Beside, got.Total, got.Sourced, got.Read, got.Dirs})
	require.Equal(t, want.Encode(), got.Encode())
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
			require.Equal(t, compiled.Reach{Cone: test.cone, Frontier: test.frontier}, decoded(t).Reach(test.changed))
		})
	}
}

func TestReaders(t *testing.T) {
	for _, c := range []*compiled.Campaign{chain(), decoded(t)} {
		require.Equal(t, []int{4}, c.Readers("src/b"))
		require.Empty(t, c.Readers("src/c"))
		require.Empty(t, c.Readers("src/"))
		c.Task(1).Sources = []string{"src/b"}
		c.Changed(1)
		require.Equal(t, []int{1, 4}, c.Readers("src/b"))
		require.Equal(t, []int{2}, c.Paid())
		i, ok := c.Index("d")
		require.True(t, ok)
		require.Equal(t, 3, i)
	}
}

func TestSaveAndLoad(t *testing.T) {
	path := compiled.Path(t.TempDir())
	_, err := compiled.Load(path)
	require.Error(t, err)
	require.NoError(t, compiled.Save(path, chain()))
	got, err := compiled.Load(path)
	require.NoError(t, err)
	same(t, chain(), got)
	left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".*"))
	require.NoError(t, err)
	require.Empty(t, left)
	require.NoError(t, compiled.Drop(path))
	require.NoError(t, compiled.Drop(path))
}

// edit makes the changes of a round: a task has run, and texts have other bytes.
func edit(c *compiled.Campaign, r *rand.Rand, round int) {
	for range 1 + r.IntN(2) {
		i := r.IntN(c.Len())
		t := c.Task(i)
		t.Nodes = append([]compiled.Node(nil), t.Nodes...)
		for j := range t.Nodes {
			t.Nodes[j].Ordinal = round
		}
		t.Sources = []string{fmt.Sprint("src/", round)}
		c.Changed(i)
	}
	f := &c.Files[0]
	at := r.IntN(len(f.Text))
	text := slices.Concat(f.Text[:at], bytes.Repeat([]byte("x"), r.IntN(4)), f.Text[min(len(f.Text), at+r.IntN(4)):])
	blocks := slices.Clone(f.Blocks)
	from := 1 + r.IntN(len(blocks)-1)
	for i := from; i < len(blocks); i++ {
		blocks[i].Start = min(max(blocks[i-1].Start, blocks[i].Start+len(text)-len(f.Text)), len(text))
		blocks[i].Line += round % 2
	}
	c.SetText(f, text, blocks)
	if p := &c.Prompts[0]; round%2 == 0 {
		c.SetText(p, []byte(fmt.Sprint("prompt ", round)), p.Blocks)
		c.SetReaders(p, []int{r.IntN(c.Len())})
	}
	c.Beside, c.Dirs = fmt.Sprint("b", round), []compiled.Dir{{Path: ".", Names: [32]byte{byte(round)}, Listed: round%2 == 0}}
}

// TestAppendices makes changes at random, with the file read anew for each as builds do. What is read is what was to be written, whether it
// was appended or not, and of a file that is cut short anywhere what was whole before.
func TestAppendices(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	path := compiled.Path(t.TempDir())
	require.NoError(t, compiled.Save(path, chain()))
	appended, most := 0, 0
	var before []byte
	for round := range 60 {
		c, err := compiled.Load(path)
		require.NoError(t, err)
		last := c.Beside
		edit(c, r, round)
		require.NoError(t, compiled.Save(path, c))
		got, err := compiled.Load(path)
		require.NoError(t, err)
		same(t, c, got)
		most = max(most, got.Appendices())
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		if bytes.HasPrefix(b, before) && round > 0 {
			appended++
			for n := len(before); n < len(b); n++ {
				short, err := compiled.Decode(slices.Clone(b[:n]))
				require.NoError(t, err)
				require.Equal(t, last, short.Beside)
			}
			torn := append(slices.Clone(b[:len(b)-1]), b[len(b)-1]^1)
			short, err := compiled.Decode(torn)
			require.NoError(t, err)
			require.Equal(t, last, short.Beside)
		}
		before = b
	}
	require.Greater(t, appended, 40)
	require.Less(t, most, 25)
	require.Greater(t, most, 20)
	c, err := compiled.Load(path) // what a killed build appended half is not gone on from
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, append(before, 1, 2, 3), 0o600))
	edit(c, r, 100)
	require.NoError(t, compiled.Save(path, c))
	got, err := compiled.Load(path)
	require.NoError(t, err)
	require.Zero(t, got.Appendices())
	same(t, c, got)
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
		for i := range c.Len() {
			c.Reach([]int{i})
		}
		c.Readers("a")
	})
}

// TestTasksMadeWhenAskedFor holds them to tasks that are there: what is written, and what is read of it, with texts that are copied
// and such that are not.
func TestTasksMadeWhenAskedFor(t *testing.T) {
	there := chain()
	there.Files = append(there.Files, compiled.File{Path: "long.hcl", Text: bytes.Repeat([]byte("# long\n"), 4000)})
	made, index := *there, map[string]int{}
	for i, task := range there.Tasks() {
		index[task.Name] = i
	}
	made.MakeTasks(index, func(i int) compiled.Task { return *there.Task(i) })
	require.Equal(t, there.Encode(), made.Encode())
	require.Equal(t, there.Paid(), made.Paid())
	require.Equal(t, there.Reach([]int{1}), made.Reach([]int{1}))

	path := filepath.Join(t.TempDir(), "compiled")
	require.NoError(t, compiled.Save(path, &made))
	written, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, there.Encode(), written)
	read, err := compiled.Decode(written)
	require.NoError(t, err)
	require.Equal(t, there.Files[len(there.Files)-1].Text, read.Files[len(read.Files)-1].Text)
	require.Equal(t, there.Tasks(), read.Tasks())
}

// TestLoadsAreGivenBack loads for as long as a watch lives: what was loaded before is no more than garbage.
func TestLoadsAreGivenBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "compiled")
	c := compiled.Campaign{Prompts: []compiled.File{{Path: "p.md", Text: make([]byte, 4<<20)}}}
	c.SetTasks(nil)
	require.NoError(t, compiled.Save(path, &c))
	held := func() (pages int) {
		text, err := os.ReadFile("/proc/self/statm")
		require.NoError(t, err)
		_, err = fmt.Sscan(string(text), new(int), &pages)
		require.NoError(t, err)
		return pages
	}
	before := held()
	for range 100 {
		_, err := compiled.Load(path)
		require.NoError(t, err)
		runtime.GC()
	}
	require.Less(t, (held()-before)*os.Getpagesize(), 100<<20)
}
