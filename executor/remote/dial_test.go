package remote

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache/remote"
)

// dial connects to a server for the length of a test.
func dial(t testing.TB, url string) func(context.Context) (*remote.Client, error) {
	c, err := remote.Dial(context.Background(), url, remote.Options{Version: "test", Tries: 2})
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return func(context.Context) (*remote.Client, error) { return c, nil }
}
