package recordlog

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache/effect"
)

func open(t *testing.T, path string) *Writer {
	t.Helper()
	w, err := OpenWriter(path)
	require.NoError(t, err)
	t.Cleanup(func() { _ = w.Close() })
	return w
}

func payloads(t *testing.T, path string) ([]string, Tail) {
	t.Helper()
	var got []string
	tail, err := ReadFile(path, func(p []byte) error {
		got = append(got, string(p))
		return nil
	})
	require.NoError(t, err)
	return got, tail
}

func TestAppendIsVisibleAtOnceAndReadable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.log")
	w := open(t, path)
	offset, size, err := w.Append([]byte(`{"a":1}`))
	require.NoError(t, err)
	_, _, err = w.Append([]byte("two"))
	require.NoError(t, err)
	got, tail := payloads(t, path)
	require.Equal(t, []string{`{"a":1}`, "two"}, got)
	require.Equal(t, Tail{End: w.End()}, tail)
	p, err := ReadRecord(w, offset, size, nil)
	require.NoError(t, err)
	require.Equal(t, `{"a":1}`, string(p))
	for _, size := range []int{-1, 0, headLen, size - 2, size + 1, MaxPayload * 2} {
		_, err := ReadRecord(w, offset, size, nil)
		require.Error(t, err, "%d bytes", size)
	}
	_, err = ReadRecord(w, -1, size, nil)
	require.Error(t, err)
	require.NoError(t, w.Sync())
}

func TestAppendAllIsOneWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.log")
	w := open(t, path)
	_, _, err := w.Append([]byte("before"))
	require.NoError(t, err)
	writes, half := 0, false
	effect.Intercept(func(e effect.Effect) *effect.Fault {
		if e.Op != effect.OpWrite {
			return nil
		}
		if writes++; half {
			return &effect.Fault{Half: true, Err: os.ErrPermission}
		}
		return nil
	})
	t.Cleanup(func() { effect.Intercept(nil) })
	all := func(wrote func(int64, int), texts ...string) error {
		return w.AppendAll(len(texts), func(i int, b []byte) ([]byte, error) {
			if texts[i] == "bad" {
				return nil, os.ErrInvalid
			}
			return append(b, texts[i]...), nil
		}, wrote)
	}
	var at [][2]int64
	var read []string
	require.NoError(t, all(func(offset int64, size int) {
		at = append(at, [2]int64{offset, int64(size)})
	}, "one", "the second", "3"))
	require.NoError(t, all(nil))
	for _, x := range at {
		p, err := ReadRecord(w, x[0], int(x[1]), nil)
		require.NoError(t, err)
		read = append(read, string(p))
	}
	require.Equal(t, []string{"one", "the second", "3"}, read)
	require.Equal(t, 1, writes)
	// What is an error leaves nothing, whichever of them is to blame.
	half = true
	require.ErrorIs(t, all(nil, "one", "two"), os.ErrPermission)
	half = false
	require.ErrorIs(t, all(nil, "small", strings.Repeat("x", MaxPayload+1)), ErrTooLong)
	require.Panics(t, func() { _ = all(nil, "good", "a\nb") })
	require.ErrorIs(t, all(nil, "good", "bad"), os.ErrInvalid)
	_, _, err = w.Append([]byte("after"))
	require.NoError(t, err)
	got, tail := payloads(t, path)
	require.Equal(t, []string{"before", "one", "the second", "3", "after"}, got)
	require.Equal(t, Tail{End: w.End()}, tail)
}

func TestOneWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.log")
	w, err := OpenWriter(path)
	require.NoError(t, err)
	_, err = OpenWriter(path)
	require.ErrorIs(t, err, ErrLocked)
	require.NoError(t, w.Close())
	w, err = OpenWriter(path)
	require.NoError(t, err)
	require.NoError(t, w.Close())
}

func TestMissingLogIsEmpty(t *testing.T) {
	got, tail := payloads(t, filepath.Join(t.TempDir(), "none.log"))
	require.Empty(t, got)
	require.Equal(t, Tail{}, tail)
}

// Whatever prefix of the file a crash leaves, the finished records are there and appending goes on behind them.
func TestEveryTornTail(t *testing.T) {
	dir := t.TempDir()
	w := open(t, filepath.Join(dir, "whole.log"))
	var ends []int64
	for i := range 3 {
		_, _, err := w.Append(fmt.Appendf(nil, "record %d", i))
		require.NoError(t, err)
		ends = append(ends, w.End())
	}
	whole, err := os.ReadFile(filepath.Join(dir, "whole.log"))
	require.NoError(t, err)
	for cut := range len(whole) + 1 {
		path := filepath.Join(dir, fmt.Sprintf("cut%d.log", cut))
		require.NoError(t, os.WriteFile(path, whole[:cut], 0o600))
		var want []string
		for i, end := range ends {
			if int64(cut) >= end-1 { // all but the newline is proof enough
				want = append(want, fmt.Sprintf("record %d", i))
			}
		}
		again := open(t, path)
		_, _, err := again.Append([]byte("next"))
		require.NoError(t, err)
		got, tail := payloads(t, path)
		require.Equal(t, append(want, "next"), got, "cut at %d", cut)
		require.Empty(t, tail.Damage)
		require.Zero(t, tail.Torn)
	}
}

func TestReaderLeavesATornTailAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.log")
	w := open(t, path)
	_, _, err := w.Append([]byte("whole"))
	require.NoError(t, err)
	end := w.End()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString("01234567 torn")
	require.NoError(t, err)
	require.NoError(t, f.Close())
	got, tail := payloads(t, path)
	require.Equal(t, []string{"whole"}, got)
	require.Equal(t, Tail{End: end, Torn: 13}, tail)
}

// Flipping any one byte loses at most the records that share a line with it, and says so.
func TestEveryFlippedByte(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.log")
	w := open(t, path)
	want := []string{"zero", "one", "two"}
	for _, p := range want {
		_, _, err := w.Append([]byte(p))
		require.NoError(t, err)
	}
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	for i := range whole {
		b := bytes.Clone(whole)
		b[i] ^= 0x15
		var got []string
		tail, err := Scan(bytes.NewReader(b), 0, func(_ int64, _ int, p []byte) error {
			got = append(got, string(p))
			return nil
		})
		require.NoError(t, err)
		require.Subset(t, want, got)
		require.GreaterOrEqual(t, len(got), 1, "byte %d", i)
		require.True(t, len(tail.Damage) == 1 || tail.Torn > 0, "byte %d: nothing said", i)
	}
}

func TestScanGoesOnWhereItStopped(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.log")
	w := open(t, path)
	var from int64
	for i := range 5 {
		_, _, err := w.Append(fmt.Appendf(nil, "%d", i))
		require.NoError(t, err)
		n := 0
		tail, err := Scan(w, from, func(_ int64, _ int, p []byte) error {
			n++
			require.Equal(t, fmt.Sprint(i), string(p))
			return nil
		})
		require.NoError(t, err)
		require.Equal(t, 1, n)
		from = tail.End
	}
}

func TestLongRecordsAndLongDamage(t *testing.T) {
	long := strings.Repeat("x", 3*chunk)
	var b []byte
	b = appendLine(b, []byte(long))
	b = append(b, bytes.Repeat([]byte{0}, MaxPayload+2*chunk)...)
	b = append(b, '\n')
	b = appendLine(b, []byte("after"))
	var got []string
	tail, err := Scan(bytes.NewReader(b), 0, func(_ int64, _ int, p []byte) error {
		got = append(got, string(p))
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, []string{long, "after"}, got)
	require.Len(t, tail.Damage, 1)
	require.Equal(t, int64(MaxPayload+2*chunk+1), tail.Damage[0].Length)
	require.Equal(t, int64(len(b)), tail.End)
}

func TestSyncOfADeletedLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.log")
	w := open(t, path)
	require.NoError(t, os.Remove(path))
	require.ErrorIs(t, w.Sync(), ErrGone)
}

func TestUnfitPayloads(t *testing.T) {
	w := open(t, filepath.Join(t.TempDir(), "a.log"))
	require.Panics(t, func() { _, _, _ = w.Append(nil) })
	require.Panics(t, func() { _, _, _ = w.Append([]byte("a\nb")) })
	long := bytes.Repeat([]byte("x"), MaxPayload)
	_, _, err := w.Append(append(long, 'x'))
	require.ErrorIs(t, err, ErrTooLong)
	require.Zero(t, w.End(), "nothing was written")
	offset, size, err := w.Append(long)
	require.NoError(t, err)
	got, err := ReadRecord(w, offset, size, nil)
	require.NoError(t, err)
	require.True(t, bytes.Equal(long, got))
}

// TestSyncMakesTheNameDurable: also that of a log which somebody else made who never synced it. Once is enough.
func TestSyncMakesTheNameDurable(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.log")
	made, err := OpenWriter(path)
	require.NoError(t, err)
	require.NoError(t, made.Close())
	w := open(t, path)
	var synced []string
	effect.Intercept(func(e effect.Effect) *effect.Fault {
		if e.Op == effect.OpSync {
			synced = append(synced, e.Path)
		}
		return nil
	})
	t.Cleanup(func() { effect.Intercept(nil) })
	for range 2 {
		_, _, err := w.Append([]byte("x"))
		require.NoError(t, err)
		require.NoError(t, w.Sync())
	}
	require.Equal(t, []string{path, dir, path}, synced)
}

// FuzzScan splices damage into a log: no panic, every byte accounted for, and nothing yielded that was not written.
func FuzzScan(f *testing.F) {
	f.Add([]byte("junk\n"), uint16(3), uint16(2))
	f.Add([]byte("00000000 \n"), uint16(0), uint16(0))
	f.Add([]byte{0, 0, 0, 10}, uint16(20), uint16(40))
	f.Fuzz(func(t *testing.T, junk []byte, at, drop uint16) {
		var b []byte
		written := map[string]bool{}
		for i := range 4 {
			p := fmt.Sprintf("payload %d of the log", i)
			written[p] = true
			b = appendLine(b, []byte(p))
		}
		from := min(int(at), len(b))
		to := min(from+int(drop), len(b))
		b = append(append(bytes.Clone(b[:from]), junk...), b[to:]...)
		var last int64
		tail, err := Scan(bytes.NewReader(b), 0, func(off int64, size int, p []byte) error {
			if !written[string(p)] && !bytes.Contains(junk, p) {
				t.Fatalf("yielded %q", p)
			}
			if off < last {
				t.Fatalf("offset went back to %d", off)
			}
			last = off + int64(size)
			return nil
		})
		if err != nil || tail.End+tail.Torn != int64(len(b)) {
			t.Fatalf("tail %+v, error %v, want %d bytes", tail, err, len(b))
		}
	})
}
