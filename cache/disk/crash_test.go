package disk

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
)

// childMode makes the test binary a process of its own that can be killed or starved.
const childMode = "UFBUILD_DISK_TEST_CHILD"

func TestMain(m *testing.M) {
	switch mode, dir, _ := strings.Cut(os.Getenv(childMode), " "); mode {
	case "write":
		writeForever(dir)
	case "lock":
		lockForever(dir)
	case "starve":
		starve(dir)
	case "trim":
		trimUntil(dir)
	}
	os.Exit(m.Run())
}

func child(t *testing.T, mode, dir string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childMode+"="+mode+" "+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd, bufio.NewScanner(out)
}

func must(err error) {
	if err != nil {
		fmt.Println("child:", err)
		os.Exit(1)
	}
}

// blobOf is the blob of attempt n: every fifth is large.
func blobOf(n int) []byte {
	b := fmt.Appendf(nil, "blob %d", n)
	if n%5 == 0 {
		b = append(b, make([]byte, smallBlob)...)
	}
	return b
}

// writeForever prints the ordinal of each attempt once its blob and record are stored, and never ends by itself.
func writeForever(dir string) {
	s, err := Open(dir, Options{})
	must(err)
	k := keyOf(0)
	all, err := s.Attempts(k)
	must(err)
	for n := cache.NextOrdinal(all); ; n++ {
		d, err := cache.PutBytes(s, blobOf(n))
		must(err)
		must(s.Append(cache.CapturedRecord(k, n, cache.Captured{Log: d})))
		fmt.Println(n)
	}
}

func lockForever(dir string) {
	s, err := Open(dir, Options{})
	must(err)
	_, err = s.Lock(context0, keyOf(0))
	must(err)
	fmt.Println("locked")
	select {}
}

// Killed at any instruction, a writer loses nothing it appended, and its successor goes on in the same files.
func TestKilledWriters(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	acknowledged := 0
	for round := range 8 {
		cmd, out := child(t, "write", dir)
		for i := 0; i < 3+round*7 && out.Scan(); i++ {
			_, err := fmt.Sscan(out.Text(), &acknowledged)
			require.NoError(t, err, out.Text())
		}
		require.NoError(t, cmd.Process.Kill())
		for out.Scan() { // what it said before it died; a number cut short is a smaller one
			n := 0
			_, _ = fmt.Sscan(out.Text(), &n)
			acknowledged = max(acknowledged, n)
		}
		_ = cmd.Wait()
		reader, err := Open(dir, Options{ReadOnly: true})
		require.NoError(t, err)
		all, err := reader.Attempts(keyOf(0))
		require.NoError(t, err)
		require.GreaterOrEqual(t, len(all), acknowledged)
		for i, a := range all {
			require.Equal(t, i+1, a.Ordinal)
			require.Equal(t, digest.Of(blobOf(i+1)), a.Captured.Log)
			b, err := cache.ReadAll(reader, a.Captured.Log, -1)
			require.NoError(t, err)
			require.Equal(t, digest.Of(blobOf(i+1)), digest.Of(b))
		}
		problems, err := reader.Verify(t.Context())
		require.NoError(t, err)
		require.Empty(t, problems)
		require.NoError(t, reader.Close())
	}
	s := open(t, dir)
	require.NoError(t, s.Append(cache.EndedRecord(keyOf(1), 1, cache.OK, "", time0)))
	require.Equal(t, []string{"00001.log"}, names(t, dir, "log"))
	require.Equal(t, []string{"00001.pack"}, names(t, dir, "pack"))
	require.Empty(t, names(t, dir, "tmp"), "what a dead writer left there is gone")
}

func names(t *testing.T, dir, sub string) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(dir, sub))
	require.NoError(t, err)
	var out []string
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".idx") {
			out = append(out, e.Name())
		}
	}
	return out
}

func TestKilledHolderGivesUpItsLock(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	cmd, out := child(t, "lock", dir)
	require.True(t, out.Scan())
	require.Equal(t, "locked", out.Text())
	s := open(t, dir)
	_, err := s.Lock(expired(t), keyOf(0))
	require.Error(t, err, "the child has it")
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	release, err := s.Lock(t.Context(), keyOf(0))
	require.NoError(t, err)
	release()
}

// starve runs the store out of space at every size of its files: a limit on file length fails writes half-way, as a full disk
// does. What was acknowledged stays readable, nothing half-written shows, and when space is back the store goes on.
func starve(dir string) {
	signal.Ignore(unix.SIGXFSZ)
	s, err := Open(dir, Options{})
	must(err)
	k := keyOf(0)
	var whole unix.Rlimit
	must(unix.Getrlimit(unix.RLIMIT_FSIZE, &whole))
	acknowledged, failures := 0, 0
	for limit := uint64(0); limit < 4000; limit += 37 {
		must(unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: limit, Max: whole.Max}))
		n := acknowledged + 1
		d, err := cache.PutBytes(s, blobOf(n))
		if err == nil {
			err = s.Append(cache.CapturedRecord(k, n, cache.Captured{Log: d}))
		}
		must(unix.Setrlimit(unix.RLIMIT_FSIZE, &whole))
		if err == nil {
			acknowledged = n
		} else if failures++; !errors.Is(err, unix.EFBIG) || !strings.HasPrefix(err.Error(), "write store "+dir+": ") {
			must(fmt.Errorf("wrong error: %w", err))
		}
		all, err := s.Attempts(k)
		must(err)
		if len(all) != acknowledged {
			must(fmt.Errorf("%d attempts, want %d", len(all), acknowledged))
		}
	}
	must(s.Append(cache.CapturedRecord(k, acknowledged+1, cache.Captured{})))
	must(s.Sync())
	fmt.Println(acknowledged, failures)
	os.Exit(0)
}

func TestNoSpace(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	_, out := child(t, "starve", dir)
	require.True(t, out.Scan())
	var acknowledged, failures int
	_, err := fmt.Sscan(out.Text(), &acknowledged, &failures)
	require.NoError(t, err, out.Text())
	require.Greater(t, acknowledged, 3)
	require.Greater(t, failures, 10)
	s := open(t, dir)
	all, err := s.Attempts(keyOf(0))
	require.NoError(t, err)
	require.Len(t, all, acknowledged+1)
	problems, err := s.Verify(t.Context())
	require.NoError(t, err)
	require.Empty(t, problems)
}

// Whatever prefix of a pack a crash leaves, its whole entries are there and a writer goes on behind them.
func TestEveryTornPack(t *testing.T) {
	whole := filepath.Join(t.TempDir(), "store")
	s := open(t, whole)
	var blobs [][]byte
	var ends []int64
	for i := range 4 {
		b := bytes.Repeat([]byte{byte(i)}, i*40)
		_, err := cache.PutBytes(s, b)
		require.NoError(t, err)
		blobs = append(blobs, b)
		ends = append(ends, s.packs.own.end)
	}
	pack, err := os.ReadFile(packPath(whole, 1))
	require.NoError(t, err)
	base := t.TempDir()
	for cut := 0; cut <= len(pack); cut += 7 {
		dir := filepath.Join(base, fmt.Sprint(cut))
		require.NoError(t, os.MkdirAll(filepath.Join(dir, "pack"), 0o700))
		require.NoError(t, os.WriteFile(packPath(dir, 1), pack[:cut], 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(dir, formatName), []byte(formatText), 0o600)) // spares a sync each time
		s, err := Open(dir, Options{})
		require.NoError(t, err)
		for i, b := range blobs {
			ok, err := s.Has(digest.Of(b))
			require.NoError(t, err)
			require.Equal(t, int64(cut) >= ends[i], ok, "blob %d, cut at %d", i, cut)
		}
		for _, b := range append(blobs, []byte("more")) {
			_, err := cache.PutBytes(s, b)
			require.NoError(t, err)
		}
		require.NoError(t, s.Close())
		s, err = Open(dir, Options{ReadOnly: true})
		require.NoError(t, err)
		for _, b := range append(blobs, []byte("more")) {
			have, err := cache.ReadAll(s, digest.Of(b), -1)
			require.NoError(t, err)
			require.True(t, bytes.Equal(b, have))
		}
		problems, err := s.Verify(t.Context())
		require.NoError(t, err)
		require.Empty(t, problems)
		require.NoError(t, s.Close())
	}
}

// Flipping a byte of a pack harms one blob at most, and no wrong byte is ever handed out.
func TestEveryFlippedByteOfAPack(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	s := open(t, dir)
	blobs := [][]byte{{}, []byte("one"), bytes.Repeat([]byte("two "), 30), []byte("three")}
	for _, b := range blobs {
		_, err := cache.PutBytes(s, b)
		require.NoError(t, err)
	}
	path := packPath(dir, 1)
	pack, err := os.ReadFile(path)
	require.NoError(t, err)
	for i := 0; i < len(pack); i += 3 {
		broken := bytes.Clone(pack)
		broken[i] ^= 0x21
		require.NoError(t, os.WriteFile(path, broken, 0o600))
		r, err := Open(dir, Options{ReadOnly: true})
		require.NoError(t, err)
		good := 0
		for _, b := range blobs {
			have, err := cache.ReadAll(r, digest.Of(b), -1)
			if err == nil {
				require.True(t, bytes.Equal(b, have))
				good++
			} else {
				require.True(t, cache.IsCorrupt(err) || cache.IsMissing(err), "%v", err)
			}
		}
		require.GreaterOrEqual(t, good, len(blobs)-1, "byte %d", i)
		require.NoError(t, r.Close())
	}
}

func FuzzScanPack(f *testing.F) {
	entry := func(b []byte) []byte {
		frame := make([]byte, headerLen, headerLen+len(b)+1)
		putHeader(frame, digest.Of(b))
		return append(append(frame, b...), '\n')
	}
	f.Add(entry([]byte("x")), uint16(0))
	f.Add([]byte("blob b3:blob b3:"), uint16(40))
	f.Add(entry(entry(nil)), uint16(200))
	f.Fuzz(func(t *testing.T, junk []byte, at uint16) {
		whole := append(entry([]byte("first")), entry([]byte("second"))...)
		i := min(int(at), len(whole))
		b := append(append(bytes.Clone(whole[:i]), junk...), whole[i:]...)
		last := int64(0)
		end, gaps, err := scanPack(bytes.NewReader(b), 0, int64(len(b)), func(d digest.Digest, offset int64) {
			if offset < last || offset+entryLen(d.Size) > int64(len(b)) {
				t.Fatalf("entry of %d bytes at %d of %d", d.Size, offset, len(b))
			}
			last = offset + entryLen(d.Size)
		})
		if err != nil || end != last {
			t.Fatalf("end %d, last %d, %v, %v", end, last, gaps, err)
		}
	})
}

// Bytes that are put once more mend a copy that nobody knew to be damaged: they may be the only good ones.
func TestPutMendsUnseenDamage(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	for name, b := range map[string][]byte{"small": []byte("small and paid for"), "large": bytes.Repeat([]byte("paid for"), smallBlob)} {
		for _, seekable := range []bool{true, false} {
			s := open(t, dir)
			d, err := cache.PutBytes(s, b)
			require.NoError(t, err)
			require.NoError(t, s.Close())
			path := packPath(dir, 1)
			if name == "large" {
				path = s.blobPath(d)
			}
			whole, err := os.ReadFile(path)
			require.NoError(t, err)
			require.NoError(t, os.Chmod(path, 0o600))
			require.NoError(t, os.WriteFile(path, bytes.ReplaceAll(whole, []byte("paid for"), []byte("paid fur")), 0o600))

			s = open(t, dir)
			var r io.Reader = bytes.NewReader(b)
			if !seekable {
				r = struct{ io.Reader }{r}
			}
			again, err := s.Put(r)
			require.NoError(t, err)
			require.Equal(t, d, again)
			have, err := cache.ReadAll(s, d, -1)
			require.NoError(t, err, "%s, seekable %v", name, seekable)
			require.True(t, bytes.Equal(b, have))
			require.NoError(t, s.Close())
		}
	}
}
