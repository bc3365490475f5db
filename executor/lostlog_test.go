package executor

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/mem"
	"github.com/ufbuild/ufbuild/executor/agent"
	"github.com/ufbuild/ufbuild/executor/agent/claude"
)

// TestLostLogIsNotALostAttempt: a prompt whose log is damaged, here or where it ran, is not called failed for want of a result in it: its
// outputs are paid for, and the contract judges them.
func TestLostLogIsNotALostAttempt(t *testing.T) {
	store := mem.New("")
	d := &Decider{Store: store, Drivers: agent.Registry{"claude": claude.Driver{}}, Now: time.Now}
	log, err := cache.PutBytes(store, []byte(`{"type":"assistant"}`))
	require.NoError(t, err)
	require.Equal(t, agent.Failed, d.readEnd("claude", cache.Captured{Log: log}).Class, "it has no result")
	require.Equal(t, agent.OK, d.readEnd("claude", cache.Captured{Log: log, LogDamage: "half of it"}).Class)
	store.Corrupt(log)
	require.Equal(t, agent.OK, d.readEnd("claude", cache.Captured{Log: log}).Class, "nobody can read what it said")
	require.Equal(t, agent.Failed, d.readEnd("claude", cache.Captured{Log: log, Exit: 1}).Class)
	require.Equal(t, agent.Failed, d.readEnd("claude", cache.Captured{}).Class, "it printed nothing")
}
