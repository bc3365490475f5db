package main

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"unsafe"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/ui"
	"github.com/ufbuild/ufbuild/lang"
)

func (a *app) doctorCommand() *cobra.Command {
	var r remoteFlags
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Look at what a build finds on this machine",
		Long: `Lists the programs of agents with their versions and kinds of login, what the
campaign here needs and does not find, whether its contracts can be judged, where
the store is and how much room it has, what the kernel offers, and which limits of
a task it can enforce. It starts programs to ask for their version, validate
commands to see that they can run, and itself to try a limit; it leaves nothing
behind. The exit code is 6 when a build would miss something.

With --remote, or where the campaign names a remote, it also asks that server what it
offers, and with the mode write stores a few bytes there and reads them back. The
engine of each remote block is asked for a job that nobody handed in.`,
		Example: `  ufbuild doctor
  ufbuild doctor --remote grpc://cache.example:9092
  ufbuild doctor --json | jq '.findings[] | select(.state == "missing")'`,
		RunE: func(*cobra.Command, []string) error { return a.runDoctor(&r) },
	}
	r.bind(cmd)
	return cmd
}

// finding is one thing that doctor looked at.
type finding struct {
	Part  string `json:"part"`  // agents, login, campaign, contracts, store, remote, engine, kernel or sandbox
	Name  string `json:"name"`  // of the program or feature
	State string `json:"state"` // ok; absent: nobody here needs it; missing: a build needs it
	Words string `json:"words,omitempty"`
}

func (a *app) runDoctor(r *remoteFlags) error {
	l, err := a.doctorCampaign()
	if err != nil {
		return err
	}
	campaign := l.campaign
	found := a.agentPrograms(campaign)
	found = append(found, a.campaignNeeds(campaign)...)
	found = append(found, a.loginFindings(campaign)...)
	found = append(found, a.contractFindings(l)...)
	found = append(found, a.storeFindings(l)...)
	onRemote, err := a.remoteFindings(r, campaign.Remote)
	if err != nil {
		return err
	}
	found = append(append(found, onRemote...), a.engineFindings(r, campaign)...)
	found = append(found, kernelFindings()...)
	found = append(found, a.sandboxFindings(l)...)
	if err := a.printFindings(found); err != nil {
		return err
	}
	for _, f := range found {
		if f.State == "missing" {
			return exit(exitWorld)
		}
	}
	return nil
}

// doctorCampaign is the campaign here, an empty one where there is none: a machine is looked at before
// the first campaign too. One that is broken is reported, and looked past.
func (a *app) doctorCampaign() (*loaded, error) {
	none := &loaded{campaign: &lang.Campaign{}}
	l, err := a.load(false)
	if err != nil {
		return nil, err
	}
	absent := func(d lang.Diagnostic) bool { return d.Code == "UF1001" && d.Hint != "" } // not: it cannot be read
	if a.dir == "" && a.file == "" && slices.ContainsFunc(l.problems, absent) {
		return none, nil
	}
	if l, err = a.loadSound(false); err != nil {
		l = none // its problems are printed
	}
	return l, nil
}

func (a *app) printFindings(found []finding) error {
	if a.json {
		return a.printJSON(map[string]any{"schema_version": 1, "findings": found})
	}
	style := a.outTerm.Style()
	var rows [][]string
	for _, f := range found {
		state := style.Dim(f.State)
		switch f.State {
		case "ok":
			state = style.Good(f.State)
		case "missing":
			state = style.Bad(f.State)
		}
		rows = append(rows, []string{f.Part, f.Name, state, f.Words})
	}
	return a.outTerm.Table(a.out, nil, rows)
}

// agentPrograms looks for the programs of the adapters, and of the campaign's agents.
func (a *app) agentPrograms(c *lang.Campaign) []finding {
	needed := map[string]bool{}
	programs := []string{"claude", "codex", "gemini", "opencode"}
	for _, ag := range c.Agents {
		program := ag.Adapter
		if len(ag.Command) > 0 {
			program = ag.Command[0]
		}
		if strings.Contains(program, "/") {
			continue // a file of the campaign, which check looks at
		}
		if !needed[program] && !slices.Contains(programs, program) {
			programs = append(programs, program)
		}
		needed[program] = true
	}
	var out []finding
	for _, p := range programs {
		out = append(out, a.agentProgram(p, needed[p]))
	}
	return out
}

func (a *app) agentProgram(name string, needed bool) finding {
	f := finding{Part: "agents", Name: name, State: "ok"}
	switch {
	case !a.onPath(name) && needed:
		f.State, f.Words = "missing", "an agent of this campaign needs it; it is not on PATH"
	case !a.onPath(name):
		f.State = "absent"
	default:
		said, err := askVersion(a.context(), name)
		if f.Words = said; err != nil {
			f.Words = "does not say its version"
		}
	}
	return f
}

// campaignNeeds looks for the programs that tasks require, and for git, which repo workspaces take.
func (a *app) campaignNeeds(c *lang.Campaign) []finding {
	var names []string
	git := "absent"
	for _, t := range c.Tasks {
		for _, inst := range t.Instances {
			if inst.RunsOn(inst.Profile) != "" {
				continue // where it runs has to have it
			}
			if inst.Workspace.Mode == lang.ModeRepo || inst.Workspace.Git != "" {
				git = "missing"
			}
			for _, name := range inst.Requires {
				if !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
	}
	out := []finding{{Part: "campaign", Name: "git", State: git}}
	if a.onPath("git") {
		out[0] = a.agentProgram("git", false)
		out[0].Part = "campaign"
	}
	for _, name := range names {
		f := finding{Part: "campaign", Name: name, State: "ok"}
		if !a.onPath(name) {
			f.State, f.Words = "missing", "a task requires it; it is not on PATH"
		}
		out = append(out, f)
	}
	return out
}

// storeFindings says where results live and whether there is room for more.
func (a *app) storeFindings(l *loaded) []finding {
	dir, err := a.storeDir(l)
	if err != nil {
		first, _, _ := strings.Cut(err.Error(), "\n")
		return []finding{{Part: "store", Name: "place", State: "missing", Words: first}}
	}
	place := finding{Part: "store", Name: "place", State: "ok", Words: dir}
	at := nearest(dir)
	if at != dir {
		place.Words = dir + ", made by the first build"
	}
	if unix.Access(at, unix.W_OK) != nil {
		place.State, place.Words = "missing", at+" cannot be written"
	}
	room := finding{Part: "store", Name: "room", State: "ok"}
	var fs unix.Statfs_t
	if err := unix.Statfs(at, &fs); err != nil {
		room.State, room.Words = "missing", err.Error()
	} else {
		free := int64(fs.Bavail) * fs.Bsize
		room.Words = ui.Bytes(free) + " free on " + fileSystem(int64(fs.Type))
		if free < lowRoom {
			room.State = "missing"
		}
	}
	return []finding{place, room, syncFinding(at)}
}

// lowRoom is less than one attempt over a larger repository takes.
const lowRoom = 256 << 20

// fileSystem names the file systems that stores are put on.
func fileSystem(magic int64) string {
	names := map[int64]string{
		unix.BTRFS_SUPER_MAGIC: "btrfs (clones files)", unix.XFS_SUPER_MAGIC: "xfs (clones files, as a rule)", unix.EXT4_SUPER_MAGIC: "ext4",
		unix.TMPFS_MAGIC: "tmpfs (gone after a reboot)", unix.OVERLAYFS_SUPER_MAGIC: "overlayfs", unix.NFS_SUPER_MAGIC: "nfs",
	}
	if name, ok := names[magic]; ok {
		return name
	}
	return fmt.Sprintf("a file system of type %#x", magic)
}

// kernelFindings looks for what ending every process of a task takes.
func kernelFindings() []finding {
	var release string
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		release = unix.ByteSliceToString(u.Release[:])
	}
	out := []finding{{Part: "kernel", Name: runtime.GOOS, State: "ok", Words: release}}
	adopt := finding{Part: "kernel", Name: "subreaper", State: "ok", Words: "adopts processes that tasks leave behind"}
	var on int32
	if err := prctlGet(unix.PR_GET_CHILD_SUBREAPER, &on); err != nil {
		adopt.State, adopt.Words = "missing", err.Error()
	}
	return append(out, adopt)
}

// prctlGet asks the kernel for a flag of this process.
func prctlGet(option int, value *int32) error {
	return unix.Prctl(option, uintptr(unsafe.Pointer(value)), 0, 0, 0)
}
