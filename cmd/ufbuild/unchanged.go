package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/cache/disk/position"
	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/early"
	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/first"
	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/ui"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/journal"
	"github.com/ufbuild/ufbuild/executor/source"
	"github.com/ufbuild/ufbuild/executor/stamp"
	"github.com/ufbuild/ufbuild/lang"
)

// answerUnchanged answers a build or plan from the stamp of an earlier one. It is false when the
// question has to be looked into. Package first has tried before, for the command line of the build that left
// the stamp; here the same question may be put in other words.
func (a *app) answerUnchanged(targets []string, may access) bool {
	begun := time.Now()
	if a.json || a.getenv(first.NoStamp) != "" {
		return false
	}
	o, ds, err := a.options()
	if err != nil || len(ds) > 0 {
		return false
	}
	root, files, err := lang.Locate(o)
	if err != nil || len(files) == 0 {
		return false
	}
	k, err := stamp.Load(first.StampPath(root))
	if err != nil || digest.Digest(k.Question) != a.question(k.Store, targets) || !early.Holds(k, root) {
		return false
	}
	if may == writing {
		text := a.invocation()
		if k.Invocation == unspelled {
			text = unspelled // the question is the same, and so are its secrets
		}
		a.warn(stamp.Renew(k, first.StampPath(root), text))
	}
	fmt.Fprintf(a.out, "%s, %s\n", k.Answer, ui.Duration(time.Since(begun)))
	return true
}

// invocation is how package first will spell this command line when it comes again, "" when it does not know it.
func (a *app) invocation() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	text, _ := first.Invocation(a.args, a.environ, dir)
	return text
}

// unspelled stands in a stamp for an invocation that holds a secret value. It is written nowhere, so package first leaves such a
// build to [app.answerUnchanged].
const unspelled = "not spelled"

// invocation is that of the process, unless a secret is in it: a sensitive variable, one of which the campaign as it was loaded
// knows nothing, or what a server lets us in for.
func (s *session) invocation() string {
	plain := map[string]bool{}
	for _, v := range s.campaign.Variables {
		plain[v.Name] = !v.Sensitive
	}
	for _, kv := range s.app.environ {
		key, value, _ := strings.Cut(kv, "=")
		name, sets := strings.CutPrefix(key, "UF_VAR_")
		if sets && !plain[name] || key == "UFBUILD_REMOTE_HEADER" && value != "" {
			return unspelled
		}
	}
	return s.app.invocation()
}

// question is the identity of what is asked: this program and all that its flags and environment say
// about the campaign. Files are not in it: they are observed.
func (a *app) question(store string, targets []string) digest.Digest {
	var b bytes.Buffer
	add := func(parts ...string) {
		for _, p := range parts {
			b.WriteString(strconv.Quote(p))
			b.WriteByte('\n')
		}
	}
	add("program", version().Version, "store", store, "preset", a.preset, "file", a.file)
	add("choice", a.store, "data", a.getenv("XDG_DATA_HOME"), "home", a.getenv("HOME")) // what storeDir goes by
	add("config", a.getenv("XDG_CONFIG_HOME"), "path", a.getenv("PATH"))                // what git goes by, as by home, and which it is
	for _, v := range a.vars {
		add("var", v.text, strconv.FormatBool(v.file))
	}
	add(append([]string{"sets"}, a.sets...)...)
	add(append([]string{"targets"}, targets...)...)
	for _, kv := range slices.Sorted(slices.Values(a.environ)) {
		if strings.HasPrefix(kv, "UF_VAR_") {
			add("environ", kv)
		}
	}
	return digest.Of(b.Bytes())
}

// openFiles opens the files of a campaign with its stat cache.
func openFiles(root string) *source.Files {
	return source.Open(root, filepath.Join(root, journal.Dir, "stat"))
}

// watch starts to remember what is looked at. It comes before the campaign is read, so that nothing can
// change unseen between the reading and the look.
func (a *app) watch(o lang.Options) *source.Files {
	root, files, err := lang.Locate(o)
	if err != nil || len(files) == 0 {
		return nil
	}
	f := openFiles(root)
	f.Watch()
	f.Observe(".")
	return f
}

// stampTick is a tick of the clock that stamps files, at most.
const stampTick = 10 * time.Millisecond

// leaveStamp remembers that everything asked for is fresh. Whatever could make the answer depend on
// more than was observed means no stamp.
func (s *session) leaveStamp(targets []string, sum *executor.Summary) {
	if s.slice != nil && len(s.slice.cone) > 0 {
		time.Sleep(stampTick) // what is as young as its stamp is trusted by nobody, and the whole campaign would be looked at next
	}
	if s.app.getenv(first.NoStamp) != "" || sum.Counts[executor.IsFresh]+sum.Counts[executor.Ran] != sum.Total || len(s.problems) > 0 || len(sum.Unclean) > 0 || !s.observeCampaign() {
		return
	}
	for _, ag := range s.campaign.Agents {
		if ag.Version == "key" {
			return // stat does not see what a program says of itself
		}
		s.observeProgram(ag)
	}
	for i := range sum.Nodes {
		inst, ok := s.instance(sum.Nodes[i].Address)
		if len(sum.Nodes[i].Warnings) > 0 || !ok || !inst.Cache {
			return // a task with cache = false is stale whatever stat says
		}
	}
	if file := s.app.configFile(); file != "" {
		s.files.Observe(file)
	}
	exe, err := os.Executable()
	if err != nil {
		return
	}
	s.files.Observe(exe)      // another ufbuild decides for itself
	s.app.warn(s.saveFiles()) // what was read within a tick of its writing is read again
	seen, ok := s.files.Observed()
	end, err := position.Of(s.store.Dir())
	if !ok || err != nil {
		return
	}
	st := &stamp.Stamp{
		Question: stamp.Question(s.app.question(s.store.Dir(), targets)), Store: s.store.Dir(), Position: end,
		Invocation: s.invocation(), Answer: sentence(sum.Total, map[executor.State]int{executor.IsFresh: sum.Total}), Seen: seen,
	}
	if s.slice != nil {
		st.Base = s.slice.stamp
	}
	s.leaveCompiled(st, sum) // before the stamp, so that a stamp never goes with an older one
	s.app.warn(stamp.Save(first.StampPath(s.campaign.Root), st))
}

// observeCampaign observes every file that made the campaign, and that it has not changed since it was
// read.
func (s *session) observeCampaign() bool {
	if !s.observeFiles() {
		return false
	}
	s.files.Observe(filepath.Join(journal.Dir, "journal.log"))
	return s.observeStore()
}

// observeFiles observes the campaign's files and this program, and nothing of what builds write.
func (s *session) observeFiles() bool {
	s.files.Observe(".")
	if !s.observeLock() {
		return false
	}
	for _, f := range s.campaign.Files {
		if bytes.Contains(f.Bytes, []byte("fileset(")) {
			return false // the listing it read is not known here
		}
		now, err := s.files.File(f.Path)
		if err != nil || now.Digest != digest.Of(f.Bytes) {
			return false
		}
	}
	for _, v := range s.app.vars {
		if v.file {
			abs, err := filepath.Abs(v.text)
			if err != nil {
				return false
			}
			s.files.Observe(abs)
		}
	}
	exe, err := os.Executable()
	if err != nil {
		return false
	}
	s.files.Observe(exe)
	return true
}

// observeProgram observes the program of an agent whose version is recorded: another one is worth a note.
func (s *session) observeProgram(ag *lang.Agent) {
	if !s.versions.mayAsk(ag) {
		return
	}
	if program, err := startedBy(ag); err == nil {
		if path, err := exec.LookPath(program); err == nil {
			if real, err := filepath.EvalSymlinks(path); err == nil {
				s.files.Observe(real)
			}
		}
	}
}

// observeStore observes the blobs that the answer rests on: one that goes missing makes its task stale.
func (s *session) observeStore() bool {
	files, err := s.store.PackFiles()
	if err != nil {
		return false
	}
	for _, f := range files {
		s.files.Observe(f)
	}
	return true
}

// observeBlob observes a blob that has a file of its own.
func (s *session) observeBlob(d digest.Digest) {
	if f, ok := s.store.BlobFile(d); ok {
		s.files.Observe(f)
	}
}
