package remote_test

import (
	"context"
	"crypto/tls"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/remote"
	"github.com/ufbuild/ufbuild/cache/remote/remotetest"
)

// meeting is a client that meets a server, and what it then says; "" when all is well.
type meeting struct {
	server *tls.Config
	client remote.Options
	want   string // of the error
	hint   string
}

func meetings(t *testing.T) map[string]meeting {
	ours, theirs := remotetest.NewAuthority(t.TempDir()), remotetest.NewAuthority(t.TempDir())
	serving := func(a *remotetest.Authority, clients *remotetest.Authority, host string) *tls.Config {
		cert, key := a.Issue("server", host)
		return remotetest.Serving(cert, key, clients)
	}
	oldCert, oldKey := ours.Expired("old", "127.0.0.1")
	cert, key := ours.Issue("ann")
	strange, strangeKey := theirs.Issue("ann")
	late, lateKey := ours.Expired("late")
	tls12 := serving(ours, ours, "127.0.0.1")
	tls12.MaxVersion = tls.VersionTLS12
	return map[string]meeting{
		"right authority":      {server: serving(ours, nil, "127.0.0.1"), client: remote.Options{CA: ours.File}},
		"both show who":        {server: serving(ours, ours, "127.0.0.1"), client: remote.Options{CA: ours.File, Cert: cert, Key: key}},
		"authority of neither": {serving(ours, nil, "127.0.0.1"), remote.Options{}, "unknown authority", "--remote-ca FILE"},
		"wrong authority":      {serving(theirs, nil, "127.0.0.1"), remote.Options{CA: ours.File}, "unknown authority", "--remote-ca FILE"},
		"another address":      {serving(ours, nil, "127.0.0.9"), remote.Options{CA: ours.File}, "127.0.0.1", "name the server as its certificate does"},
		"another host":         {serving(ours, nil, "cache.example"), remote.Options{CA: ours.File}, "127.0.0.1", "name the server as its certificate does"},
		"an old certificate":   {remotetest.Serving(oldCert, oldKey, nil), remote.Options{CA: ours.File}, "expired", "the clock of this machine"},
		"shows nothing":        {serving(ours, ours, "127.0.0.1"), remote.Options{CA: ours.File}, "", "--remote-cert FILE with --remote-key FILE"},
		"shows nothing, 1.2":   {tls12, remote.Options{CA: ours.File}, "", "--remote-cert FILE with --remote-key FILE"},
		"shows a stranger":     {serving(ours, ours, "127.0.0.1"), remote.Options{CA: ours.File, Cert: strange, Key: strangeKey}, "", "--remote-cert"},
		"shows an old one":     {serving(ours, ours, "127.0.0.1"), remote.Options{CA: ours.File, Cert: late, Key: lateKey}, "", "--remote-cert"},
	}
}

// met wants of an error what a meeting says, and few tries: a certificate does not get better.
func (m meeting) met(t *testing.T, err error) {
	t.Helper()
	if m.hint == "" {
		require.NoError(t, err)
		return
	}
	require.ErrorContains(t, err, m.want)
	require.ErrorContains(t, err, "\nhint: ")
	require.ErrorContains(t, err, m.hint)
	require.NotContains(t, err.Error(), "desc =", "the words of a library")
}

func TestTLS(t *testing.T) {
	for name, m := range meetings(t) {
		t.Run(name, func(t *testing.T) {
			s := remotetest.Start(t, remotetest.Options{TLS: m.server})
			m.client.Backoff = quick.Backoff
			c, err := remote.OpenCache(t.Context(), s.URL(), m.client, remote.CacheOptions{})
			m.met(t, err)
			if err == nil {
				require.NoError(t, c.Probe(t.Context(), true))
				require.NoError(t, c.Close())
			}
		})
		t.Run(name+", https", func(t *testing.T) {
			s := remotetest.StartHTTPS(t, m.server)
			m.client.Backoff = quick.Backoff
			c, err := remote.OpenCache(t.Context(), s.URL, m.client, remote.CacheOptions{})
			require.NoError(t, err, "it connects when it is asked for something")
			m.met(t, c.Probe(t.Context(), true))
			_, _, err = c.Lookup(t.Context(), cache.KeyOf(nil))
			m.met(t, err)
			require.NoError(t, c.Close())
		})
	}
}

// TestPlainMeetsTLS: an address with the wrong scheme says which one is right.
func TestPlainMeetsTLS(t *testing.T) {
	a := remotetest.NewAuthority(t.TempDir())
	cert, key := a.Issue("server", "127.0.0.1")
	plain, secure := remotetest.Start(t, remotetest.Options{}), remotetest.Start(t, remotetest.Options{TLS: remotetest.Serving(cert, key, nil)})
	_, err := remote.Dial(t.Context(), "grpcs://"+plain.URL()[len("grpc://"):], quick)
	require.ErrorContains(t, err, "hint: the server speaks without TLS: write grpc://")
	_, err = remote.Dial(t.Context(), "grpc://"+secure.URL()[len("grpcs://"):], quick)
	require.ErrorContains(t, err, "hint: the server may want TLS: write grpcs://")
	web := remotetest.StartHTTP(t)
	c, err := remote.OpenCache(t.Context(), "https"+web.URL[len("http"):], quick, remote.CacheOptions{})
	require.NoError(t, err)
	require.ErrorContains(t, c.Probe(t.Context(), false), "hint: the server speaks without TLS: write http://")
	require.NoError(t, c.Close())
}

// TestServerAsksForAHeader: with the right one all works; without it the answer says where one goes, and no value is in it.
func TestServerAsksForAHeader(t *testing.T) {
	s := remotetest.Start(t, remotetest.Options{Key: "k-123"})
	for value, hint := range map[string]string{"": "--remote-header", "k-wrong": "--remote-header", "k-123": ""} {
		o := quick
		if value != "" {
			o.Headers = []remote.Header{{Name: "X-Api-Key", Value: value}}
		}
		c, err := remote.OpenCache(context.Background(), s.URL(), o, remote.CacheOptions{})
		if hint == "" {
			require.NoError(t, err)
			require.NoError(t, c.Probe(t.Context(), true))
			require.NoError(t, c.Close())
			continue
		}
		require.ErrorContains(t, err, "Unauthenticated")
		require.ErrorContains(t, err, hint)
		require.NotContains(t, err.Error(), "k-")
	}
}
