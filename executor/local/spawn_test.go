package local

import (
	"os/exec"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// TestAHungStartHoldsUpNobody: a program on a file system that does not answer has a thread for itself after a second.
func TestAHungStartHoldsUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStarter()
		hang := make(chan struct{})
		begun := time.Now()
		for n := range 3 {
			go s.run(func() { <-hang })
			synctest.Wait()
			s.run(func() {})
			require.Equal(t, time.Duration(n+1)*startPatience, time.Since(begun), "each costs one wait")
			s.run(func() {})
			require.Equal(t, time.Duration(n+1)*startPatience, time.Since(begun), "and then there is a thread more")
		}
		close(hang)
		synctest.Wait()
		close(s)
	})
}

// TestStoppedBeforeItStarted: who stops everything waits for no start, and what starts after that is stopped at once.
func TestStoppedBeforeItStarted(t *testing.T) {
	r, _ := newRunner(t)
	p := &process{handle: -1}
	r.setRunning(p, true)
	p.stop(stoppedTimeout, time.Hour)
	r.KillAll()
	cmd := exec.Command("sleep", "1000")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	require.NoError(t, cmd.Start())
	p.started(cmd.Process.Pid)
	require.ErrorContains(t, cmd.Wait(), "killed")
	p.end()
	r.setRunning(p, false)
	require.Equal(t, stoppedTimeout, p.ending(0).stoppedBy, "the first reason stays")
}
