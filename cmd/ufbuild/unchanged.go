package main

import (
	"bytes"
	"fmt"
	"maps"
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
	_, root, ok := a.stamped()
	if !ok {
		return false
	}
	l, err := early.Look(root)
	if err != nil {
		return false
	}
	a.looked = l
	k := l.Kept
	if digest.Digest(k.Question) != a.question(k.Store, targets) || !a.canSay(k, root, may) || !l.Stands(stamp.Read) || !a.saysVersions(k.Versions) {
		return false
	}
	if may == writing {
		text := a.invocation()
		if k.Invocation == unspelled {
			text = unspelled // the question is the same, and so are its secrets
		}
		a.warn(stamp.Renew(k, first.StampPath(root), text))
	}
	a.sayUnchanged(k, may, begun)
	return true
}

// stamped finds the campaign that a stamp may speak of, with what the command line says of it. It is false where none is to be asked.
func (a *app) stamped() (o lang.Options, root string, ok bool) {
	if a.json || a.getenv(first.NoStamp) != "" {
		return o, "", false
	}
	o, ds, err := a.options()
	if err != nil || len(ds) > 0 {
		return o, "", false
	}
	root, files, err := lang.Locate(o)
	return o, root, err == nil && len(files) > 0
}

// sayUnchanged says what a stamp says. A plan, as in package first, took no time worth telling.
func (a *app) sayUnchanged(k *stamp.Kept, may access, begun time.Time) {
	fmt.Fprint(a.err, a.painted(k.Remarks, a.errTerm))
	fmt.Fprint(a.out, a.painted(k.Warnings, a.outTerm))
	if may == reading {
		fmt.Fprintln(a.out, k.Answer)
		return
	}
	fmt.Fprintf(a.out, "%s, %s\n", k.Answer, ui.Duration(time.Since(begun)))
}

// canSay reports whether what a stamp says beside its answer would be said here: a plan has warnings in its table, a stream of
// documents elsewhere; remarks name files from the root, and may be errors now.
func (a *app) canSay(k *stamp.Kept, root string, may access) bool {
	return (k.Warnings == "" || may == writing && a.progress != "json") && (k.Remarks == "" || fromHere(root) == "" && a.warnings != "error")
}

func (a *app) painted(text string, t ui.Terminal) string {
	if t.Color {
		return text
	}
	return first.Unpainted(text)
}

// said is what is kept of words that may have colours. It is false where the colours could not be told from the words.
func said(words func(ui.Style) string) (string, bool) {
	painted := words(ui.Terminal{Color: true}.Style())
	return painted, first.Unpainted(painted) == words(ui.Style{})
}

// saysVersions reports whether programs say of themselves what they said for a stamp.
func (a *app) saysVersions(versions string) bool {
	asked := agentVersions{app: a}
	for line := range strings.Lines(versions) {
		program, said, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if now := asked.ask(program); now.err != nil || now.said != said {
			return false
		}
	}
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

// leaveStamp remembers that everything asked for is fresh. Whatever could make the answer depend on
// more than was observed means no stamp.
func (s *session) leaveStamp(targets []string, sum *executor.Summary) {
	if s.slice != nil {
		// what is as young as its stamp is trusted by nobody, and the whole campaign would be looked at next
		time.Sleep(min(source.Tick, time.Until(s.files.Youngest().Add(source.Tick))))
	}
	if s.app.getenv(first.NoStamp) != "" || sum.Counts[executor.IsFresh]+sum.Counts[executor.Ran] != sum.Total || len(sum.Unclean) > 0 || s.sources.made && !still(sum) || !s.observeCampaign() {
		return
	}
	for i := range sum.Nodes {
		r := sum.Nodes[i]
		inst, ok := s.instance(r.Address)
		if !ok || !inst.Cache {
			return // a task with cache = false is stale whatever stat says
		}
		if len(r.Warnings) > 0 && r.State != executor.IsFresh {
			return // it warned of what it did; the next build says what is left of that
		}
	}
	remarks, ok := said(func(style ui.Style) string { return s.remarks(style, "") + s.damage })
	warnings, clear := said(func(style ui.Style) string {
		var b strings.Builder
		printWarnings(&b, style, sum)
		return b.String()
	})
	if !ok || !clear {
		return
	}
	versions, ok := s.observeAgents()
	if !ok {
		return
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
		Invocation: s.invocation(), Answer: sentence(sum.Total, map[executor.State]int{executor.IsFresh: sum.Total}),
		Remarks: remarks, Warnings: warnings, Versions: versions, Out: s.campaign.Out, Seen: seen,
	}
	if s.slice != nil {
		if !s.slice.accountsFor(seen, s.campaign.Out) {
			return
		}
		st.Base = s.slice.stamp
	}
	s.leaveCompiled(st, sum) // before the stamp, so that a stamp never goes with an older one
	s.app.warn(stamp.Save(first.StampPath(s.campaign.Root), st))
}

// still reports whether a build put no outputs in place. Where one is a source of another task, that task may have been decided before.
func still(sum *executor.Summary) bool {
	return !slices.ContainsFunc(sum.Nodes, func(r *executor.NodeResult) bool { return r.State != executor.IsFresh || r.Restored })
}

// observeCampaign observes every file that made the campaign, and that it has not changed since it was
// read.
func (s *session) observeCampaign() bool {
	if !s.observeFiles() {
		return false
	}
	s.files.ObserveLog(journalFile)
	return s.observeStore()
}

// journalFile is where builds of a campaign are recorded, by slash path below the root.
const journalFile = journal.Dir + "/journal.log"

// observeFiles observes the campaign's files and this program, and nothing of what builds write.
func (s *session) observeFiles() bool {
	s.files.Observe(".")
	if !s.observeLock() {
		return false
	}
	if !s.campaign.LooksSame(s.files.FS()) {
		return false // what fileset() lists changed, or whether a glob matches
	}
	for _, f := range s.campaign.Files {
		if !s.observeText(f.Path, f.Bytes) {
			return false
		}
	}
	for _, name := range s.campaign.DataFiles() {
		text, ok := s.campaign.Source(name)
		if ok && !s.observeText(name, text) || !ok && s.files.IsRegular(name) {
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

// observeText observes a file that was read, and that it has not changed since.
func (s *session) observeText(name string, text []byte) bool {
	of := s.slice.digestOf(name, text, s.files)
	now, err := s.files.File(name)
	return err == nil && now.Digest == of
}

// observeAgents observes the programs of agents, and returns what those said of themselves whose version is in keys. Stat does not
// see that: the program on PATH may be a link to a launcher, which goes by the settings of the working directory, or a script
// beside the file that holds its version. So it is asked again before it is answered for; that is still less than to decide.
func (s *session) observeAgents() (versions string, ok bool) {
	programs := map[string]bool{}
	for _, ag := range s.campaign.Agents {
		if ag.Version != "key" {
			s.observeProgram(ag)
			continue
		}
		program, err := startedBy(ag)
		if err != nil {
			return "", false
		}
		programs[program] = true
	}
	for _, program := range slices.Sorted(maps.Keys(programs)) {
		a, asked := s.versions.answered(program)
		switch {
		case !asked: // no task that is wanted has it
		case a.err != nil || strings.ContainsAny(program+a.said, "\t\n"):
			return "", false
		default:
			versions += program + "\t" + a.said + "\n"
		}
	}
	return versions, true
}

// observeProgram observes the program of an agent whose version is recorded: another one is worth a note. So is one that comes before
// it on PATH.
func (s *session) observeProgram(ag *lang.Agent) {
	if !s.versions.mayAsk(ag) {
		return
	}
	program, err := startedBy(ag)
	if err != nil {
		return
	}
	path, err := exec.LookPath(program)
	if err != nil {
		return
	}
	if !strings.Contains(program, "/") {
		for _, dir := range filepath.SplitList(s.app.getenv("PATH")) {
			if at := filepath.Join(dir, program); at != path {
				s.files.Observe(at)
				continue
			}
			break
		}
	}
	s.files.Observe(path)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		s.files.Observe(real)
	}
}

// observeStore observes the blobs that the answer rests on: one that goes missing makes its task stale.
func (s *session) observeStore() bool {
	files, err := s.store.PackFiles()
	if err != nil {
		return false
	}
	for _, f := range files {
		s.files.ObserveLog(f)
	}
	return true
}

// observeBlob observes a blob that has a file of its own.
func (s *session) observeBlob(d digest.Digest) {
	if f, ok := s.store.BlobFile(d); ok {
		s.files.ObserveLog(f)
	}
}
