package remote_test

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/cachetest"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/cache/mem"
	"github.com/ufbuild/ufbuild/cache/remote"
	"github.com/ufbuild/ufbuild/cache/remote/remotetest"
)

func openCache(t *testing.T, url string, co remote.CacheOptions) *remote.Cache {
	t.Helper()
	c, err := remote.OpenCache(t.Context(), url, quick, co)
	require.NoError(t, err)
	return c
}

func TestCacheKeepsBlobs(t *testing.T) {
	for _, name := range suites {
		o := servers[name]
		t.Run(name, func(t *testing.T) {
			cachetest.TestCAS(t, func(t *testing.T) cache.CAS {
				return closing(t, openCache(t, remotetest.Start(t, o).URL(), remote.CacheOptions{}))
			})
		})
	}
	t.Run("HTTP", func(t *testing.T) {
		cachetest.TestCAS(t, func(t *testing.T) cache.CAS {
			return closing(t, openCache(t, remotetest.StartHTTP(t).URL+"/path", remote.CacheOptions{}))
		})
	})
}

func closing(t *testing.T, c *remote.Cache) *remote.Cache {
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c
}

func local(*testing.T) cache.Store { return mem.New("/w") }

func TestCacheSharesAttempts(t *testing.T) {
	for _, name := range suites {
		o := servers[name]
		t.Run(name, func(t *testing.T) {
			var s *remotetest.Server
			cachetest.TestShared(t, cachetest.SharedHooks{
				Local: local,
				Open: func(t *testing.T) cache.Shared {
					s = remotetest.Start(t, o)
					return openCache(t, s.URL(), remote.CacheOptions{})
				},
				Again:   func(t *testing.T, _ cache.Shared) cache.Shared { return openCache(t, s.URL(), remote.CacheOptions{}) },
				Forget:  func(_ *testing.T, which func([]byte) bool) { s.Forget(func(b []byte) bool { return !which(b) }) },
				Corrupt: func(_ *testing.T, which func([]byte) bool) { s.Corrupt(which) },
			})
		})
	}
	t.Run("HTTP", func(t *testing.T) {
		var s *remotetest.HTTP
		open := func(t *testing.T) cache.Shared { return openCache(t, s.URL, remote.CacheOptions{}) }
		cachetest.TestShared(t, cachetest.SharedHooks{
			Local:   local,
			Open:    func(t *testing.T) cache.Shared { s = remotetest.StartHTTP(t); return open(t) },
			Again:   func(t *testing.T, _ cache.Shared) cache.Shared { return open(t) },
			Forget:  func(_ *testing.T, which func([]byte) bool) { s.Forget(which) },
			Corrupt: func(_ *testing.T, which func([]byte) bool) { s.Corrupt(which) },
		})
	})
}

// simple stores a small attempt and returns it as it is shared.
func simple(t *testing.T, s cache.Store, k cache.Key) cache.SharedAttempt {
	t.Helper()
	d, err := cache.PutBytes(s, []byte("findings"))
	require.NoError(t, err)
	a := cache.Attempt{Key: k, Ordinal: 1, Address: "task.a", Outcome: cache.OK, Captured: &cache.Captured{
		Outputs: []cache.Output{{Name: "o", Exists: true, Digest: d, Mode: 0o644}},
	}}
	return cache.ShareAttempt(a, "b/1", "ann@desk")
}

func keyFile(t *testing.T, kind string, der []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "key.pem")
	require.NoError(t, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
	return file
}

func keys(t *testing.T) (*remote.Seal, *remote.Trust) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	own, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	others, err := x509.MarshalPKIXPublicKey(public)
	require.NoError(t, err)
	seal, err := remote.ReadSeal(keyFile(t, "PRIVATE KEY", own))
	require.NoError(t, err)
	trust, err := remote.ReadTrust(keyFile(t, "PUBLIC KEY", others))
	require.NoError(t, err)
	return seal, trust
}

func TestOnlyTrustedAttemptsAreTaken(t *testing.T) {
	seal, trust := keys(t)
	stranger, _ := keys(t)
	k := cache.KeyOf([]byte("m"))
	for name, test := range map[string]struct {
		seal *remote.Seal
		want bool
	}{"signed": {seal, true}, "by a stranger": {stranger, false}, "by nobody": {nil, false}} {
		t.Run(name, func(t *testing.T) {
			s := remotetest.Start(t, remotetest.Options{})
			here := local(t)
			writer := closing(t, openCache(t, s.URL(), remote.CacheOptions{Seal: test.seal}))
			require.NoError(t, writer.Publish(t.Context(), simple(t, here, k), here))
			e, ok, err := closing(t, openCache(t, s.URL(), remote.CacheOptions{Trust: trust})).Lookup(t.Context(), k)
			require.NoError(t, err)
			require.Equal(t, test.want, ok)
			require.Equal(t, test.want, e.Signer != "")
			_, ok, err = closing(t, openCache(t, s.URL(), remote.CacheOptions{})).Lookup(t.Context(), k)
			require.NoError(t, err)
			require.True(t, ok, "who trusts everybody takes it")
		})
	}
	for _, file := range []string{"/nowhere", keyFile(t, "CERTIFICATE", []byte("x")), keyFile(t, "PUBLIC KEY", []byte("x")), keyFile(t, "PRIVATE KEY", []byte("x"))} {
		_, err := remote.ReadSeal(file)
		require.Error(t, err)
		_, err = remote.ReadTrust(file)
		require.Error(t, err)
	}
}

// plant publishes an attempt, changed as a hostile server would, under a key.
func plant(t *testing.T, s *remotetest.Server, k cache.Key, change func(doc map[string]any)) {
	t.Helper()
	here := local(t)
	b, err := json.Marshal(map[string]any{"format": 1, "attempt": simple(t, here, k)})
	require.NoError(t, err)
	var doc map[string]any
	require.NoError(t, json.Unmarshal(b, &doc))
	change(doc)
	if b, err = json.Marshal(doc); doc["text"] != nil {
		b = []byte(doc["text"].(string))
	}
	require.NoError(t, err)
	d := s.Put(repb.DigestFunction_BLAKE3, b)
	action, _ := remote.Encoder{Function: remote.BLAKE3}.KeyAction(k)
	s.SetResult(repb.DigestFunction_BLAKE3, action.Proto(), &repb.ActionResult{OutputFiles: []*repb.OutputFile{{Path: "attempt.json", Digest: d}}})
}

func TestPoisonedEntries(t *testing.T) {
	k := cache.KeyOf([]byte("m"))
	attempt := func(doc map[string]any) map[string]any { return doc["attempt"].(map[string]any) }
	captured := func(doc map[string]any) map[string]any { return attempt(doc)["captured"].(map[string]any) }
	for name, test := range map[string]struct {
		change func(map[string]any)
		err    string // "" for nothing found
	}{
		"another key":              {func(d map[string]any) { attempt(d)["key"] = cache.KeyOf([]byte("x")).String() }, "another key"},
		"no origin":                {func(d map[string]any) { attempt(d)["origin"] = "" }, "no origin"},
		"a failure":                {func(d map[string]any) { attempt(d)["outcome"] = "failed" }, `ended as "failed"`},
		"an escape":                {func(d map[string]any) { attempt(d)["producer"] = "ann\x1b]0;owned\a" }, "control characters"},
		"text that runs backwards": {func(d map[string]any) { attempt(d)["producer"] = "ann\u202e" }, "control characters"},
		"a negative price":         {func(d map[string]any) { captured(d)["usage"] = map[string]any{"cost_usd": -5} }, "numbers"},
		"tokens given back":        {func(d map[string]any) { captured(d)["usage"] = map[string]any{"output_tokens": -1} }, "numbers"},
		"a stopped success":        {func(d map[string]any) { captured(d)["stopped_by"] = "crash" }, "an end"},
		"a novel":                  {func(d map[string]any) { attempt(d)["message"] = strings.Repeat("words ", 1<<20) }, "says more"},
		"a crowd of outputs":       {func(d map[string]any) { captured(d)["outputs"] = make([]map[string]any, 100_000) }, "says more"},
		"no JSON":                  {func(d map[string]any) { d["text"] = "{" }, "attempt.json"},
		"a later format":           {func(d map[string]any) { d["format"] = 2 }, ""},
		"a bad digest":             {func(d map[string]any) { attempt(d)["prompt"] = "b3:zz/1" }, "digest"},
		"somebody else's":          {func(d map[string]any) { d["text"] = "null" }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := remotetest.Start(t, remotetest.Options{})
			plant(t, s, k, test.change)
			_, ok, err := closing(t, openCache(t, s.URL(), remote.CacheOptions{})).Lookup(t.Context(), k)
			require.False(t, ok)
			if test.err == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, cache.ErrPoisoned)
			require.ErrorContains(t, err, test.err)
		})
	}
}

// TestNoPairIsBelieved gives a SHA256 sum of other bytes for a BLAKE3 digest: what it leads to is fetched and refused.
func TestNoPairIsBelieved(t *testing.T) {
	s := remotetest.Start(t, remotetest.Options{Functions: sha256Only})
	k := cache.KeyOf([]byte("m"))
	here, there := local(t), local(t)
	writer := closing(t, openCache(t, s.URL(), remote.CacheOptions{}))
	require.NoError(t, writer.Publish(t.Context(), simple(t, here, k), here))
	lie := s.Put(repb.DigestFunction_SHA256, []byte("FINDINGS"))
	truth := remote.SHA256.Of([]byte("findings")).Hex()
	// The document is stored again under its new digest, with the lie in it.
	action, _ := remote.Encoder{Function: remote.SHA256}.KeyAction(k)
	result, _ := s.Result(repb.DigestFunction_SHA256, action.Proto())
	for _, f := range result.GetOutputFiles() {
		if f.GetPath() == "attempt.json" {
			text, _ := s.Blob(repb.DigestFunction_SHA256, f.GetDigest())
			f.Digest = s.Put(repb.DigestFunction_SHA256, []byte(strings.ReplaceAll(string(text), truth, lie.GetHash())))
		}
	}
	reader := closing(t, openCache(t, s.URL(), remote.CacheOptions{}))
	e, ok, err := reader.Lookup(t.Context(), k)
	require.NoError(t, err)
	require.True(t, ok)
	require.ErrorIs(t, reader.Take(t.Context(), e, there), cache.ErrPoisoned)
	ok, err = there.Has(digest.Of([]byte("findings")))
	require.NoError(t, err)
	require.False(t, ok)
}

// TestBrokenConnectionIsNoPoison: bytes that end early are trouble with the connection, not other bytes, and nothing of them is stored.
func TestBrokenConnectionIsNoPoison(t *testing.T) {
	s := remotetest.StartHTTP(t)
	k := cache.KeyOf([]byte("m"))
	here, there := local(t), local(t)
	c := closing(t, openCache(t, s.URL, remote.CacheOptions{}))
	require.NoError(t, c.Publish(t.Context(), simple(t, here, k), here))
	e, ok, err := c.Lookup(t.Context(), k)
	require.NoError(t, err)
	require.True(t, ok)
	for after, want := range map[int]error{0: io.EOF, 4: io.ErrUnexpectedEOF} {
		s.Cut(after)
		err = c.Take(t.Context(), e, there)
		require.ErrorIs(t, err, want)
		require.NotErrorIs(t, err, cache.ErrPoisoned)
		ok, err = there.Has(digest.Of([]byte("findings")[:after]))
		require.NoError(t, err)
		require.False(t, ok)
		_, err = c.Open(digest.Of([]byte("findings")))
		require.ErrorIs(t, err, want)
		require.False(t, cache.IsCorrupt(err))
	}
}

func TestSumsComeBack(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sha256")
	s, err := remote.LoadSums(file)
	require.NoError(t, err)
	require.NoError(t, s.Save(file))
	require.NoFileExists(t, file, "nothing was learned")
	server := remotetest.Start(t, remotetest.Options{Functions: sha256Only})
	c := closing(t, openCache(t, server.URL(), remote.CacheOptions{Sums: s}))
	d, err := c.Put(strings.NewReader("bytes"))
	require.NoError(t, err)
	require.NoError(t, s.Save(file))
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	// A line that was cut, a line that was changed, and a good one after them.
	require.NoError(t, os.WriteFile(file, []byte(string(b[:len(b)/2])+strings.ReplaceAll(string(b), "b3:", "b3:0")+string(b)), 0o600))
	again, err := remote.LoadSums(file)
	require.NoError(t, err)
	ok, err := closing(t, openCache(t, server.URL(), remote.CacheOptions{Sums: again})).Has(d)
	require.NoError(t, err)
	require.True(t, ok)
}

// TestTwoBlobsOfOneSum: who says that two blobs have one sum lies about one of them, and what is there is not taken for both.
func TestTwoBlobsOfOneSum(t *testing.T) {
	s := remotetest.Start(t, remotetest.Options{Functions: sha256Only})
	k := cache.KeyOf([]byte("m"))
	here := local(t)
	e := simple(t, here, k)
	other, err := cache.PutBytes(here, []byte("FINDINGS"))
	require.NoError(t, err)
	e.Captured.Outputs = append(e.Captured.Outputs, cache.Output{Name: "p", Exists: true, Digest: other, Mode: 0o644})
	require.NoError(t, closing(t, openCache(t, s.URL(), remote.CacheOptions{})).Publish(t.Context(), e, here))
	action, _ := remote.Encoder{Function: remote.SHA256}.KeyAction(k)
	result, _ := s.Result(repb.DigestFunction_SHA256, action.Proto())
	for _, f := range result.GetOutputFiles() {
		if f.GetPath() == "attempt.json" {
			text, _ := s.Blob(repb.DigestFunction_SHA256, f.GetDigest())
			lie := strings.ReplaceAll(string(text), remote.SHA256.Of([]byte("FINDINGS")).Hex(), remote.SHA256.Of([]byte("findings")).Hex())
			f.Digest = s.Put(repb.DigestFunction_SHA256, []byte(lie))
		}
	}
	s.SetResult(repb.DigestFunction_SHA256, action.Proto(), result)
	reader := closing(t, openCache(t, s.URL(), remote.CacheOptions{}))
	got, ok, err := reader.Lookup(t.Context(), k)
	require.NoError(t, err)
	require.True(t, ok)
	require.ErrorIs(t, reader.Take(t.Context(), got, local(t)), cache.ErrPoisoned)
}

// TestAnswersKeepTheirConnection: a page that says "not found", or thanks for an upload, is read to its end, so that the next request
// needs no other connection.
func TestAnswersKeepTheirConnection(t *testing.T) {
	var made atomic.Int32
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if r.Method != http.MethodPut {
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = io.WriteString(w, strings.Repeat("<p>a page</p>", 300))
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			made.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	c := closing(t, openCache(t, s.URL, remote.CacheOptions{}))
	for i := range 5 {
		_, ok, err := c.Lookup(t.Context(), cache.KeyOf([]byte{byte(i)}))
		require.NoError(t, err)
		require.False(t, ok)
		_, err = c.Put(strings.NewReader("bytes"))
		require.NoError(t, err)
	}
	require.EqualValues(t, 1, made.Load())
}

func TestHTTPAnswers(t *testing.T) {
	s := remotetest.StartHTTP(t)
	o := quick
	o.Headers = []remote.Header{{Name: "Authorization", Value: "Bearer t-1"}}
	c, err := remote.OpenCache(t.Context(), s.URL, o, remote.CacheOptions{})
	require.NoError(t, err)
	closing(t, c)
	here := local(t)
	e := simple(t, here, cache.KeyOf([]byte("m")))
	require.NoError(t, c.Publish(t.Context(), e, here))
	require.Contains(t, string(s.Heard()), "Authorization: Bearer t-1")
	for status, want := range map[int]string{
		http.StatusForbidden: "403", http.StatusInternalServerError: "500", http.StatusServiceUnavailable: "503",
	} {
		s.Answer(status)
		_, _, err := c.Lookup(t.Context(), e.Key)
		require.ErrorContains(t, err, want)
		require.NotErrorIs(t, err, cache.ErrPoisoned)
		require.Error(t, c.Publish(t.Context(), e, here))
	}
	for _, bad := range []string{"http://", "http://u:pw@h", "http://h?x", "https://h:pw\x00"} {
		err := remote.Check(bad, quick)
		require.Error(t, err, bad)
		require.NotContains(t, err.Error(), "pw")
	}
	require.ErrorContains(t, remote.Check("http://h", remote.Options{CA: "x"}), "x")
	for _, address := range []string{"grpc://h:1/secret", "grpc://ann:secret@h:1/x", "grpc://h:1?secret", "grpc://h:1#secret@"} {
		require.Equal(t, "grpc://h:1", remote.Name(address))
	}
}
