package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/cache/disk"
	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/ui"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/journal"
	"github.com/ufbuild/ufbuild/executor/source"
	freshness "github.com/ufbuild/ufbuild/executor/stamp"
	"github.com/ufbuild/ufbuild/lang"
)

// noStampVariable turns stamps off, for tests that compare answers with and without.
const noStampVariable = "UFBUILD_NO_STAMP"

func stampPath(root string) string { return filepath.Join(root, journal.Dir, "fresh") }

// answerUnchanged answers a build or plan from the stamp of an earlier one. It is false when the
// question has to be looked into.
func (a *app) answerUnchanged(targets []string) bool {
	begun := time.Now()
	if a.json || a.getenv(noStampVariable) != "" {
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
	if _, held := journal.Held(root); held {
		return false // what another build is changing is for the long way to tell
	}
	idle := false
	nodes, ok := freshness.LoadIf(stampPath(root), root, func(store string) digest.Digest {
		idle = nothingLeft(store)
		return a.question(store, targets)
	})
	if !ok || !idle {
		return false
	}
	fmt.Fprintf(a.out, "%s, %s\n", sentence(nodes, map[executor.State]int{executor.IsFresh: nodes}), ui.Duration(time.Since(begun)))
	return true
}

// nothingLeft reports whether no build has a work directory in the store. A dead one may have left something
// to clear away, which takes a build that looks.
func nothingLeft(store string) bool {
	entries, err := os.ReadDir(filepath.Join(store, "work"))
	return len(entries) == 0 && (err == nil || os.IsNotExist(err))
}

// question is the identity of what is asked: this program, all that its flags and environment say
// about the campaign, and what store and journal have recorded. Files are not in it: they are observed.
func (a *app) question(store string, targets []string) digest.Digest {
	var b bytes.Buffer
	add := func(parts ...string) {
		for _, p := range parts {
			b.WriteString(strconv.Quote(p))
			b.WriteByte('\n')
		}
	}
	add("program", version().Version, "store", store, "preset", a.preset, "file", a.file)
	for _, v := range a.vars {
		add("var", v.text, strconv.FormatBool(v.file))
	}
	add(append([]string{"sets"}, a.sets...)...)
	add(append([]string{"targets"}, targets...)...)
	for _, kv := range a.environ {
		if strings.HasPrefix(kv, "UF_VAR_") {
			add("environ", kv)
		}
	}
	position, err := disk.Position(store)
	if err != nil {
		position = time.Now().String() // no two questions are the same then
	}
	add("position", position)
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
	if sum.Counts[executor.IsFresh]+sum.Counts[executor.Ran] != sum.Total || len(s.problems) > 0 || !s.observeCampaign() {
		return
	}
	for _, ag := range s.campaign.Agents {
		if ag.Version == "key" {
			return // stat does not see what a program says of itself
		}
	}
	for i := range sum.Nodes {
		inst, ok := s.instance(sum.Nodes[i].Address)
		if len(sum.Nodes[i].Warnings) > 0 || !ok || !inst.Cache {
			return // a task with cache = false is stale whatever stat says
		}
	}
	seen, ok := s.files.Observed()
	if !ok {
		return
	}
	s.app.warn(freshness.Save(stampPath(s.campaign.Root), &freshness.Stamp{
		Store: s.store.Dir(), Question: s.app.question(s.store.Dir(), targets), Nodes: sum.Total, Seen: seen,
	}))
}

// observeCampaign observes every file that made the campaign, and that it has not changed since it was
// read.
func (s *session) observeCampaign() bool {
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
	s.files.Observe(filepath.Join(journal.Dir, "journal.log"))
	return s.observeStore()
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
