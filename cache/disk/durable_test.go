package disk

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/cache/effect"
	"github.com/ufbuild/ufbuild/cache/recordlog"
)

// syncs returns what a function makes durable, by path.
func syncs(t *testing.T, do func()) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	effect.Intercept(func(e effect.Effect) *effect.Fault {
		if e.Op == effect.OpSync {
			out[e.Path] = true
		}
		return nil
	})
	defer effect.Intercept(nil)
	do()
	return out
}

// TestNamesOfTheDeadAreMadeDurable: a writer that was killed before it synced left names that nobody made durable. Who goes on in its
// files, or relies on its blobs, does.
func TestNamesOfTheDeadAreMadeDurable(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	large := make([]byte, smallBlob+1)
	dead := open(t, dir)
	d, err := cache.PutBytes(dead, large)
	require.NoError(t, err)
	_, err = cache.PutBytes(dead, []byte("small"))
	require.NoError(t, err)
	require.NoError(t, dead.Append(cache.EndedRecord(keyOf(1), 1, cache.OK, "", time0)))
	require.NoError(t, dead.Close())

	for _, relies := range []func(*Store){
		func(s *Store) { ok, err := s.Has(d); require.NoError(t, err); require.True(t, ok) },
		func(s *Store) { _, err := cache.PutBytes(s, large); require.NoError(t, err) },
	} {
		s := open(t, dir)
		require.NoError(t, s.Append(cache.EndedRecord(keyOf(2), 1, cache.OK, "", time0)))
		_, err = cache.PutBytes(s, []byte("small too"))
		require.NoError(t, err)
		relies(s)
		made := syncs(t, func() { require.NoError(t, s.Sync()) })
		for _, name := range []string{filepath.Dir(dir), dir, dir + "/log", dir + "/pack", dir + "/blobs", filepath.Dir(s.blobPath(d)), logPath(dir, 1), packPath(dir, 1)} {
			require.True(t, made[name], "%s", name)
		}
		require.Empty(t, syncs(t, func() { require.NoError(t, s.Sync()) }), "once is enough")
		require.NoError(t, s.Close())
	}
}

// TestNoRecordGetsAheadOfItsBlob lets a large blob and its record come while a commit looks what there is to be made durable: where it
// takes the record, it takes the name of the blob too.
func TestNoRecordGetsAheadOfItsBlob(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	s := open(t, dir)
	require.NoError(t, s.Append(cache.EndedRecord(keyOf(1), 1, cache.OK, "", time0)))
	require.NoError(t, s.Sync())
	s.actions.mu.Lock() // where the commit waits to see the records
	done := make(chan error)
	go func() { done <- s.Sync() }()
	begun := func() bool {
		s.commits.mu.Lock()
		defer s.commits.mu.Unlock()
		return s.commits.next == nil
	}
	for !begun() || s.commits.running.TryLock() {
		if begun() {
			s.commits.running.Unlock() // it was not there yet
		}
		runtime.Gosched()
	}
	for range 1000 {
		runtime.Gosched()
	}
	s.nameOf(s.blobPath(digest.Of([]byte("large"))))
	s.actions.mu.Unlock()
	require.ErrorContains(t, <-done, "blobs", "the commit that may have the record wants the blob, which this test did not make")
}

// TestADeletedPackIsNotDurable: also when this handle learned of the deletion by looking for another one's blobs.
func TestADeletedPackIsNotDurable(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	s, other := open(t, dir), open(t, dir)
	_, err := cache.PutBytes(s, []byte("its own"))
	require.NoError(t, err)
	_, err = cache.PutBytes(other, []byte("of the other"))
	require.NoError(t, err)
	ok, err := s.Has(digest.Of([]byte("of the other")))
	require.NoError(t, err)
	require.True(t, ok)
	require.NoError(t, s.Sync())
	for id := 1; id <= 2; id++ {
		require.NoError(t, os.Remove(packPath(dir, id)))
	}
	ok, err = s.Has(digest.Of([]byte("nowhere")))
	require.NoError(t, err)
	require.False(t, ok)
	_, err = cache.PutBytes(s, []byte("paid for"))
	require.NoError(t, err)
	require.ErrorIs(t, s.Sync(), recordlog.ErrGone)
}

// TestStraysDoNotStrand: names that nobody gives keep no store from being opened, and no campaign from being listed.
func TestStraysDoNotStrand(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	s := open(t, dir)
	require.NoError(t, s.RegisterCampaign("/c"))
	_, err := cache.PutBytes(s, []byte("x"))
	require.NoError(t, err)
	require.NoError(t, s.Close())
	for _, name := range []string{"log/7.log", "log/+0008.log", "log/000009.log", "log/x.log", "pack/7.pack", "pack/-0001.pack"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	// What another process renames between the listing and the reading is gone by then.
	require.NoError(t, os.Symlink("gone", filepath.Join(dir, "campaigns", digest.Of([]byte("/d")).Hex()[:32]+".123")))
	s = open(t, dir)
	ok, err := s.Has(digest.Of([]byte("x")))
	require.NoError(t, err)
	require.True(t, ok)
	roots, err := s.Campaigns()
	require.NoError(t, err)
	require.Equal(t, []string{"/c"}, roots)
	require.NoError(t, s.Append(cache.EndedRecord(keyOf(1), 1, cache.OK, "", time0)))
	require.Equal(t, 1, s.writer.id)
}
