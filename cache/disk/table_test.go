package disk

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
)

// tabled is a store whose writers left tables, and what is in it.
type tabled struct {
	t    *testing.T
	dir  string
	n    int // keys, each with two records and a blob
	have string
}

func tabledBlob(i int) []byte { return fmt.Appendf(nil, "blob %d", i) }

func newTabled(t *testing.T) *tabled {
	w := &tabled{t: t, dir: filepath.Join(t.TempDir(), "store")}
	for range 4 {
		w.write(3 * tableWorth)
	}
	w.have = w.everything()
	return w
}

// write adds keys by a writer of its own.
func (w *tabled) write(n int) {
	s, err := Open(w.dir, Options{})
	require.NoError(w.t, err)
	for range n {
		w.n++
		d, err := cache.PutBytes(s, tabledBlob(w.n))
		require.NoError(w.t, err)
		for _, r := range []cache.Record{
			cache.CapturedRecord(keyOf(w.n), 1, cache.Captured{Log: d}),
			cache.EndedRecord(keyOf(w.n), 1, cache.OK, "", time0),
		} {
			require.NoError(w.t, s.Append(r))
		}
	}
	require.NoError(w.t, s.Sync())
	require.NoError(w.t, s.Close())
}

// everything is what the store says, as text.
func (w *tabled) everything() string {
	s, err := Open(w.dir, Options{ReadOnly: true})
	require.NoError(w.t, err)
	defer func() { require.NoError(w.t, s.Close()) }()
	var b bytes.Buffer
	for i := range w.n + 2 {
		all, err := s.Attempts(keyOf(i))
		require.NoError(w.t, err)
		d := digest.Of(tabledBlob(i))
		ok, err := s.Has(d)
		require.NoError(w.t, err)
		text, err := cache.ReadAll(s, d, -1)
		fmt.Fprintf(&b, "%d: %d attempts, %v, %q, %v\n", i, len(all), ok, text, err)
		for _, a := range all {
			fmt.Fprintf(&b, "  %s %s %v\n", a.State, a.Outcome, a.Captured)
		}
	}
	keys, err := s.Keys()
	require.NoError(w.t, err)
	u, err := s.Usage()
	require.NoError(w.t, err)
	fmt.Fprintf(&b, "%d keys, %d records, %d packed\n", len(keys), u.Records, u.Packed)
	return b.String()
}

func (w *tabled) tables() []string {
	return []string{tablePath(logPath(w.dir, 1)), tablePath(packPath(w.dir, 1))}
}

// A store says the same with its tables and without them, and with them it reads only what came since.
func TestTablesSayWhatAScanSays(t *testing.T) {
	w := newTabled(t)
	s, err := Open(w.dir, Options{ReadOnly: true})
	require.NoError(t, err)
	_, err = s.Has(digest.Of(tabledBlob(1)))
	require.NoError(t, err)
	require.Empty(t, s.actions.spots)
	require.Empty(t, s.packs.places)
	require.Equal(t, 2*w.n, s.actions.logs[0].table.rows)
	require.Equal(t, w.n, s.packs.packs[0].table.rows)
	require.NoError(t, s.Close())
	for _, path := range w.tables() {
		require.NoError(t, os.Remove(path))
	}
	require.Equal(t, w.have, w.everything())

	// They are made again, and grow when there is enough to add.
	w.write(tableWorth)
	w.write(tableWorth/2 - 1)
	s, err = Open(w.dir, Options{ReadOnly: true})
	require.NoError(t, err)
	require.Len(t, s.actions.spots, 2*(tableWorth/2-1))
	require.NoError(t, s.Close())
	require.NotEqual(t, w.have, w.everything())
}

// However a table is damaged, the store says what it said.
func TestDamagedTablesAreNotBelieved(t *testing.T) {
	w := newTabled(t)
	r := rand.New(rand.NewPCG(7, 7))
	for _, path := range w.tables() {
		whole, err := os.ReadFile(path)
		require.NoError(t, err)
		for range 60 {
			b := bytes.Clone(whole)
			switch r.IntN(4) {
			case 0:
				b = b[:r.IntN(len(b))]
			case 1:
				clear(b[r.IntN(len(b)):])
			case 2:
				at := r.IntN(len(b))
				b = slices.Insert(b, at, b[r.IntN(at+1)])
			default:
				b[r.IntN(len(b))] ^= 1 << r.IntN(8)
			}
			require.NoError(t, os.WriteFile(path, b, 0o600))
			require.Equal(t, w.have, w.everything())
		}
		require.NoError(t, os.WriteFile(path, whole, 0o600))
	}
}

// Ten thousand damaged bytes of a table lead to no entry that was not written, and nothing is missed in silence.
func TestTenThousandDamagedBytes(t *testing.T) {
	w := newTabled(t)
	r := rand.New(rand.NewPCG(1, 2))
	data, err := os.Open(logPath(w.dir, 1))
	require.NoError(t, err)
	defer func() { require.NoError(t, data.Close()) }()
	info, err := data.Stat()
	require.NoError(t, err)
	path := tablePath(data.Name())
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	written := map[tableRow]bool{}
	good := openTable(data, info.Size())
	require.NoError(t, good.all(func(r tableRow) error { written[r] = true; return nil }))
	require.NoError(t, good.close())
	for range 10_000 {
		b := bytes.Clone(whole)
		b[r.IntN(len(b))] = byte(r.Uint32())
		require.NoError(t, os.WriteFile(path, b, 0o600))
		tab := openTable(data, info.Size())
		if tab == nil {
			continue
		}
		key := keyOf(1 + r.IntN(w.n))
		var got []tableRow
		err := tab.find((*[32]byte)(&key), func(offset int64, size uint32) { got = append(got, tableRow{key, offset, size}) })
		require.True(t, err != nil || len(got) == 2)
		for _, row := range got {
			require.True(t, written[row])
		}
		require.NoError(t, tab.close())
	}
}

// A log that is not the one its table was made from is scanned: nothing it holds is missed.
func TestTableOfAnotherLog(t *testing.T) {
	w := newTabled(t)
	log := logPath(w.dir, 1)
	whole, err := os.ReadFile(log)
	require.NoError(t, err)
	lines := bytes.SplitAfter(whole, []byte("\n"))
	swapped := slices.Concat(lines[3], lines[2], lines[1], lines[0], bytes.Join(lines[4:], nil))
	require.NoError(t, os.WriteFile(log, append(swapped, '\n'), 0o600)) // records in another order, and a line more
	require.Equal(t, w.have, w.everything())
	require.NoError(t, os.WriteFile(log, bytes.Join(lines[1:], nil), 0o600)) // shorter
	require.Contains(t, w.everything(), fmt.Sprintf("%d records", 2*w.n-1))
}

// Damage behind a table's back is found by who needs what was there, told by Verify, and then no table hides it any more.
func TestDamageBelowATable(t *testing.T) {
	w := newTabled(t)
	s := open(t, w.dir)
	texts, err := s.actions.find(keyOf(5))
	require.NoError(t, err)
	require.Len(t, texts, 2)
	flip(t, logPath(w.dir, 1), texts[0].offset+40)
	require.Empty(t, s.Damage())
	all, err := s.Attempts(keyOf(5))
	require.NoError(t, err)
	require.Len(t, all, 1)
	require.Len(t, s.Damage(), 1)
	require.NoError(t, s.Append(cache.EndedRecord(keyOf(5), 1, cache.OK, "", time0)))
	require.NoError(t, s.Sync())
	require.NoError(t, s.Close())
	require.NoFileExists(t, tablePath(logPath(w.dir, 1)))

	s = open(t, w.dir)
	require.Len(t, s.Damage(), 1)
	problems, err := s.Verify(t.Context())
	require.NoError(t, err)
	require.Len(t, problems, 1)
	require.NoError(t, s.Close())

	w = newTabled(t)
	flip(t, logPath(w.dir, 1), 40)
	s = open(t, w.dir)
	problems, err = s.Verify(t.Context())
	require.NoError(t, err)
	require.Len(t, problems, 1, "found although nobody asked for it")
}

// What a power failure may take away is in no table.
func TestNothingUnsyncedIsInATable(t *testing.T) {
	w := newTabled(t)
	before, err := os.ReadFile(w.tables()[0])
	require.NoError(t, err)
	s, err := Open(w.dir, Options{})
	require.NoError(t, err)
	for i := range 10 * tableWorth {
		require.NoError(t, s.Append(cache.EndedRecord(keyOf(1000+i), 1, cache.OK, "", time0)))
	}
	require.NoError(t, s.Close())
	after, err := os.ReadFile(w.tables()[0])
	require.NoError(t, err)
	require.Equal(t, before, after)
}

// Tables with many blocks, and with many entries of one sum, are searched right.
func TestLargeTables(t *testing.T) {
	dir := t.TempDir()
	data, err := os.Create(filepath.Join(dir, "00001.log"))
	require.NoError(t, err)
	defer func() { require.NoError(t, data.Close()) }()
	require.NoError(t, data.Truncate(1<<40))
	r := rand.New(rand.NewPCG(3, 4))
	want := map[[32]byte][]int64{}
	var old *table
	for round := range 2 {
		var added []tableRow
		for i := range 55_000 {
			sum := [32]byte(keyOf(round*55_000 + i))
			for range 1 + r.IntN(2) {
				added = append(added, tableRow{sum, r.Int64N(1 << 40), 7})
			}
			if i%10_000 == 0 {
				for range 3 * blockRows {
					added = append(added, tableRow{sum, r.Int64N(1 << 40), 7})
				}
			}
		}
		for _, row := range added {
			want[row.sum] = append(want[row.sum], row.offset)
		}
		saveTable(data, 1<<40, old, added)
		if old != nil {
			require.NoError(t, old.close())
		}
		old = openTable(data, 1<<40)
		require.NotNil(t, old)
	}
	require.Greater(t, old.rows*rowLen, heldTable, "blocks are read one by one")
	for sum, offsets := range want {
		var got []int64
		require.NoError(t, old.find(&sum, func(offset int64, _ uint32) { got = append(got, offset) }))
		slices.Sort(offsets)
		if !slices.Equal(offsets, got) {
			t.Fatalf("%x: %v, want %v", sum, got, offsets)
		}
	}
	absent := [32]byte(keyOf(-1))
	require.NoError(t, old.find(&absent, func(int64, uint32) { t.Fatal("found what is not there") }))
	require.NoError(t, old.close())
}
