package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/cachetest"
	"github.com/ufbuild/ufbuild/cache/mem"
	"github.com/ufbuild/ufbuild/cache/remote"
)

// peersDir is where testdata/peers/peers.sh puts real servers.
const peersDir = "testdata/peers/.peers"

// realServer is a real server.
type realServer struct {
	need   string // file below peersDir
	scheme string
	path   string // of its address
	start  func(t *testing.T, dir, scratch, port string) *exec.Cmd
	said   string // what doctor says of it
}

var realServers = map[string]realServer{
	"Buildbarn": {"reapipeer", "grpc", "", func(_ *testing.T, dir, _, port string) *exec.Cmd {
		return exec.Command(filepath.Join(dir, "reapipeer"), "-listen", "127.0.0.1:"+port)
	}, "BLAKE3 is used"},
	"RemoteWorker": {"rw/.done", "grpc", "", func(t *testing.T, dir, scratch, port string) *exec.Cmd {
		java, err := exec.LookPath("java")
		if err != nil {
			t.Skip("there is no java")
		}
		for _, sub := range []string{"work", "cas"} {
			require.NoError(t, os.Mkdir(filepath.Join(scratch, sub), 0o755))
		}
		return exec.Command(java, "-cp", filepath.Join(dir, "rw/classes")+":"+filepath.Join(dir, "rw/root/usr/share/bazel/A-server.jar"),
			"com.google.devtools.build.remote.worker.RemoteWorker", "--listen_port="+port,
			"--work_path="+filepath.Join(scratch, "work"), "--cas_path="+filepath.Join(scratch, "cas"))
	}, "SHA256 is used"},
	"nginx": {"nginx/usr/sbin/nginx", "http", "/cache", func(t *testing.T, dir, scratch, port string) *exec.Cmd {
		conf := filepath.Join(scratch, "nginx.conf")
		require.NoError(t, os.Mkdir(filepath.Join(scratch, "files"), 0o755))
		require.NoError(t, os.WriteFile(conf, fmt.Appendf(nil, nginxConf, port, nginxLocation(t, filepath.Join(scratch, "files"))), 0o644))
		return exec.Command(filepath.Join(dir, "nginx/usr/sbin/nginx"), "-e", "stderr", "-p", scratch, "-c", conf)
	}, "an HTTP cache"},
}

// nginxLocation is what docs/how-to/remote.md has people add to their server, with another directory.
func nginxLocation(t *testing.T, dir string) string {
	for _, b := range docBlocks(docPages(t)["docs/how-to/remote.md"]) {
		if strings.HasPrefix(b.text, "location /cache/ {\n") {
			return strings.Replace(b.text, "/srv/cache", dir, 1)
		}
	}
	t.Fatal("docs/how-to/remote.md says nothing of nginx")
	return ""
}

// nginxConf is the rest of the configuration: a port, and what may be below it.
const nginxConf = `daemon off;
master_process off;
pid pid;
events {}
http {
  access_log off;
  client_body_temp_path tmp;
  proxy_temp_path tmp;
  fastcgi_temp_path tmp;
  uwsgi_temp_path tmp;
  scgi_temp_path tmp;
  server {
    listen 127.0.0.1:%s;
    %s
  }
}
`

// startPeer runs a real server until the test ends and returns its address.
func startPeer(t *testing.T, p realServer) string {
	t.Helper()
	dir, err := filepath.Abs(peersDir)
	require.NoError(t, err)
	if _, err := os.Stat(filepath.Join(dir, p.need)); err != nil {
		t.Skipf("there is no %s; testdata/peers/peers.sh makes it", p.need)
	}
	port := freePort(t)
	cmd := p.start(t, dir, t.TempDir(), port)
	var said syncBuffer
	cmd.Stdout, cmd.Stderr = &said, &said
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
	require.Eventually(t, func() bool {
		c, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	}, endless, endless/1000, "the server does not listen: %s", &said)
	return p.scheme + "://127.0.0.1:" + port + p.path
}

// freePort is a port of loopback that nobody has now.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	_, port, err := net.SplitHostPort(l.Addr().String())
	require.NoError(t, err)
	require.NoError(t, l.Close())
	return port
}

// TestRemotePeers shares results through real servers: two machines, of which the second runs nothing, and the suites of package
// cachetest. Without the servers it says how to have them.
func TestRemotePeers(t *testing.T) {
	for name, p := range realServers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := startPeer(t, p)
			one := newHome(t, map[string]string{"campaign.hcl": chaosCampaign, "v1": "1", "v2": "2"})
			two := newHome(t, map[string]string{"campaign.hcl": chaosCampaign, "v1": "1", "v2": "2"})
			said, _ := one.run("doctor", "--remote", url)
			require.Contains(t, said, p.said)
			require.Contains(t, said, "it can be read and written")
			said = one.must("build", "--remote", url)
			require.NotContains(t, said, "warning")
			require.Len(t, one.traced(), 4)
			require.Contains(t, two.must("plan", "--remote", url), "4 tasks: 4 fresh")
			said = two.must("build", "--remote", url)
			require.NotContains(t, said, "warning")
			require.Empty(t, two.traced(), "the second machine runs nothing")
			require.Equal(t, one.tree(filepath.Join(one.dir, "out")), two.tree(filepath.Join(two.dir, "out")))
			peerSuites(t, url, name == "RemoteWorker")
		})
	}
}

// peerSuites runs the suites over a real server, as far as one server will do for all of them: what they store is their own.
func peerSuites(t *testing.T, url string, firstStays bool) {
	open := func(t *testing.T) *remote.Cache {
		c, err := remote.OpenCache(t.Context(), url, remote.Options{Build: "test"}, remote.CacheOptions{})
		require.NoError(t, err)
		return c
	}
	cachetest.TestShared(t, cachetest.SharedHooks{
		FirstStays: firstStays,
		Local:      func(*testing.T) cache.Store { return mem.New("/w") },
		Open:       func(t *testing.T) cache.Shared { return open(t) },
		Again:      func(t *testing.T, _ cache.Shared) cache.Shared { return open(t) },
	})
}
