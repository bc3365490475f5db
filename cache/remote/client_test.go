package remote_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/cache/remote"
	"github.com/ufbuild/ufbuild/cache/remote/remotetest"
)

// quick makes a client whose waits are short.
var quick = remote.Options{Version: "1.2.3", Build: "build-7", Backoff: time.Millisecond}

func dial(t *testing.T, s *remotetest.Server, o remote.Options) *remote.Client {
	t.Helper()
	c, err := remote.Dial(t.Context(), s.URL(), o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c
}

// short is 1 in a short run.
func short() int {
	if testing.Short() {
		return 1
	}
	return 0
}

// noise returns n bytes that do not compress; text returns n that do.
func noise(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{byte(n), byte(n >> 8), byte(n >> 16)}).Read(b)
	return b
}

func text(n int) []byte { return bytes.Repeat([]byte("what was found "), n/15+1)[:n] }

var (
	sha256Only = []repb.DigestFunction_Value{repb.DigestFunction_SHA256}
	// suites are those of servers that the conformance suites run over; each costs a second.
	suites  = []string{"BLAKE3", "zstd everywhere"}
	servers = map[string]remotetest.Options{
		"BLAKE3":            {},
		"SHA256":            {Functions: sha256Only},
		"zstd in streams":   {Zstd: true},
		"zstd everywhere":   {Functions: sha256Only, Zstd: true, ZstdBatch: true},
		"a small batch":     {MaxBatch: 4096},
		"a very large one":  {MaxBatch: 64 << 20, ZstdBatch: true},
		"a list of no kind": {Functions: []repb.DigestFunction_Value{}},
	}
)

// tried are the names of the servers that a test goes through; a short run makes do with two.
func tried() []string {
	if testing.Short() {
		return suites
	}
	return slices.Sorted(maps.Keys(servers))
}

func blobsOf(c *remote.Client) []remote.Blob {
	var blobs []remote.Blob
	for _, n := range []int{0, 1, 255, 256, 4095, 4096, 70_000, 1 << 20, 2<<20 + 5} {
		for _, b := range [][]byte{noise(n), text(n)} {
			blobs = append(blobs, remote.Blob{Digest: c.Of(b), Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil }})
		}
	}
	for i := range 1100 {
		b := fmt.Appendf(nil, "small blob %d", i)
		blobs = append(blobs, remote.Blob{Digest: c.Of(b), Bytes: b})
	}
	return blobs
}

// fetch reads all digests and returns how many came.
func fetch(t *testing.T, c *remote.Client, blobs []remote.Blob) {
	t.Helper()
	var mu sync.Mutex
	seen := map[remote.Digest]bool{}
	var digests []remote.Digest
	for _, b := range blobs {
		digests = append(digests, b.Digest)
	}
	require.NoError(t, c.Read(t.Context(), digests, func(d remote.Digest, r io.Reader) error {
		b, err := io.ReadAll(r)
		if err == nil && c.Of(b) != d {
			err = fmt.Errorf("%s came as %s", d, c.Of(b))
		}
		mu.Lock()
		defer mu.Unlock()
		seen[d] = true
		return err
	}))
	for _, d := range digests {
		require.True(t, seen[d], d)
	}
}

func TestBlobsGoUpAndComeDown(t *testing.T) {
	for _, name := range tried() {
		o := servers[name]
		t.Run(name, func(t *testing.T) {
			s := remotetest.Start(t, o)
			c := dial(t, s, quick)
			blobs := blobsOf(c)
			sent, err := c.Upload(t.Context(), blobs)
			require.NoError(t, err)
			require.Equal(t, s.Blobs(), sent.Blobs)
			again, err := c.Upload(t.Context(), blobs)
			require.NoError(t, err)
			require.Zero(t, again.Blobs, "they are there")
			fetch(t, c, blobs)
		})
	}
}

func TestFallBacksOfServers(t *testing.T) {
	for name, f := range map[string]remotetest.Faults{
		"no batches to read":       {NoBatchRead: true},
		"no batches to write":      {NoBatchUpdate: true},
		"answers without a name":   {Unnamed: true},
		"a busy server":            {Fail: map[string]codes.Code{"BatchUpdateBlobs": codes.ResourceExhausted}, FailTimes: 2},
		"a server that comes back": {Fail: map[string]codes.Code{"BatchReadBlobs": codes.Unavailable}, FailTimes: 3},
		"a stream that breaks":     {BreakAfter: 200_000},
		"one that begins anew":     {BreakAfter: 200_000, IgnoreOffset: true},
		"breaks at once":           {BreakAfter: 1, IgnoreOffset: true},
	} {
		for _, zip := range []bool{true, false}[:2-short()] {
			t.Run(fmt.Sprintf("%s, zstd %t", name, zip), func(t *testing.T) {
				s := remotetest.Start(t, remotetest.Options{Zstd: zip, ZstdBatch: zip})
				s.Misbehave(f)
				c := dial(t, s, quick)
				blobs := slices.Concat(blobsOf(c)[4:8], blobsOf(c)[12:14], blobsOf(c)[16:30])
				_, err := c.Upload(t.Context(), blobs)
				require.NoError(t, err)
				fetch(t, c, blobs)
			})
		}
	}
}

func TestBytesAreVerified(t *testing.T) {
	for _, name := range tried() {
		o := servers[name]
		t.Run(name, func(t *testing.T) {
			s := remotetest.Start(t, o)
			c := dial(t, s, quick)
			blobs := blobsOf(c)[:20]
			_, err := c.Upload(t.Context(), blobs)
			require.NoError(t, err)
			s.Misbehave(remotetest.Faults{WrongBytes: true})
			for _, b := range blobs[2:] { // the first two are empty, which nobody has to be asked for
				_, err := c.ReadAll(t.Context(), b.Digest, 1<<30)
				require.ErrorAs(t, err, new(*remote.CorruptError), b.Digest)
				require.ErrorAs(t, c.Download(t.Context(), b.Digest, io.Discard), new(*remote.CorruptError), b.Digest)
			}
			s.Misbehave(remotetest.Faults{Lose: true})
			for _, b := range blobs[2:] { // the first two are empty, which nobody has to be asked for
				_, err := c.ReadAll(t.Context(), b.Digest, 1<<30)
				require.ErrorIs(t, err, remote.ErrNotFound)
				require.ErrorIs(t, c.Download(t.Context(), b.Digest, io.Discard), remote.ErrNotFound)
			}
		})
	}
}

func TestAServerThatDoesNotAnswer(t *testing.T) {
	s := remotetest.Start(t, remotetest.Options{})
	o := quick
	o.Timeout = 50 * time.Millisecond
	c := dial(t, s, o)
	big := noise(2 << 20)
	s.Put(repb.DigestFunction_BLAKE3, big)
	s.Misbehave(remotetest.Faults{Hang: true})
	_, err := c.FindMissing(t.Context(), []remote.Digest{c.Of(big)})
	require.Error(t, err)
	require.ErrorContains(t, c.Download(t.Context(), c.Of(big), io.Discard), "no answer in time")
	s.Kill()
	_, err = c.GetActionResult(t.Context(), c.Of(big))
	require.ErrorContains(t, err, "Unavailable")
	s.Restart()
	s.Misbehave(remotetest.Faults{})
	require.Eventually(t, func() bool { return c.Download(t.Context(), c.Of(big), io.Discard) == nil }, time.Minute, 10*time.Millisecond)
}

func TestResults(t *testing.T) {
	for _, name := range tried() {
		o := servers[name]
		t.Run(name, func(t *testing.T) {
			s := remotetest.Start(t, o)
			c := dial(t, s, quick)
			action, messages := c.Encoder().KeyAction(cache.KeyOf([]byte("m")))
			_, err := c.Upload(t.Context(), messages)
			require.NoError(t, err)
			_, err = c.GetActionResult(t.Context(), action)
			require.ErrorIs(t, err, remote.ErrNotFound)
			require.NoError(t, c.UpdateActionResult(t.Context(), action, &repb.ActionResult{StdoutDigest: messages[0].Digest.Proto()}))
			r, err := c.GetActionResult(t.Context(), action)
			require.NoError(t, err)
			require.Equal(t, messages[0].Digest.Hex(), r.GetStdoutDigest().GetHash())
		})
	}
}

func TestNegotiation(t *testing.T) {
	exec := func(f ...repb.DigestFunction_Value) *repb.ExecutionCapabilities {
		return &repb.ExecutionCapabilities{ExecEnabled: true, DigestFunctions: f, DigestFunction: repb.DigestFunction_SHA256}
	}
	b3, sha, md5 := repb.DigestFunction_BLAKE3, repb.DigestFunction_SHA256, repb.DigestFunction_MD5
	for name, test := range map[string]struct {
		o       remotetest.Options
		execute bool
		want    remote.Function
		err     string
	}{
		"both":                             {remotetest.Options{}, false, remote.BLAKE3, ""},
		"the list before the older field":  {remotetest.Options{Execution: exec(sha, b3)}, true, remote.BLAKE3, ""},
		"the older field alone":            {remotetest.Options{Execution: exec()}, true, remote.SHA256, ""},
		"the executor has another":         {remotetest.Options{Execution: exec(sha)}, true, remote.SHA256, ""},
		"the executor is not asked":        {remotetest.Options{Execution: exec(sha)}, false, remote.BLAKE3, ""},
		"nothing in common":                {remotetest.Options{Functions: []repb.DigestFunction_Value{md5}}, false, 0, "cache has MD5"},
		"cache and executor disagree":      {remotetest.Options{Functions: []repb.DigestFunction_Value{b3}, Execution: exec(sha)}, true, 0, "its executor SHA256"},
		"no executor":                      {remotetest.Options{}, true, 0, "does not execute"},
		"no list is SHA256, from long ago": {remotetest.Options{Functions: []repb.DigestFunction_Value{}}, false, remote.SHA256, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := remotetest.Start(t, test.o)
			o := quick
			o.Execute = test.execute
			c, err := remote.Dial(t.Context(), s.URL(), o)
			if test.err != "" {
				require.ErrorContains(t, err, test.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, test.want, c.Function())
			require.NoError(t, c.Close())
		})
	}
	s := remotetest.Start(t, remotetest.Options{})
	s.Misbehave(remotetest.Faults{Version: 3})
	_, err := remote.Dial(t.Context(), s.URL(), quick)
	require.ErrorContains(t, err, "speaks version 3.0")
	require.ErrorContains(t, err, "hint:")
}

func TestAddresses(t *testing.T) {
	for _, bad := range []string{"", "host:1", "http://h:1", "grpc://h", "grpc://:1", "grpc://u:pw@h:1", "grpc://h:1?x=y", "grpc://h:1/#x", "grpc://h:pw\x00"} {
		_, err := remote.Dial(t.Context(), bad, quick)
		require.Error(t, err, bad)
		require.NotContains(t, err.Error(), "pw", "an address may hold a password")
	}
	_, err := remote.Dial(t.Context(), "grpc://127.0.0.1:1", remote.Options{CA: "x"})
	require.ErrorContains(t, err, "grpcs://")
}

// TestEveryCallSaysWhoCalls proves that headers and metadata go along; the fake server refuses a call without metadata.
func TestEveryCallSaysWhoCalls(t *testing.T) {
	s := remotetest.Start(t, remotetest.Options{})
	o := quick
	o.Headers = []remote.Header{{Name: "X-Api-Key", Value: "k-123"}}
	c := dial(t, s, o)
	ctx := remote.WithTask(context.Background(), remote.Task{Address: "task.lint", Action: "k:1", Word: "Prompt"})
	big := noise(2 << 20)
	_, err := c.Upload(ctx, []remote.Blob{{Digest: c.Of(big), Bytes: big}})
	require.NoError(t, err)
	require.NoError(t, c.Download(ctx, c.Of(big), io.Discard))
	heard := string(s.Heard())
	require.Contains(t, heard, "x-api-key: k-123")
	for _, word := range []string{"build-7", "1.2.3", "task.lint", "k:1", "Prompt"} {
		require.Contains(t, heard, word)
	}
}

func TestWireDigests(t *testing.T) {
	s := remotetest.Start(t, remotetest.Options{Functions: sha256Only})
	c := dial(t, s, quick)
	b := []byte("bytes")
	reads := 0
	open := func() (io.ReadCloser, error) {
		reads++
		return io.NopCloser(bytes.NewReader(b)), nil
	}
	for range 2 {
		w, err := c.Wire(digest.Of(b), open)
		require.NoError(t, err)
		require.Equal(t, remote.Digest{Sum: sha256.Sum256(b), Size: 5}, w)
	}
	require.Equal(t, 1, reads, "the pair is remembered")
	_, err := c.Wire(digest.Of([]byte("other")), open)
	require.True(t, cache.IsCorrupt(err), "a pair is of bytes that were read: %v", err)
}
