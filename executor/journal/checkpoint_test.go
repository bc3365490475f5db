package journal

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/lang"
)

// author makes up a journal: builds, and people who change their minds.
type author struct {
	r      *rand.Rand
	n      int
	builds []string
	acts   []Record // retries and rulings, to be undone
}

func init() { groupSize = 3 } // of the ten addresses that there are

func (w *author) address() lang.Address {
	a := lang.Address{Task: fmt.Sprintf("t%d", w.r.IntN(5))}
	if w.r.IntN(3) == 0 {
		a.Key, a.Looped, a.Loop = "key", true, w.r.IntN(2)
	}
	return a
}

func (w *author) key() cache.Key { return cache.KeyOf([]byte{byte(w.r.IntN(12))}) }

// next is the next record. Some make no sense, as those of a broken clock or a later release would not.
func (w *author) next() Record {
	w.n++
	id := fmt.Sprintf("act-%d", w.n)
	zone := []*time.Location{time.UTC, time.Local, time.FixedZone("", 5*3600+1800)}[w.r.IntN(3)]
	r := w.record(id)
	r.Time = time.Unix(1e9+int64(w.n), int64(w.r.IntN(1e9))).In(zone)
	if r.Build == "" && len(w.builds) > 0 {
		r.Build = w.builds[max(0, len(w.builds)-1-w.r.IntN(2))]
	}
	if slices.Contains([]string{kindRetry, kindRuling, kindApproval}, r.Kind) {
		w.acts = append(w.acts, r)
	}
	return r
}

func (w *author) record(id string) Record {
	switch n := w.r.IntN(20); {
	case n < 3:
		w.builds = append(w.builds, fmt.Sprintf("build-%d", w.n))
		r := BuildStarted("me")
		r.Build, r.Targets = w.builds[len(w.builds)-1], []string{"x", "y"}[:w.r.IntN(3)]
		return r
	case n < 5:
		r := BuildEnded(map[string]int{"ran": w.r.IntN(3), "fresh": 1})
		if r.Complete = w.r.IntN(2) == 0; r.Complete {
			r.Closes = []string{fmt.Sprintf("lost-%d", w.r.IntN(4))}
		}
		return r
	case n < 9:
		return Selected(w.address(), w.key(), 1+w.r.IntN(3), "first attempt")
	case n < 12:
		return EndedAttempt(w.address(), w.key(), 1+w.r.IntN(3), cache.Failed, "exit code 1")
	case n < 13:
		return SkippedFor(w.address(), w.address(), "it failed")
	case n < 14:
		return Rechecked(id, "me", "", []lang.Address{w.address(), w.address()})
	case n < 15:
		return Approved(w.address(), w.key(), 1, digest.Of([]byte{byte(w.r.IntN(3))}), Approval{ID: id, Denied: w.r.IntN(2) == 0, Who: "me"})
	case n < 16 && w.r.IntN(2) == 0:
		paths := []string{"a", "b", "c", "d"}
		return Owns(paths[:w.r.IntN(4)], []Disowned{{Path: paths[w.r.IntN(4)], Lines: paths[:w.r.IntN(3)]}})
	case n < 16:
		words := []Word{Accept, Select, Pin, Unpin}
		one := Ruling{Attempt: Attempt{w.key(), 1}, ID: id, Address: w.address(), Word: words[w.r.IntN(4)], For: w.key(), Who: "me"}
		return Ruled(one, []Ruling{{Attempt: Attempt{w.key(), 2}, Address: w.address(), For: w.key()}}[:w.r.IntN(2)]...)
	case n < 18:
		node := Node{Address: w.address(), Key: w.key(), Selected: w.r.IntN(3), Discards: []int{1, 2, 3}[:w.r.IntN(4)]}
		return Retried(id, "me", "better", []string{"t"}, []Node{node, {Address: w.address()}})
	}
	if len(w.acts) == 0 {
		return Unruled(id, "me", Ruling{ID: "nothing"})
	}
	act := w.acts[w.r.IntN(len(w.acts))]
	return Record{Kind: kindUndo, ID: id, Who: "me", Undoes: act.ID, Nodes: act.Nodes}
}

// dump is all that a view says.
func dump(t *testing.T, v *View) string {
	t.Helper()
	var b strings.Builder
	for a := range 5 {
		for _, addr := range []lang.Address{{Task: fmt.Sprintf("t%d", a)}, {Task: fmt.Sprintf("t%d", a), Key: "key", Looped: true}} {
			n := v.Attempts(addr)
			attempts, err := v.History(addr)
			require.NoError(t, err)
			require.Len(t, attempts, n)
			fmt.Fprintf(&b, "%s: %v\n", addr, attempts)
		}
	}
	builds, err := v.Builds()
	require.NoError(t, err)
	decisions, err := v.Decisions()
	require.NoError(t, err)
	closed, err := v.Closed()
	require.NoError(t, err)
	for _, build := range builds {
		fmt.Fprintf(&b, "%+v closed %v\n", build, closed(build.ID))
	}
	for _, a := range slices.SortedFunc(maps.Keys(decisions), byAddress) {
		fmt.Fprintf(&b, "%s: %+v\n", a, decisions[a])
	}
	fmt.Fprintf(&b, "%v %v %v\n", closed("lost-0"), closed("lost-1"), v.Built())
	fmt.Fprintf(&b, "%+v\n%+v\n%+v\n%+v\n", maps.Collect(v.EachSelected()), maps.Collect(v.EachLast()), endedOf(v), v.Skipped)
	fmt.Fprintf(&b, "%+v\n%+v\n%+v\n%+v %d %d\n", v.Retries, v.Rulings, v.approvals, v.discarded, v.open, v.end)
	fmt.Fprintf(&b, "%v %+v\n", v.Own, v.Disowned)
	return b.String()
}

// write appends n records and leaves a checkpoint.
func (w *author) write(t *testing.T, root string, n int) {
	t.Helper()
	j, err := Open(root)
	require.NoError(t, err)
	for range n {
		require.NoError(t, j.Append(w.next()))
	}
	require.NoError(t, j.Sync())
	leaveCheckpoint(root, j.w.End(), 1)
	require.NoError(t, j.w.Close())
}

// bare is what a journal says without its checkpoint.
func bare(t *testing.T, root string) string {
	t.Helper()
	v, err := replay(root, math.MaxInt64)
	require.NoError(t, err)
	info, err := os.Stat(filepath.Join(root, Dir, logName))
	require.NoError(t, err)
	v.end = info.Size()
	return dump(t, v)
}

func read(t *testing.T, root string) *View {
	t.Helper()
	v, damage, err := Read(root)
	require.NoError(t, err)
	require.Empty(t, damage)
	return v
}

// Whatever was written, and wherever checkpoints were left, a journal says the same with one and without.
func TestCheckpointSaysWhatTheJournalSays(t *testing.T) {
	for seed := range 12 {
		w := &author{r: rand.New(rand.NewPCG(uint64(seed), 1))}
		root := t.TempDir()
		for round := range 8 {
			w.write(t, root, w.r.IntN(15))
			v := read(t, root)
			if round > 0 {
				require.NotNil(t, v.file, "a checkpoint was used")
			}
			require.Equal(t, bare(t, root), dump(t, v), "seed %d, round %d", seed, round)
			j, err := Open(root) // and with records behind it
			require.NoError(t, err)
			for range w.r.IntN(6) {
				require.NoError(t, j.Append(w.next()))
			}
			require.NoError(t, j.Close())
			require.Equal(t, bare(t, root), dump(t, read(t, root)), "seed %d, round %d", seed, round)
			for _, tasks := range [][]string{{"t1", "t3"}, {"t0"}, {"t4", "t9"}, {"", "t2", "t22"}, {}} {
				saysOf(t, root, maps.Collect(func(yield func(string, bool) bool) {
					for _, task := range tasks {
						yield(task, true)
					}
				}))
			}
		}
	}
}

// saysOf holds what is read of some tasks to what is read of all.
func saysOf(t *testing.T, root string, tasks map[string]bool) {
	t.Helper()
	all := read(t, root)
	some, damage, err := ReadOf(root, tasks)
	require.NoError(t, err)
	require.Empty(t, damage)
	for a := range 5 {
		for _, addr := range []lang.Address{{Task: fmt.Sprintf("t%d", a)}, {Task: fmt.Sprintf("t%d", a), Key: "key", Looped: true}} {
			if tasks[addr.Task] {
				require.Equal(t, selectionsOf(all, addr), selectionsOf(some, addr))
				require.Equal(t, all.Attempts(addr), some.Attempts(addr))
			}
		}
	}
	require.Equal(t, all.Retries, some.Retries)
	others := func(r Ruling) bool { return !tasks[r.Address.Task] }
	require.Equal(t, slices.DeleteFunc(all.Rulings, others), slices.DeleteFunc(some.Rulings, others))
	require.Equal(t, all.approvals, some.approvals)
	require.Equal(t, all.discarded, some.discarded)
	require.Equal(t, all.Own, some.Own)
	require.Equal(t, all.end, some.end)
	for a := range 5 { // what nobody wanted is in the journal
		addr := lang.Address{Task: fmt.Sprintf("t%d", a)}
		want, err := all.History(addr)
		require.NoError(t, err)
		got, err := some.History(addr)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

func selectionsOf(v *View, a lang.Address) []any {
	selected, one := v.Selected(a)
	last, two := v.Last(a)
	ended, three := v.Ended(a)
	skipped, four := v.Skipped[a]
	return []any{selected, one, last, two, ended, three, skipped, four}
}

// written is a journal with a checkpoint and what both say.
func written(t *testing.T) (root, says string) {
	root = t.TempDir()
	w := &author{r: rand.New(rand.NewPCG(9, 9))}
	w.write(t, root, 60)
	w.write(t, root, 60)
	return root, bare(t, root)
}

// However a checkpoint is damaged, the journal counts.
func TestDamagedCheckpointsAreNotBelieved(t *testing.T) {
	root, says := written(t)
	path := checkpointPath(root)
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 60 {
		b := bytes.Clone(whole)
		switch at := r.IntN(len(b)); i % 4 {
		case 0:
			b = b[:at]
		case 1:
			clear(b[at:])
		case 2:
			b = slices.Insert(b, at, 7)
		default:
			b[at] ^= 1 << r.IntN(8)
		}
		require.NoError(t, os.WriteFile(path, b, 0o600))
		require.Equal(t, says, dump(t, read(t, root)))
	}
}

// However a checkpoint is damaged, a journal that goes on has a good one behind it, or none.
func TestDamagedCheckpointsAreReplaced(t *testing.T) {
	root, _ := written(t)
	path := checkpointPath(root)
	r := rand.New(rand.NewPCG(5, 6))
	w := &author{r: rand.New(rand.NewPCG(7, 7))}
	for i := range 60 {
		b, err := os.ReadFile(path)
		if err == nil {
			at := r.IntN(len(b))
			if i%3 == 0 {
				at = len(b) - 1 // of what counts, behind a head that is as it was
			}
			b[at] ^= 1 << r.IntN(8)
			require.NoError(t, os.WriteFile(path, b, 0o600))
		}
		w.write(t, root, 30)
		require.Equal(t, bare(t, root), dump(t, read(t, root)))
	}
}

// Ten thousand damaged bytes: no panic, and nothing that was not written.
func TestTenThousandDamagedBytes(t *testing.T) {
	root, _ := written(t)
	good := read(t, root)
	require.NotNil(t, good.file)
	path := checkpointPath(root)
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.Remove(path)) // good keeps the file it opened
	require.NoError(t, os.WriteFile(path, whole, 0o600))
	log, err := os.Open(filepath.Join(root, Dir, logName))
	require.NoError(t, err)
	defer func() { require.NoError(t, log.Close()) }()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	r := rand.New(rand.NewPCG(3, 4))
	for range 10_000 {
		at := r.IntN(len(whole))
		_, err := f.WriteAt([]byte{byte(r.Uint32())}, int64(at))
		require.NoError(t, err)
		if c := openCheckpoint(root, log); c != nil {
			v := newViewOf(root)
			filled := c.fill(v) == nil
			require.True(t, !filled || reflect.DeepEqual(maps.Collect(good.EachSelected()), maps.Collect(v.EachSelected())) && reflect.DeepEqual(good.Rulings, v.Rulings), "byte %d", at)
			if filled {
				sameOrNothing(t, whole, v)
			}
			require.NoError(t, c.file.Close())
		}
		_, err = f.WriteAt(whole[at:at+1], int64(at))
		require.NoError(t, err)
	}
}

// sameOrNothing wants of each part of a checkpoint that it is what was written, or refused.
func sameOrNothing(t *testing.T, whole []byte, v *View) {
	t.Helper()
	c := v.file
	parts := []region{c.built, c.closes, c.decisions}
	for i := range v.histories.n {
		parts = append(parts, v.histories.at(i).kept.region)
	}
	for _, r := range parts {
		if b, err := c.read(r); err == nil {
			require.Equal(t, whole[r.at:][:r.size], b)
		}
	}
}

func TestCheckpointOfAnotherJournal(t *testing.T) {
	root, _ := written(t)
	log := filepath.Join(root, Dir, logName)
	whole, err := os.ReadFile(log)
	require.NoError(t, err)
	lines := bytes.SplitAfter(whole, []byte("\n"))
	for name, b := range map[string][]byte{
		"cut": bytes.Join(lines[:50], nil), "of as many bytes": slices.Concat(bytes.Join(lines[1:], nil), lines[0]),
		"longer": slices.Concat(lines[0], whole), "empty": nil,
	} {
		require.NoError(t, os.WriteFile(log, b, 0o600))
		v := read(t, root)
		require.Nil(t, v.file, name)
		require.Equal(t, bare(t, root), dump(t, v), name)
	}
}

// A view goes on saying the truth when its checkpoint is damaged, or gone, after it was read.
func TestCheckpointDamagedWhileInUse(t *testing.T) {
	root, says := written(t)
	whole, err := os.ReadFile(checkpointPath(root))
	require.NoError(t, err)
	v := read(t, root)
	require.NotNil(t, v.file)
	require.NoError(t, os.WriteFile(checkpointPath(root), make([]byte, len(whole)), 0o600))
	w := &author{r: rand.New(rand.NewPCG(5, 5))}
	j, err := Open(root)
	require.NoError(t, err)
	require.NoError(t, j.Append(w.next(), w.next())) // later than the view
	require.NoError(t, j.Close())
	require.Equal(t, says, dump(t, v))
}

// What a later version would understand better, or what has to be told, is behind no checkpoint.
func TestNoCheckpoint(t *testing.T) {
	count := func(root string) int {
		names, err := filepath.Glob(checkpointPath(root))
		require.NoError(t, err)
		return len(names)
	}
	long := strings.Repeat("x", leastSince)
	record := `{"kind":"ended","time":"2026-01-01T00:00:00Z","message":"` + long + `"%s}`
	for name, line := range map[string]string{
		"unknown field":  fmt.Sprintf(record, `,"new":1`),
		"unknown nested": fmt.Sprintf(record, `,"nodes":[{"address":"a","new":1}]`),
		"unknown kind":   strings.Replace(fmt.Sprintf(record, ""), "ended", "future", 1),
		"unknown word":   fmt.Sprintf(record, `,"word":"perhaps"`),
		"no json":        "not json" + long,
	} {
		root := t.TempDir()
		j, err := Open(root)
		require.NoError(t, err)
		_, _, err = j.w.Append([]byte(line))
		require.NoError(t, err)
		require.NoError(t, j.Sync())
		require.NoError(t, j.Close())
		require.Zero(t, count(root), name)
	}
	root := t.TempDir()
	for _, sync := range []bool{false, true} {
		j, err := Open(root)
		require.NoError(t, err)
		require.NoError(t, j.Append(SkippedFor(lang.Address{Task: "a"}, lang.Address{Task: "b"}, long)))
		if sync {
			require.NoError(t, j.Sync())
		}
		require.NoError(t, j.Close())
		if !sync {
			require.Zero(t, count(root), "a power failure may take away what it would cover")
		}
	}
	require.Equal(t, 1, count(root))
}

// A change of what records say, or of what they come to, has to change the magic: a checkpoint of an earlier version must not
// stand for what this one would read.
func TestCheckpointVersion(t *testing.T) {
	var b strings.Builder
	var spell func(reflect.Type)
	spelled := map[reflect.Type]bool{}
	spell = func(typ reflect.Type) {
		switch typ.Kind() {
		case reflect.Slice, reflect.Array:
			spell(typ.Elem())
		case reflect.Map:
			spell(typ.Key())
			spell(typ.Elem())
		case reflect.Struct:
			if spelled[typ] || strings.HasPrefix(typ.String(), "time.") || strings.HasPrefix(typ.String(), "sync.") {
				return
			}
			spelled[typ] = true
			for i := range typ.NumField() {
				f := typ.Field(i)
				fmt.Fprintf(&b, "%s.%s %s %s\n", typ, f.Name, f.Type, f.Tag)
				spell(f.Type)
			}
		}
	}
	spell(reflect.TypeFor[View]())
	spell(reflect.TypeFor[Selection]())
	spell(reflect.TypeFor[Ended]())
	spell(reflect.TypeFor[Record]())
	got := fmt.Sprintf("%s%s", checkpointMagic, digest.Of([]byte(b.String())).Hex()[:12])
	require.Equal(t, "ufbuild checkpoint 5\n266cd44065da", got, "hint: raise the number in checkpointMagic, then this sum; the types are\n%s", b.String())
}

// BenchmarkMillion reads a journal of a million records: 1,000 addresses, 2,000 builds. "replay" is the same without a checkpoint.
func BenchmarkMillion(b *testing.B) {
	root := b.TempDir()
	j, err := Open(root)
	require.NoError(b, err)
	for build := range 2_000 {
		id := fmt.Sprintf("20261130-120000-%06x", build)
		note := func(r Record) {
			r.Build, r.Time = id, time.Unix(1e9+int64(build), 0).UTC()
			if err := j.Append(r); err != nil {
				b.Fatal(err)
			}
		}
		note(BuildStarted("me"))
		for i := range 249 {
			a := lang.Address{Task: fmt.Sprintf("task%d", (build*249+i)%1000)}
			k := cache.KeyOf(fmt.Appendf(nil, "%d of %d", i, build))
			note(EndedAttempt(a, k, 1, cache.OK, ""))
			note(Selected(a, k, 1, "its input src/a.txt changed"))
		}
		done := BuildEnded(map[string]int{"ran": 249, "fresh": 751})
		done.Complete = build%2 == 0
		note(done)
	}
	require.NoError(b, j.Sync())
	require.NoError(b, j.Close())
	reading := func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			v, _, err := Read(root)
			require.NoError(b, err)
			require.Len(b, maps.Collect(v.EachSelected()), 1000)
		}
	}
	b.Run("checkpoint", reading)
	require.NoError(b, os.Remove(checkpointPath(root)))
	b.Run("replay", reading)
}

func endedOf(v *View) map[lang.Address]Ended {
	out := map[lang.Address]Ended{}
	for a := range v.at {
		if e, ok := v.Ended(a); ok {
			out[a] = e
		}
	}
	return out
}
