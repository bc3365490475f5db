package main

import (
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache/remote/remotetest"
)

// A result that another machine has paid for, and that finds no room here, is not paid for again. With room it is taken.
func TestNoRoomForWhatAnotherMachinePaid(t *testing.T) {
	t.Parallel()
	server := remotetest.Start(t, remotetest.Options{})
	files := paidFiles(plainAgent + "head -c 90000000 /dev/urandom > src/large\n")
	first := newHome(t, files)
	first.must("build", "--remote", server.URL())
	require.Equal(t, map[string]int{"audit": 1}, first.traced())

	h := newHome(t, files)
	h.small(h.store, "80m") // room enough to begin
	said, code := h.run("build", "--remote", server.URL())
	require.Equal(t, exitWorld, code, said)
	require.Contains(t, said, "another machine has made this, and there is no room to take it")
	require.Contains(t, said, "hint: free some space")
	require.Empty(t, h.traced(), "nothing was begun")
	require.NotContains(t, said, "going on without it", "the server is not to blame")
	require.NoError(t, unix.Mount("tmpfs", h.store, "tmpfs", unix.MS_REMOUNT, "size=300m"))
	h.must("build", "--remote", server.URL())
	require.Empty(t, h.traced())
	require.Contains(t, h.must("plan"), "1 fresh")
}
