package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/executor/local"
	"github.com/ufbuild/ufbuild/executor/sandbox"
	"github.com/ufbuild/ufbuild/executor/workspace"
)

// sandboxFindings says what this machine can enforce, and how workspaces are filled.
func (a *app) sandboxFindings(l *loaded) []finding {
	files, network := "absent", "absent" // unless a task here needs them
	for _, t := range l.campaign.Tasks {
		for _, inst := range t.Instances {
			if inst.Workspace.Sandbox != string(sandbox.Off) {
				files = "missing"
			}
			if !inst.Workspace.Network {
				network = "missing"
			}
		}
	}
	return append([]finding{landlockFinding(files), networkFinding(network)}, a.copyFindings(l)...)
}

func landlockFinding(without string) finding {
	f := finding{Part: "sandbox", Name: "landlock", State: without}
	version, err := sandbox.Version()
	if err != nil {
		f.Words = err.Error() + "; sandbox \"writes\" and \"strict\" are refused"
		return f
	}
	f.State, f.Words = "ok", fmt.Sprintf("version %d: enforces sandbox \"writes\" and \"strict\"", version)
	if version < sandbox.SignalsFrom {
		f.Words += ", without signals (Linux 6.12)"
	}
	return f
}

func networkFinding(without string) finding {
	f := finding{Part: "sandbox", Name: "network", State: without}
	if err := local.CheckNoNetwork(); err != nil {
		f.Words = err.Error() + "; such tasks are refused"
		return f
	}
	f.State, f.Words = "ok", "enforces network = false by user and network namespaces"
	return f
}

// copyFindings tries how files get from the project into workspaces. It leaves nothing behind.
func (a *app) copyFindings(l *loaded) []finding {
	dir, err := a.storeDir(l)
	if err != nil || l.campaign.Root == "" {
		return nil
	}
	dir = nearest(dir)
	for _, f := range l.campaign.Files {
		from := filepath.Join(l.campaign.Root, filepath.FromSlash(f.Path))
		how, err := workspace.Copying(from, dir)
		if err != nil {
			continue
		}
		return []finding{{Part: "sandbox", Name: "copies", State: "ok", Words: copyWords[how] + acrossWords(from, dir)}}
	}
	return nil
}

// copyWords explain the ways to fill a workspace.
var copyWords = map[string]string{
	workspace.ByReflink: "large files are cloned (reflink)",
	workspace.ByKernel:  "large files are copied by the kernel; no reflink here",
	workspace.ByReading: "files are read and written; neither reflink nor copies by the kernel here",
}

// acrossWords says that a copy crosses from one file system to another, where it could be cheaper.
func acrossWords(from, to string) string {
	var a, b unix.Stat_t
	if unix.Stat(from, &a) != nil || unix.Stat(to, &b) != nil || a.Dev == b.Dev {
		return ""
	}
	return ", from one file system to another"
}

// nearest is a path, or the nearest directory above it that is there.
func nearest(dir string) string {
	for _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) && dir != filepath.Dir(dir); _, err = os.Stat(dir) {
		dir = filepath.Dir(dir)
	}
	return dir
}
