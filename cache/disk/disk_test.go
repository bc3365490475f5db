package disk

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/cache/disk/position"
	"github.com/ufbuild/ufbuild/cache/recordlog"
)

var (
	time0    = time.Unix(0, 0)
	context0 = context.Background()

	errNoSpace    error = unix.ENOSPC
	errReadOnlyFS error = unix.EROFS
)

func expired(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

func TestOpenRefuses(t *testing.T) {
	write := func(name, text string) string {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		return dir
	}
	file := filepath.Join(write("file", "x"), "file")
	for _, test := range []struct{ dir, failure string }{
		{"relative", "not absolute"},
		{write("format", "ufbuild store 2\n"), "newer than this version reads\nhint: "},
		{write("format", "PNG"), "not a store"},
		{write("go.mod", "module x"), "not a store: it holds go.mod\nhint: "},
		{file, "not a directory"},
	} {
		for _, readOnly := range []bool{true, false} {
			_, err := Open(test.dir, Options{ReadOnly: readOnly})
			require.ErrorContains(t, err, "open store "+test.dir)
			require.ErrorContains(t, err, test.failure)
		}
	}
}

func TestAStoreWithoutItsMarkIsMarkedAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	s := open(t, dir)
	_, err := cache.PutBytes(s, []byte("x"))
	require.NoError(t, err)
	require.NoError(t, s.Close())
	require.NoError(t, os.Remove(filepath.Join(dir, formatName)))
	s = open(t, dir)
	ok, err := s.Has(digest.Of([]byte("x")))
	require.NoError(t, err)
	require.True(t, ok)
	require.NoError(t, s.Append(cache.EndedRecord(keyOf(1), 1, cache.OK, "", time0)))
	text, err := os.ReadFile(filepath.Join(dir, formatName))
	require.NoError(t, err)
	require.Equal(t, formatText, string(text))
}

// snapshot lists every file below dir with its length and time.
func snapshot(t *testing.T, dir string) string {
	t.Helper()
	var out strings.Builder
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil {
			fmt.Fprintln(&out, path, info.Size(), info.ModTime().UnixNano(), info.Mode())
		}
		return err
	})
	require.NoError(t, err)
	return out.String()
}

func TestReadOnlyWritesNothing(t *testing.T) {
	parent := t.TempDir()
	dir := filepath.Join(parent, "store")
	use := func(want bool) {
		s, err := Open(dir, Options{ReadOnly: true})
		require.NoError(t, err)
		ok, err := s.Has(digest.Of([]byte("x")))
		require.NoError(t, err)
		require.Equal(t, want, ok)
		all, err := s.Attempts(keyOf(1))
		require.NoError(t, err)
		require.Equal(t, want, len(all) == 1)
		_, err = s.Verify(t.Context())
		require.NoError(t, err)
		_, err = s.Usage()
		require.NoError(t, err)
		_, err = s.Campaigns()
		require.NoError(t, err)
		require.NoError(t, s.Sync())
		_, err = cache.PutBytes(s, []byte("y"))
		require.ErrorIs(t, err, ErrReadOnly)
		_, err = cache.PutBytes(s, make([]byte, 1<<20))
		require.ErrorIs(t, err, ErrReadOnly)
		require.ErrorIs(t, s.Append(cache.EndedRecord(keyOf(1), 2, cache.OK, "", time0)), ErrReadOnly)
		require.ErrorIs(t, s.RegisterCampaign("/c"), ErrReadOnly)
		_, err = s.Lock(t.Context(), keyOf(1))
		require.ErrorIs(t, err, ErrReadOnly)
		require.NoError(t, s.Close())
	}
	before := snapshot(t, parent)
	use(false)
	require.Equal(t, before, snapshot(t, parent))

	s := open(t, dir)
	_, err := cache.PutBytes(s, []byte("x"))
	require.NoError(t, err)
	require.NoError(t, s.Append(cache.EndedRecord(keyOf(1), 1, cache.OK, "", time0)))
	require.NoError(t, s.Close())
	for _, path := range []string{logPath(dir, 1), packPath(dir, 1)} { // as a crash leaves them
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		require.NoError(t, err)
		_, err = f.WriteString("torn")
		require.NoError(t, err)
		require.NoError(t, f.Close())
	}
	before = snapshot(t, parent)
	use(true)
	require.Equal(t, before, snapshot(t, parent))
}

func TestReadersThatOpenedBeforeTheStoreExisted(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	r, err := Open(dir, Options{ReadOnly: true})
	require.NoError(t, err)
	require.NoFileExists(t, dir)
	w := open(t, dir)
	require.NoFileExists(t, dir, "opening alone makes nothing")
	d, err := cache.PutBytes(w, []byte("x"))
	require.NoError(t, err)
	require.NoError(t, w.Append(cache.EndedRecord(keyOf(1), 1, cache.OK, "", time0)))
	all, err := r.Attempts(keyOf(1))
	require.NoError(t, err)
	require.Len(t, all, 1)
	ok, err := r.Has(d)
	require.NoError(t, err)
	require.True(t, ok)
	require.NoError(t, r.Close())
}

// As many logs as writers at one time, not as many as there ever were.
func TestFilesStayFew(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	for i := range 20 {
		a, b := open(t, dir), open(t, dir)
		for j, s := range []*Store{a, b} {
			_, err := cache.PutBytes(s, fmt.Appendf(nil, "%d %d", i, j))
			require.NoError(t, err)
			require.NoError(t, s.Append(cache.EndedRecord(keyOf(i), j+1, cache.OK, "", time0)))
		}
		require.NoError(t, a.Close())
		require.NoError(t, b.Close())
	}
	require.Equal(t, []string{"00001.log", "00002.log"}, names(t, dir, "log"))
	require.Equal(t, []string{"00001.pack", "00002.pack"}, names(t, dir, "pack"))
	s := open(t, dir)
	for i := range 20 {
		all, err := s.Attempts(keyOf(i))
		require.NoError(t, err)
		require.Len(t, all, 2)
	}
	u, err := s.Usage()
	require.NoError(t, err)
	require.Equal(t, int64(40), u.Records)
	require.Equal(t, int64(40), u.Packed)
	require.Equal(t, int64(20), u.Keys)
}

func TestDeletedLogsLeaveNoBlindSpot(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	for _, s := range []*Store{open(t, dir), open(t, dir)} {
		require.NoError(t, s.Append(cache.EndedRecord(keyOf(1), 1, cache.OK, "", time0)))
		defer func() { require.NoError(t, s.Close()) }()
	}
	require.NoError(t, os.Remove(logPath(dir, 1)))
	reader, writer := open(t, dir), open(t, dir)
	require.NoError(t, writer.Append(cache.EndedRecord(keyOf(2), 1, cache.OK, "", time0)))
	all, err := reader.Attempts(keyOf(2))
	require.NoError(t, err)
	require.Len(t, all, 1)
	require.Equal(t, []string{"00002.log", "00003.log"}, names(t, dir, "log"))
}

func TestDamagedLogIsReadAroundAndTold(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	s := open(t, dir)
	for n := range 3 {
		require.NoError(t, s.Append(cache.EndedRecord(keyOf(1), n+1, cache.OK, "", time0)))
	}
	require.NoError(t, s.Close())
	flip(t, logPath(dir, 1), s.actions.spots[1].offset+30)
	s = open(t, dir)
	all, err := s.Attempts(keyOf(1))
	require.NoError(t, err)
	require.Len(t, all, 2)
	require.Equal(t, 4, cache.NextOrdinal(all))
	require.Len(t, s.Damage(), 1)
	problems, err := s.Verify(t.Context())
	require.NoError(t, err)
	require.Len(t, problems, 1)
	require.Equal(t, DamagedRecord, problems[0].Kind)
	require.Contains(t, problems[0].String(), logPath(dir, 1))
}

func TestVerify(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	s := open(t, dir)
	put := func(b []byte) digest.Digest {
		d, err := cache.PutBytes(s, b)
		require.NoError(t, err)
		return d
	}
	small, large, fine := put([]byte("small")), put(make([]byte, 1<<20)), put([]byte("fine"))
	text, err := cache.Tree{Entries: []cache.Entry{{Path: "a", Kind: cache.File, Digest: digest.Of([]byte("never stored"))}}}.Encode()
	require.NoError(t, err)
	tree := put(text)
	require.NoError(t, s.Append(cache.CapturedRecord(keyOf(1), 7, cache.Captured{Log: fine, Outputs: []cache.Output{{Name: "t", Exists: true, Tree: true, Digest: tree}}})))
	stray := filepath.Join(dir, "blobs", "stray")
	damage(t, s, small, flip)
	damage(t, s, large, flip)
	require.NoError(t, os.WriteFile(stray, nil, 0o600))

	problems, err := s.Verify(t.Context())
	require.NoError(t, err)
	found := map[ProblemKind][]digest.Digest{}
	for _, p := range problems {
		found[p.Kind] = append(found[p.Kind], p.Digest)
		require.NotEmpty(t, p.String())
	}
	require.ElementsMatch(t, []digest.Digest{small, large}, found[CorruptBlob])
	require.Equal(t, []digest.Digest{digest.Of([]byte("never stored"))}, found[MissingBlob])
	require.Len(t, found[StrayFile], 1)
	require.Len(t, problems, 4)

	put([]byte("small")) // made again
	put(make([]byte, 1<<20))
	put([]byte("never stored"))
	require.NoError(t, os.Remove(stray))
	problems, err = s.Verify(t.Context())
	require.NoError(t, err)
	require.Empty(t, problems)
	_, err = s.Verify(expired(t))
	require.ErrorIs(t, err, context.Canceled)
}

// TestVerifyTellsInOrder: the same damage is told in the same words. What was trimmed while it looked is none.
func TestVerifyTellsInOrder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	s := open(t, dir)
	for i := range 20 {
		d, err := cache.PutBytes(s, append(make([]byte, smallBlob*(i%2)), fmt.Sprint(i, "x")...))
		require.NoError(t, err)
		damage(t, s, d, flip)
	}
	problems, err := s.Verify(t.Context())
	require.NoError(t, err)
	require.Len(t, problems, 20)
	require.True(t, slices.IsSortedFunc(problems, func(a, b Problem) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), cmp.Compare(a.Offset, b.Offset))
	}))
	gone := digest.Of(make([]byte, smallBlob+1))
	v := verification{s: s, suspects: map[digest.Digest]Problem{}}
	require.NoError(t, v.file(s.blobPath(gone), gone))
	require.Empty(t, v.suspects)
}

func TestVerifyTellsGapsInPacks(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	s := open(t, dir)
	for i := range 3 {
		_, err := cache.PutBytes(s, fmt.Appendf(nil, "%d", i))
		require.NoError(t, err)
	}
	damage(t, s, digest.Of([]byte("1")), cut)
	r := open(t, dir)
	problems, err := r.Verify(t.Context())
	require.NoError(t, err)
	require.Len(t, problems, 1)
	require.Equal(t, DamagedPack, problems[0].Kind)
	require.Equal(t, entryLen(1), problems[0].Offset)
	require.Len(t, r.Damage(), 1)
}

// Permissions do not bind root; a file in the way does.
func TestUnwritableStore(t *testing.T) {
	parent := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(parent, "file"), nil, 0o600))
	dir := filepath.Join(parent, "store")
	require.NoError(t, os.Symlink(filepath.Join(parent, "file", "below"), dir))
	s, err := Open(dir, Options{})
	if err == nil {
		_, err = cache.PutBytes(s, []byte("x"))
	}
	require.ErrorContains(t, err, "store "+dir+": ")
}

func TestFaultsCarryHints(t *testing.T) {
	for _, test := range []struct {
		err  error
		want string
	}{
		{os.ErrPermission, "write store /s: permission denied"},
		{&os.PathError{Op: "write", Path: "/s/pack/1", Err: errNoSpace}, "write store /s: write /s/pack/1: no space left on device\nhint: free some space"},
		{errReadOnlyFS, "write store /s: read-only file system\nhint: make the directory writable"},
	} {
		err := fault("write", "/s", test.err)
		require.ErrorIs(t, err, test.err)
		require.True(t, strings.HasPrefix(err.Error(), test.want), "%v", err)
	}
	require.ErrorContains(t, fault("write", "/s", unix.EACCES), "hint: make the directory writable")
	require.ErrorContains(t, fault("read", "/s", unix.EACCES), "hint: make what is in the directory readable")
}

func TestDeletedUnderABuild(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	s := open(t, dir)
	require.NoError(t, s.Append(cache.EndedRecord(keyOf(1), 1, cache.OK, "", time0)))
	require.NoError(t, s.Sync())
	require.NoError(t, os.RemoveAll(dir))
	require.NoError(t, s.Append(cache.EndedRecord(keyOf(1), 2, cache.OK, "", time0)))
	require.ErrorIs(t, s.Sync(), recordlog.ErrGone)
	require.ErrorIs(t, s.Sync(), recordlog.ErrGone, "and is never taken back")
}

func TestSyncCoversWhatOthersWrote(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	a, b := open(t, dir), open(t, dir)
	d, err := cache.PutBytes(a, []byte("x"))
	require.NoError(t, err)
	require.NoError(t, a.Append(cache.EndedRecord(keyOf(1), 1, cache.OK, "", time0)))
	_, err = b.Attempts(keyOf(1))
	require.NoError(t, err)
	_, err = b.Has(d)
	require.NoError(t, err)
	require.Len(t, b.actions.volatile(), 1)
	require.Len(t, b.packs.volatile(), 1)
	require.NoError(t, b.Sync())
	require.Empty(t, b.actions.volatile())
	require.Empty(t, b.packs.volatile())
	require.NotEmpty(t, a.actions.volatile(), "each handle knows what it synced itself")
}

// progress returns how far the only log of s is written and synced.
func progress(s *Store) (written, durable int64) {
	s.actions.mu.Lock()
	defer s.actions.mu.Unlock()
	return s.actions.logs[0].read, s.actions.logs[0].durable
}

func TestConcurrentSyncsShareACommit(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "store"))
	var all sync.WaitGroup
	errs := make(chan error, 64)
	for i := range 64 {
		all.Go(func() {
			err := s.Append(cache.EndedRecord(keyOf(i), 1, cache.OK, "", time0))
			written, _ := progress(s)
			if err == nil {
				err = s.Sync()
			}
			if _, durable := progress(s); err == nil && durable < written {
				err = fmt.Errorf("durable up to %d of %d", durable, written)
			}
			errs <- err
		})
	}
	all.Wait()
	for range 64 {
		require.NoError(t, <-errs)
	}
	require.Empty(t, s.actions.volatile())
}

func TestPosition(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	position := func() string {
		p, err := position.Of(dir)
		require.NoError(t, err)
		return p
	}
	require.Equal(t, "", position())
	s, other := open(t, dir), open(t, dir)
	seen := map[string]bool{"": true}
	for n, w := range []*Store{s, s, other, s, other} {
		require.NoError(t, w.Append(cache.EndedRecord(keyOf(1), n+1, cache.OK, "", time0)))
		p := position()
		require.False(t, seen[p])
		seen[p] = true
		_, err := s.Attempts(keyOf(1))
		require.NoError(t, err)
		_, err = cache.PutBytes(s, []byte("x"))
		require.NoError(t, err)
		require.Equal(t, p, position(), "reading and blobs do not count")
	}
}

func TestLargeBlobsAreReadOnlyFiles(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "store"))
	b := make([]byte, smallBlob+1)
	d, err := cache.PutBytes(s, b)
	require.NoError(t, err)
	info, err := os.Stat(s.blobPath(d))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o400), info.Mode())
	require.Empty(t, names(t, s.dir, "tmp"))
	require.NoError(t, os.Truncate(s.blobPath(d), 10))
	ok, err := s.Has(d)
	require.NoError(t, err)
	require.False(t, ok)
	_, err = s.Open(d)
	require.True(t, cache.IsCorrupt(err))
	_, err = cache.PutBytes(s, b)
	require.NoError(t, err)
	_, err = cache.ReadAll(s, d, -1)
	require.NoError(t, err)
}

func TestClosedStore(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "store"))
	require.NoError(t, s.Close())
	require.NoError(t, s.Close())
	_, err := cache.PutBytes(s, []byte("x"))
	require.ErrorIs(t, err, os.ErrClosed)
	require.ErrorIs(t, s.Append(cache.EndedRecord(keyOf(1), 1, cache.OK, "", time0)), os.ErrClosed)
}
