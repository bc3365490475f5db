package disk

import (
	"bytes"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
)

// putAttempts stores attempts 1 to n of one key, each with one blob; see blobOf.
func putAttempts(t *testing.T, s *Store, n int) {
	t.Helper()
	for i := 1; i <= n; i++ {
		d, err := cache.PutBytes(s, blobOf(i))
		require.NoError(t, err)
		require.NoError(t, s.Append(cache.CapturedRecord(keyOf(0), i, cache.Captured{Log: d})))
	}
	require.NoError(t, s.Sync())
}

func these(t Trimming) func() (Trimming, error) {
	return func() (Trimming, error) { return t, nil }
}

// evens lets go every second attempt of the n.
func evens(n int) Trimming {
	out := Trimming{Blobs: map[digest.Digest]bool{}}
	for i := 2; i <= n; i += 2 {
		out.Attempts = append(out.Attempts, AttemptID{keyOf(0), i})
		out.Blobs[digest.Of(blobOf(i))] = true
	}
	return out
}

// requireTrimmed holds a store to what Trim promises of attempts 1 to n.
func requireTrimmed(t *testing.T, s *Store, n int, gone bool) {
	t.Helper()
	all, err := s.Attempts(keyOf(0))
	require.NoError(t, err)
	require.Len(t, all, n, "records stay")
	for i := 1; i <= n; i++ {
		b, err := cache.ReadAll(s, digest.Of(blobOf(i)), -1)
		if i%2 == 0 && gone {
			require.True(t, cache.IsMissing(err), "blob %d: %v", i, err)
		} else if i%2 == 1 {
			require.NoError(t, err, "blob %d", i)
			require.True(t, bytes.Equal(blobOf(i), b))
		}
	}
	problems, err := s.Verify(t.Context())
	require.NoError(t, err)
	require.Empty(t, problems)
}

func TestTrim(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	writer := open(t, dir)
	putAttempts(t, writer, 20)
	stale := open(t, dir) // looks before the trim and goes on after it
	requireBlobs(t, stale, 20)
	other := open(t, dir)
	_, err := other.Trim(t.Context(), these(evens(20)))
	require.ErrorIs(t, err, ErrInUse)
	require.ErrorContains(t, err, "hint: ")
	require.NoError(t, writer.Close())
	freed, err := other.Trim(t.Context(), these(evens(20)))
	require.NoError(t, err)
	require.EqualValues(t, 10, freed.Blobs)
	require.Greater(t, freed.Bytes, int64(2*smallBlob))
	requireTrimmed(t, other, 20, true)
	reader, err := Open(dir, Options{ReadOnly: true})
	require.NoError(t, err)
	requireTrimmed(t, reader, 20, true)
	require.NoError(t, reader.Close())

	// What was trimmed must be stored when it is put again, whatever a handle saw before.
	for i := 1; i <= 20; i++ {
		_, err := cache.PutBytes(stale, blobOf(i))
		require.NoError(t, err)
	}
	require.NoError(t, stale.Sync())
	requireBlobs(t, open(t, dir), 20)
}

func requireBlobs(t *testing.T, s *Store, n int) {
	t.Helper()
	for i := 1; i <= n; i++ {
		_, err := cache.ReadAll(s, digest.Of(blobOf(i)), -1)
		require.NoError(t, err)
	}
}

func TestTrimOfNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	_, err := open(t, dir).Trim(t.Context(), these(evens(4)))
	require.NoError(t, err)
	require.NoDirExists(t, dir)
	s := open(t, dir)
	putAttempts(t, s, 3)
	require.NoError(t, s.Close())
	before := snapshot(t, filepath.Join(dir, "pack"))
	_, err = open(t, dir).Trim(t.Context(), these(Trimming{Blobs: map[digest.Digest]bool{digest.Of([]byte("other")): true}}))
	require.NoError(t, err)
	require.Equal(t, before, snapshot(t, filepath.Join(dir, "pack")), "a pack with nothing to remove is left alone")
}

// What goes with it is counted too: the second copy that two writers made of what stays.
func TestTrimCountsSecondCopies(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	a, b := open(t, dir), open(t, dir)
	for _, blob := range []string{"goes", "stays"} { // the second one each without a look at what the other put
		for _, s := range []*Store{a, b} {
			_, err := cache.PutBytes(s, []byte(blob))
			require.NoError(t, err)
		}
	}
	require.NoError(t, a.Close())
	require.NoError(t, b.Close())
	freed, err := open(t, dir).Trim(t.Context(), these(Trimming{Blobs: map[digest.Digest]bool{digest.Of([]byte("goes")): true}}))
	require.NoError(t, err)
	require.Equal(t, Freed{Blobs: 2, Bytes: entryLen(int64(len("goes"))) + entryLen(int64(len("stays")))}, freed)
}

// A campaign that is registered again holds the store, though it has written nothing yet.
func TestRegisteredHandleIsNotTrimmedUnder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	s := open(t, dir)
	require.NoError(t, s.RegisterCampaign("/c"))
	putAttempts(t, s, 2)
	require.NoError(t, s.Close())
	building := open(t, dir)
	require.NoError(t, building.RegisterCampaign("/c"))
	_, err := open(t, dir).Trim(t.Context(), these(evens(2)))
	require.ErrorIs(t, err, ErrInUse)
}

// What Verify calls missing is what was lost, not what was let go.
func TestVerifyTellsLostFromTrimmed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	s := open(t, dir)
	putAttempts(t, s, 10)
	require.NoError(t, s.Close())
	s = open(t, dir)
	_, err := s.Trim(t.Context(), these(evens(10)))
	require.NoError(t, err)
	damage(t, s, digest.Of(blobOf(5)), cut)
	problems, err := s.Verify(t.Context())
	require.NoError(t, err)
	require.Len(t, problems, 1)
	require.Equal(t, MissingBlob, problems[0].Kind)
	require.Equal(t, 5, problems[0].Ordinal)
}

// trimUntil is a process that ends without another word at the n-th step of a trim.
func trimUntil(arg string) {
	dir, count, _ := strings.Cut(arg, " ")
	n, err := strconv.Atoi(count)
	must(err)
	s, err := Open(dir, Options{})
	must(err)
	s.use.step = func(string) {
		if n--; n == 0 {
			fmt.Println("died")
			os.Exit(9)
		}
	}
	_, err = s.Trim(context0, these(evens(20)))
	must(err)
	fmt.Println("done")
	os.Exit(0)
}

// Killed between any two steps, a trim has removed nothing that stays, and the next one finishes its work.
func TestCrashDuringTrim(t *testing.T) {
	for n, done := 1, false; !done; n++ {
		dir := filepath.Join(t.TempDir(), "store")
		s := open(t, dir)
		putAttempts(t, s, 10)
		two := open(t, dir) // a second pack
		for i := 11; i <= 20; i++ {
			d, err := cache.PutBytes(two, blobOf(i))
			require.NoError(t, err)
			require.NoError(t, two.Append(cache.CapturedRecord(keyOf(0), i, cache.Captured{Log: d})))
		}
		require.NoError(t, two.Sync())
		require.NoError(t, two.Close())
		require.NoError(t, s.Close())
		cmd, out := child(t, "trim", dir+" "+strconv.Itoa(n))
		require.True(t, out.Scan())
		done = out.Text() == "done"
		_ = cmd.Wait()
		requireTrimmed(t, open(t, dir), 20, done)
		again := open(t, dir)
		_, err := again.Trim(t.Context(), these(evens(20)))
		require.NoError(t, err)
		requireTrimmed(t, again, 20, true)
		require.Greater(t, n, 0)
		require.Less(t, n, 100)
	}
}

// Random puts and trims against a map, with a handle for each: nothing that stays is lost, logs do not pile up.
func TestTrimAgainstModel(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	rnd := rand.New(rand.NewSource(1))
	model := map[digest.Digest][]byte{}
	for round := range 40 {
		s, err := Open(dir, Options{})
		require.NoError(t, err)
		for range rnd.Intn(8) {
			b := fmt.Appendf(nil, "blob %d", rnd.Intn(60))
			if rnd.Intn(6) == 0 {
				b = append(b, make([]byte, smallBlob)...)
			}
			d, err := cache.PutBytes(s, b)
			require.NoError(t, err)
			model[d] = b
		}
		require.NoError(t, s.Close())
		s, err = Open(dir, Options{})
		require.NoError(t, err)
		drop := Trimming{Blobs: map[digest.Digest]bool{}}
		for d := range model {
			if rnd.Intn(4) == 0 {
				drop.Blobs[d] = true
				delete(model, d)
			}
		}
		_, err = s.Trim(t.Context(), these(drop))
		require.NoError(t, err)
		for d := range drop.Blobs {
			ok, err := s.Has(d)
			require.NoError(t, err)
			require.False(t, ok, "round %d", round)
		}
		for d, want := range model {
			b, err := cache.ReadAll(s, d, -1)
			require.NoError(t, err, "round %d", round)
			require.True(t, bytes.Equal(want, b))
		}
		require.NoError(t, s.Close())
	}
	require.LessOrEqual(t, len(names(t, dir, "log")), 3)
}
