package tiered_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/cachetest"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/cache/disk"
	"github.com/ufbuild/ufbuild/cache/mem"
	"github.com/ufbuild/ufbuild/cache/remote"
	"github.com/ufbuild/ufbuild/cache/remote/remotetest"
	"github.com/ufbuild/ufbuild/cache/tiered"
)

// machine is a store of one machine in front of a server, with what it was told.
type machine struct {
	*tiered.Store
	local cache.Store

	mu   sync.Mutex
	told []string
}

func (m *machine) hear(text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.told = append(m.told, text)
}

func (m *machine) warnings() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]string(nil), m.told...)
}

func at(url string) func(context.Context) (cache.Shared, error) {
	return func(ctx context.Context) (cache.Shared, error) {
		return remote.OpenCache(ctx, url, remote.Options{Backoff: time.Millisecond, Timeout: 5 * time.Second}, remote.CacheOptions{})
	}
}

func newMachine(t *testing.T, local cache.Store, url string, change func(*tiered.Options)) *machine {
	t.Helper()
	m := &machine{local: local}
	o := tiered.Options{Open: at(url), Name: url, Read: true, Write: true, Producer: "ann@desk", Tell: m.hear}
	if change != nil {
		change(&o)
	}
	m.Store = tiered.New(local, o)
	t.Cleanup(func() { require.NoError(t, m.Close()) })
	return m
}

func TestStore(t *testing.T) {
	server := remotetest.Start(t, remotetest.Options{})
	open := func(s cache.Store) cache.Store {
		return tiered.New(s, tiered.Options{Open: at(server.URL()), Name: server.URL(), Read: true, Write: true})
	}
	t.Run("in front of memory", func(t *testing.T) {
		cachetest.TestStoreWith(t, cachetest.Hooks{
			Open: func(*testing.T) cache.Store { return open(mem.New("/w")) },
			Again: func(_ *testing.T, s cache.Store) cache.Store {
				return open(s.(*tiered.Store).Store.(*mem.Store).Handle())
			},
			Corrupt: func(_ *testing.T, s cache.Store, d digest.Digest) { s.(*tiered.Store).Store.(*mem.Store).Corrupt(d) },
			Remove:  func(_ *testing.T, s cache.Store, d digest.Digest) { s.(*tiered.Store).Store.(*mem.Store).Remove(d) },
		})
	})
	t.Run("in front of a disk", func(t *testing.T) {
		cachetest.TestStore(t, func(t *testing.T) cache.Store {
			s, err := disk.Open(t.TempDir(), disk.Options{})
			require.NoError(t, err)
			return open(s)
		})
	})
}

// k and manifest are what all machines here ask for.
var (
	manifest = []byte("manifest")
	k        = cache.KeyOf(manifest)
	ask      = cache.Ask{Key: k, Manifest: manifest, Address: "task.a"}
)

// attempt makes attempt n in a store, good and with one output.
func attempt(t *testing.T, s cache.Store, n int, text string) cache.Attempt {
	t.Helper()
	return attemptThat(t, s, n, text, cache.OK, "")
}

// attemptThat makes one that ended in some way.
func attemptThat(t *testing.T, s cache.Store, n int, text string, ended cache.Outcome, message string) cache.Attempt {
	t.Helper()
	d, err := cache.PutBytes(s, []byte(text))
	require.NoError(t, err)
	for _, r := range []cache.Record{
		cache.StartedRecord(cache.Attempt{Key: k, Ordinal: n, Address: "task.a", Build: "b" + text, Campaign: "/c"}),
		cache.CapturedRecord(k, n, cache.Captured{Outputs: []cache.Output{{Name: "o", Exists: true, Digest: d, Mode: 0o644}}}),
		cache.EndedRecord(k, n, ended, message, time.Time{}),
	} {
		require.NoError(t, s.Append(r))
	}
	all, err := s.Attempts(k)
	require.NoError(t, err)
	return all[n-1]
}

func publish(t *testing.T, m *machine, a cache.Attempt) {
	t.Helper()
	m.Publish(a)
	m.Flush(t.Context())
}

func TestOneMachineTakesWhatAnotherMade(t *testing.T) {
	server := remotetest.Start(t, remotetest.Options{})
	a, b := newMachine(t, mem.New(""), server.URL(), nil), newMachine(t, mem.New(""), server.URL(), nil)
	require.False(t, b.Fetch(t.Context(), ask))
	publish(t, a, attempt(t, a.local, 1, "one"))
	require.True(t, b.Fetch(t.Context(), ask), "what was not there is not remembered")
	all, err := b.local.Attempts(k)
	require.NoError(t, err)
	require.Len(t, all, 1)
	require.Equal(t, cache.OK, all[0].Outcome)
	require.Equal(t, &cache.From{Remote: server.URL(), Producer: "ann@desk", Origin: "bone/1"}, all[0].From)
	require.Equal(t, digest.Of(manifest), all[0].Manifest)
	require.Empty(t, all[0].Campaign, "a path of another machine is none here")
	require.Empty(t, all[0].Verdicts, "nobody's verdict is believed")
	_, err = cache.ReadAll(b.local, all[0].Captured.Outputs[0].Digest, -1)
	require.NoError(t, err)
	require.False(t, b.Fetch(t.Context(), ask), "it is there already")
	publish(t, b, all[0])
	require.Equal(t, 1, server.Calls()["UpdateActionResult"], "what came from there is not sent back")
	require.Empty(t, append(a.warnings(), b.warnings()...))
}

// TestDiscardedStays: a retry on either machine is not undone by what the server still has.
func TestDiscardedStays(t *testing.T) {
	server := remotetest.Start(t, remotetest.Options{})
	a, b := newMachine(t, mem.New(""), server.URL(), nil), newMachine(t, mem.New(""), server.URL(), nil)
	publish(t, a, attempt(t, a.local, 1, "one"))
	require.True(t, b.Fetch(t.Context(), ask))
	for _, m := range []*machine{a, b} {
		require.NoError(t, m.local.Append(cache.DiscardRecord(k, 1, cache.Discard{ID: "r"})))
		require.False(t, m.Fetch(t.Context(), ask))
	}
	publish(t, a, attempt(t, a.local, 2, "two"))
	require.True(t, b.Fetch(t.Context(), ask), "another attempt is another matter")
	all, err := b.local.Attempts(k)
	require.NoError(t, err)
	require.Len(t, all, 2)
	require.Nil(t, all[1].Discarded)
	require.NoError(t, a.local.Append(cache.DiscardRecord(k, 2, cache.Discard{ID: "r"})))
	sent := server.Calls()["UpdateActionResult"]
	publish(t, a, all[1])
	require.Equal(t, sent, server.Calls()["UpdateActionResult"], "a discarded attempt is not sent")
}

// TestHalfTakenIsTakenWhole: who was killed between the records of an attempt leaves one that the next fetch completes, in place of
// one that is never taken and so paid for again.
func TestHalfTakenIsTakenWhole(t *testing.T) {
	server := remotetest.Start(t, remotetest.Options{})
	a := newMachine(t, mem.New(""), server.URL(), nil)
	publish(t, a, attempt(t, a.local, 1, "one"))
	e, ok, err := connect(t, server).Lookup(t.Context(), k)
	require.NoError(t, err)
	require.True(t, ok)
	for n := range 3 {
		b := newMachine(t, mem.New(""), server.URL(), nil)
		_, err := cache.PutBytes(b.local, []byte("one"))
		require.NoError(t, err)
		for _, r := range e.Records(1, digest.Of(manifest), server.URL())[:n] {
			require.NoError(t, b.local.Append(r))
		}
		looking := newMachine(t, b.local.(*mem.Store).Handle(), server.URL(), func(o *tiered.Options) { o.Virtual = true })
		require.True(t, looking.Fetch(t.Context(), ask), "a plan says so too")
		require.False(t, looking.Fetch(t.Context(), ask), "once")
		require.True(t, b.Fetch(t.Context(), ask), "%d records", n)
		all, err := b.local.Attempts(k)
		require.NoError(t, err)
		require.Len(t, all, 1, "it is the same attempt")
		require.Equal(t, cache.Ended, all[0].State)
		require.Equal(t, cache.OK, all[0].Outcome)
		require.Len(t, all[0].Captured.Outputs, 1)
		require.False(t, b.Fetch(t.Context(), ask), "it is there")
		require.Empty(t, append(b.warnings(), looking.warnings()...))
	}
}

// TestALostLogIsNotALostAttempt: what only people read may be gone over there, and nobody pays for the attempt again.
func TestALostLogIsNotALostAttempt(t *testing.T) {
	server := remotetest.Start(t, remotetest.Options{})
	a := newMachine(t, mem.New(""), server.URL(), nil)
	log, err := cache.PutBytes(a.local, []byte("what it printed"))
	require.NoError(t, err)
	d, err := cache.PutBytes(a.local, []byte("what it made"))
	require.NoError(t, err)
	for _, r := range []cache.Record{
		cache.StartedRecord(cache.Attempt{Key: k, Ordinal: 1, Address: "task.a", Build: "b"}),
		cache.CapturedRecord(k, 1, cache.Captured{Outputs: []cache.Output{{Name: "o", Exists: true, Digest: d}}, Log: log}),
		cache.EndedRecord(k, 1, cache.OK, "", time.Time{}),
	} {
		require.NoError(t, a.local.Append(r))
	}
	made, err := a.local.Attempts(k)
	require.NoError(t, err)
	publish(t, a, made[0])
	server.Corrupt(func(b []byte) bool { return string(b) == "what it printed" })
	b := newMachine(t, mem.New(""), server.URL(), nil)
	looking := newMachine(t, b.local.(*mem.Store).Handle(), server.URL(), func(o *tiered.Options) { o.Virtual = true })
	require.True(t, looking.Fetch(t.Context(), ask))
	require.True(t, b.Fetch(t.Context(), ask))
	all, err := b.local.Attempts(k)
	require.NoError(t, err)
	require.Len(t, all, 1)
	require.Equal(t, cache.OK, all[0].Outcome)
	require.True(t, all[0].Captured.Log.IsZero())
	require.Equal(t, "it is damaged or gone at "+server.URL(), all[0].Captured.LogDamage)
	require.False(t, b.Fetch(t.Context(), ask), "it is there, and not fetched for its log again")
	require.Empty(t, append(b.warnings(), looking.warnings()...))
}

func TestLostBlobsComeBack(t *testing.T) {
	server := remotetest.Start(t, remotetest.Options{})
	store := mem.New("")
	a := newMachine(t, store, server.URL(), nil)
	made := attempt(t, store, 1, "one")
	publish(t, a, made)
	store.Remove(made.Captured.Outputs[0].Digest)
	require.True(t, a.Fetch(t.Context(), ask))
	all, err := store.Attempts(k)
	require.NoError(t, err)
	require.Len(t, all, 1, "it is the same attempt")
	_, err = cache.ReadAll(store, made.Captured.Outputs[0].Digest, -1)
	require.NoError(t, err)
}

func TestLookingWritesNothing(t *testing.T) {
	server := remotetest.Start(t, remotetest.Options{})
	a := newMachine(t, mem.New(""), server.URL(), nil)
	made := attempt(t, a.local, 1, "one")
	publish(t, a, made)
	local := mem.New("")
	b := newMachine(t, local, server.URL(), func(o *tiered.Options) { o.Virtual = true })
	require.True(t, b.Fetch(t.Context(), ask))
	all, err := b.Attempts(k)
	require.NoError(t, err)
	require.Len(t, all, 1)
	d := made.Captured.Outputs[0].Digest
	ok, err := b.Has(d)
	require.NoError(t, err)
	require.True(t, ok)
	text, err := cache.ReadAll(b, d, -1)
	require.NoError(t, err)
	require.Equal(t, "one", string(text))
	all, err = local.Attempts(k)
	require.NoError(t, err)
	require.Empty(t, all)
	ok, err = local.Has(d)
	require.NoError(t, err)
	require.False(t, ok)
	require.False(t, b.Fetch(t.Context(), ask), "it is there already")
	b.Publish(made)
	require.Zero(t, b.Pending())

	server.Forget(func(b []byte) bool { return string(b) != "one" })
	c := newMachine(t, mem.New(""), server.URL(), func(o *tiered.Options) { o.Virtual = true })
	require.False(t, c.Fetch(t.Context(), ask), "a plan does not promise what has lost a part")
	require.Empty(t, c.warnings())
}

// TestTroubleIsToldOnce: whatever the server does, the store here goes on, and one line says so.
func TestTroubleIsToldOnce(t *testing.T) {
	for name, breaks := range map[string]func(*remotetest.Server){
		"gone":        func(s *remotetest.Server) { s.Kill() },
		"full":        func(s *remotetest.Server) { s.Misbehave(remotetest.Faults{Full: true}) },
		"wrong bytes": func(s *remotetest.Server) { s.Misbehave(remotetest.Faults{WrongBytes: true}) },
		"version":     func(s *remotetest.Server) { s.Misbehave(remotetest.Faults{Version: 9}) },
	} {
		t.Run(name, func(t *testing.T) {
			server := remotetest.Start(t, remotetest.Options{})
			a := newMachine(t, mem.New(""), server.URL(), nil)
			publish(t, a, attempt(t, a.local, 1, "one"))
			breaks(server)
			b := newMachine(t, mem.New(""), server.URL(), nil)
			if name != "full" { // it can still be read
				require.False(t, b.Fetch(t.Context(), ask))
			}
			for n := 1; n <= 3; n++ {
				publish(t, b, attempt(t, b.local, n, "two"))
			}
			require.Len(t, b.warnings(), 1)
			all, err := b.local.Attempts(k)
			require.NoError(t, err)
			require.Len(t, all, 3)
		})
	}
}

func TestWhatDoesNotFitIsNotTaken(t *testing.T) {
	server := remotetest.Start(t, remotetest.Options{})
	a, b := newMachine(t, mem.New(""), server.URL(), nil), newMachine(t, mem.New(""), server.URL(), nil)
	publish(t, a, attempt(t, a.local, 1, "one"))
	strict := ask
	strict.Fits = func(cache.Captured, cache.CAS) error { return errors.New("no such output") }
	require.False(t, b.Fetch(t.Context(), strict))
	require.Len(t, b.warnings(), 1)
	require.Contains(t, b.warnings()[0], "task.a is not taken from it")
	require.Contains(t, b.warnings()[0], "no such output")
	require.True(t, b.Fetch(t.Context(), ask), "a poisoned entry does not end the use of the rest")
}

// TestOutbox: what could not be sent is sent by a later process.
func TestOutbox(t *testing.T) {
	server := remotetest.Start(t, remotetest.Options{})
	server.Kill()
	outbox := filepath.Join(t.TempDir(), "outbox")
	keep := func(o *tiered.Options) { o.Outbox = outbox }
	local := mem.New("")
	publish(t, newMachine(t, local, server.URL(), keep), attempt(t, local, 1, "one"))
	notes, err := os.ReadDir(outbox)
	require.NoError(t, err)
	require.Len(t, notes, 1)
	require.NoError(t, os.WriteFile(filepath.Join(outbox, "not-a-note"), nil, 0o600))
	server.Restart()
	later := newMachine(t, local.Handle(), server.URL(), keep)
	later.Flush(t.Context())
	require.Equal(t, 1, server.Results())
	require.Empty(t, later.warnings())
	notes, err = os.ReadDir(outbox)
	require.NoError(t, err)
	require.Len(t, notes, 1, "what is no note is left alone")
}

// TestTooLargeForTheServer: what a server never takes keeps nothing else from being sent, and is sent once it takes more.
func TestTooLargeForTheServer(t *testing.T) {
	grpc, files := remotetest.Start(t, remotetest.Options{MaxBlob: 4096}), remotetest.StartHTTP(t)
	files.Most(4096)
	for url, relent := range map[string]func(){grpc.URL(): func() { grpc.MaxBlob = 0 }, files.URL: func() { files.Most(0) }} {
		outbox := filepath.Join(t.TempDir(), "outbox")
		keep := func(o *tiered.Options) { o.Outbox = outbox }
		waiting := func() int {
			notes, err := os.ReadDir(outbox)
			require.NoError(t, err)
			return len(notes)
		}
		local := mem.New("")
		a := newMachine(t, local, url, keep)
		publish(t, a, attempt(t, local, 1, strings.Repeat("large", 1000)))
		publish(t, a, attempt(t, local, 2, "small"))
		require.Len(t, a.warnings(), 1)
		require.Contains(t, a.warnings()[0], "task.a is not sent to it")
		require.Equal(t, 1, waiting())
		b := newMachine(t, mem.New(""), url, nil)
		require.True(t, b.Fetch(t.Context(), ask))
		all, err := b.local.Attempts(k)
		require.NoError(t, err)
		require.Equal(t, "bsmall/2", all[0].From.Origin)

		relent()
		later := newMachine(t, local.Handle(), url, keep)
		later.Flush(t.Context())
		require.Empty(t, later.warnings())
		require.Zero(t, waiting())
	}
}

// TestTroubleBehindALargeResult: that one result is too large for the server does not keep to itself that the server is left alone.
func TestTroubleBehindALargeResult(t *testing.T) {
	files := remotetest.StartHTTP(t)
	files.Most(4096)
	local := mem.New("")
	a := newMachine(t, local, files.URL, nil)
	publish(t, a, attempt(t, local, 1, strings.Repeat("large", 1000)))
	files.Answer(http.StatusForbidden)
	for ordinal := 2; ordinal < 4; ordinal++ {
		publish(t, a, attempt(t, local, ordinal, "small"))
	}
	require.Len(t, a.warnings(), 2)
	require.Contains(t, a.warnings()[0], "task.a is not sent to it")
	require.Contains(t, a.warnings()[1], "403 Forbidden; going on without it")
}

func TestModes(t *testing.T) {
	server := remotetest.Start(t, remotetest.Options{})
	reader := newMachine(t, mem.New(""), server.URL(), func(o *tiered.Options) { o.Write = false })
	publish(t, reader, attempt(t, reader.local, 1, "one"))
	require.Empty(t, server.Calls(), "who has nothing to ask does not even connect")
	writer := newMachine(t, mem.New(""), server.URL(), nil)
	publish(t, writer, attempt(t, writer.local, 1, "two"))
	require.True(t, reader.Fetch(t.Context(), ask))
}

// TestSomebodyRunsIt: a key that is held is not waited for, and who holds it may fetch under the lock.
func TestSomebodyRunsIt(t *testing.T) {
	server := remotetest.Start(t, remotetest.Options{})
	a, b := newMachine(t, mem.New(""), server.URL(), nil), newMachine(t, mem.New(""), server.URL(), nil)
	publish(t, a, attempt(t, a.local, 1, "one"))
	release, err := b.Lock(t.Context(), k)
	require.NoError(t, err)
	require.False(t, b.Fetch(t.Context(), ask))
	held := ask
	held.Locked = true
	require.True(t, b.Fetch(t.Context(), held))
	release()
	require.Empty(t, b.warnings())
}

func TestManyAtOnce(t *testing.T) {
	server := remotetest.Start(t, remotetest.Options{})
	a, b := newMachine(t, mem.New(""), server.URL(), nil), newMachine(t, mem.New(""), server.URL(), nil)
	publish(t, a, attempt(t, a.local, 1, "one"))
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { b.Fetch(t.Context(), ask) })
	}
	all.Wait()
	have, err := b.local.Attempts(k)
	require.NoError(t, err)
	require.Len(t, have, 1)
}

// TestALongWaitIsSaid: a server that gives no answer is waited for once, and not in silence.
func TestALongWaitIsSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		said := make(chan string, 2)
		s := tiered.New(mem.New(""), tiered.Options{
			Name: "grpc://slow", Read: true, Write: true, Say: func(text string) { said <- text },
			Open: func(ctx context.Context) (cache.Shared, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			},
		})
		begun := time.Now()
		require.False(t, s.Fetch(t.Context(), ask))
		require.False(t, s.Fetch(t.Context(), ask))
		s.Publish(attempt(t, s, 1, "one"))
		s.Flush(t.Context())
		require.Equal(t, 10*time.Second, time.Since(begun), "it is waited for once")
		require.Equal(t, "waits for remote grpc://slow", <-said)
		require.Empty(t, said)
		require.NoError(t, s.Close())
	})
}

// TestAStoppedAttemptIsNoTrouble: who stops a build is not told that the server failed, and whose attempt is stopped while it
// connects does not keep the others from the server.
func TestAStoppedAttemptIsNoTrouble(t *testing.T) {
	server := remotetest.Start(t, remotetest.Options{})
	a := newMachine(t, mem.New(""), server.URL(), nil)
	publish(t, a, attempt(t, a.local, 1, "one"))
	ctx, cancel := context.WithCancel(t.Context())
	dials := 0
	m := newMachine(t, mem.New(""), server.URL(), func(o *tiered.Options) {
		o.Open = func(ctx context.Context) (cache.Shared, error) {
			if dials++; dials > 1 {
				return at(server.URL())(ctx)
			}
			cancel()
			<-ctx.Done()
			return nil, ctx.Err()
		}
	})
	require.False(t, m.Fetch(ctx, ask))
	require.True(t, m.Fetch(t.Context(), ask))
	require.False(t, m.Fetch(t.Context(), ask), "it is there")
	require.Equal(t, 2, dials)
	require.Empty(t, m.warnings())
}

// TestFoundGoodLater: an attempt that ended badly and was found good since is one that ended well, to others.
func TestFoundGoodLater(t *testing.T) {
	server := remotetest.Start(t, remotetest.Options{})
	a, b := newMachine(t, mem.New(""), server.URL(), nil), newMachine(t, mem.New(""), server.URL(), nil)
	publish(t, a, attemptThat(t, a.local, 1, "one", cache.Rejected, "contract: too few"))
	require.True(t, b.Fetch(t.Context(), ask))
	all, err := b.local.Attempts(k)
	require.NoError(t, err)
	require.Equal(t, cache.OK, all[0].Outcome)
	require.Empty(t, all[0].Message)
	require.Empty(t, append(a.warnings(), b.warnings()...))
}
