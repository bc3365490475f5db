package remote

import (
	"testing"
	"time"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/mem"
	"github.com/ufbuild/ufbuild/cache/remote/remotetest"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/remote/workertest"
	"github.com/ufbuild/ufbuild/executor/runnertest"
)

// exceptOfServers are cases that only the machine which runs a program can keep.
var exceptOfServers = map[string]string{
	"nothing survives":                "what outlives a program is the server's to end",
	"nothing survives a stop":         "what outlives a program is the server's to end",
	"attempts do not kill each other": "what outlives a program is the server's to end",
	"cancel":                          "servers keep nothing of what is cancelled",
	"stopped for a reason of its own": "servers keep nothing of what is cancelled",
}

func TestServersKeepTheSuite(t *testing.T) {
	for name, f := range map[string]repb.DigestFunction_Value{"blake3": repb.DigestFunction_BLAKE3, "sha256": repb.DigestFunction_SHA256} {
		t.Run(name, func(t *testing.T) {
			runnertest.TestElsewhere(t, func(t *testing.T) (executor.Runner, cache.Store) {
				server := workertest.Start(t, remotetest.Options{Functions: []repb.DigestFunction_Value{f}}).Server
				client := dial(t, server.URL())
				store := mem.New(t.TempDir())
				return &Runner{Name: "farm", Courier: &Courier{Client: client, CAS: store}, After: time.After}, store
			}, exceptOfServers)
		})
	}
}
