package remote

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/mem"
	"github.com/ufbuild/ufbuild/cache/remote"
	"github.com/ufbuild/ufbuild/cache/remote/remotetest"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/runnertest"
	"github.com/ufbuild/ufbuild/executor/submit"
)

// peers is where scripts make and start real servers.
const peers = "../../cmd/ufbuild/testdata/peers"

// startRemoteWorker starts Bazel's own worker.
func startRemoteWorker(t *testing.T) string {
	if testing.Short() {
		t.Skip("a real server is slow under the race detector")
	}
	dir, err := filepath.Abs(filepath.Join(peers, ".peers"))
	require.NoError(t, err)
	classes := filepath.Join(dir, "rw", "classes")
	if _, err := os.Stat(filepath.Join(dir, "rw", ".done")); err != nil {
		t.Skip("there is no RemoteWorker; testdata/peers/peers.sh of cmd/ufbuild makes it")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	port := l.Addr().(*net.TCPAddr).Port
	require.NoError(t, l.Close())
	work, err := os.MkdirTemp("", "rw")
	require.NoError(t, err)
	log, err := os.Create(filepath.Join(work, "log"))
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Join(work, "work"), 0o755))
	require.NoError(t, os.MkdirAll(filepath.Join(work, "cas"), 0o755))
	cmd := exec.Command("java", "-cp", classes+":"+filepath.Join(dir, "rw/root/usr/share/bazel/A-server.jar"), "com.google.devtools.build.remote.worker.RemoteWorker",
		"--listen_port="+strconv.Itoa(port), "--work_path="+filepath.Join(work, "work"), "--cas_path="+filepath.Join(work, "cas"))
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
		if t.Failed() {
			b, _ := os.ReadFile(log.Name())
			t.Log(string(b[max(0, len(b)-6000):]))
		}
		_ = os.RemoveAll(work)
	})
	url := "grpc://127.0.0.1:" + strconv.Itoa(port)
	require.Eventually(t, func() bool {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		c, err := remote.Dial(ctx, url, remote.Options{})
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	}, time.Minute, 300*time.Millisecond)
	return url
}

func TestBazelsWorkerKeepsTheSuite(t *testing.T) {
	client := dial(t, startRemoteWorker(t))
	runnertest.TestElsewhere(t, func(t *testing.T) (executor.Runner, cache.Store) {
		store := mem.New(t.TempDir())
		return &Runner{Name: "farm", Courier: &Courier{Client: client, CAS: store}, After: time.After}, store
	}, exceptOfServers)
}

func TestSlurmKeepsTheSuite(t *testing.T) {
	if testing.Short() {
		t.Skip("a real engine is slow under the race detector")
	}
	for _, program := range []string{"slurmctld", "slurmd", "munged"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip("there is no Slurm; testdata/peers/peers.sh of cmd/ufbuild installs it")
		}
	}
	dir, err := os.MkdirTemp("", "slurm") // names of sockets are short
	require.NoError(t, err)
	conf := filepath.Join(dir, "slurm.conf")
	said, err := exec.Command("bash", filepath.Join(peers, "slurm.sh"), "start", dir).CombinedOutput()
	t.Cleanup(func() {
		_ = exec.Command("bash", filepath.Join(peers, "slurm.sh"), "stop", dir).Run()
		_ = os.RemoveAll(dir)
	})
	if err != nil {
		t.Skipf("Slurm is installed and does not start here: %s", said)
	}
	self, err := os.Executable()
	require.NoError(t, err)
	runnertest.TestElsewhere(t, func(t *testing.T) (executor.Runner, cache.Store) {
		server := remotetest.Start(t, remotetest.Options{})
		store := mem.New(t.TempDir())
		return submit.New(submit.Options{
			Remote: "slurm", Engine: submit.Engines["slurm"], Program: self, Address: server.URL(), Courier: &Courier{Client: dial(t, server.URL()), CAS: store, Served: true},
			Logs: filepath.Join(t.TempDir(), "logs"), Environ: []string{"PATH=" + os.Getenv("PATH"), "SLURM_CONF=" + conf}, Poll: time.Second, After: time.After,
		}), store
	}, exceptOfSlurm)
}

// exceptOfSlurm are cases of many jobs, each of which takes seconds: that the engine is Slurm makes no difference to them.
var exceptOfSlurm = map[string]string{
	"attempts do not kill each other": "many jobs", "program not found": "many jobs", "standard input": "many jobs", "both streams are one log": "many jobs",
	"nothing survives": "see TestJobsKeepTheSuite", "nothing survives a stop": "see TestJobsKeepTheSuite", "no inputs and no outputs": "see success",
	"program of the workspace": "see inputs", "modes": "see TestJobsKeepTheSuite", "links": "see TestJobsKeepTheSuite", "a pipe blocks nobody": "see TestJobsKeepTheSuite",
}
