package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/ui"
)

type diffFlags struct {
	inherited bool
	cone      bool
	output    string
	stat      bool
}

func (a *app) diffCommand() *cobra.Command {
	var f diffFlags
	cmd := &cobra.Command{
		Use:   "diff A[@N] [B[@M]]",
		Short: "Compare the files of two attempts",
		Long: `Prints what changed between the outputs of two attempts as a patch that "git apply"
takes. With one target it compares the attempt that a task reads now, or attempt N of
its history, with the one before it that left outputs, and says which these are; with
--inherited it compares the task's trees with what its workspace was started from: the
trees it inherits, and the project's own files as they were checked out then. With
--cone it compares the task and all that depends on it: what they had while the task
read the one attempt, and while it read the other. Two builds are compared by what the
whole campaign read at their ends.

Paths are those of the workspace; with --cone and of builds the instance stands before
them. Files that are not text are in the patch as git writes
them; on a terminal they are only said to differ. Of modes a patch holds what git keeps:
whether a file is executable. Directories are not in it.`,
		Example: `  ufbuild diff triage
  ufbuild diff triage@1 triage@3 --stat
  ufbuild diff fix --inherited > fix.patch
  ufbuild diff triage@1 triage@2 --cone --stat
  ufbuild diff 'hunt/reentrancy#0' 'hunt/reentrancy#1' --output findings`,
		Args:              cobra.RangeArgs(1, 2),
		ValidArgsFunction: a.completeTargets,
		RunE:              func(_ *cobra.Command, args []string) error { return a.runDiff(args, f) },
	}
	fs := cmd.Flags()
	fs.BoolVar(&f.inherited, "inherited", false, "compare the trees of a task with what it started from")
	fs.BoolVar(&f.cone, "cone", false, "compare all that depends on the task too")
	fs.StringVarP(&f.output, "output", "o", "", "compare output `NAME` alone")
	fs.BoolVar(&f.stat, "stat", false, "print counts of lines instead of the lines")
	cmd.MarkFlagsMutuallyExclusive("cone", "inherited")
	cmd.MarkFlagsMutuallyExclusive("cone", "output")
	return cmd
}

func (a *app) runDiff(args []string, f diffFlags) error {
	if f.inherited && len(args) > 1 {
		return usageErrorf("--inherited compares a task with what it started from; name one target")
	}
	s, err := a.openSession(reading)
	if err != nil {
		return err
	}
	defer func() { _ = s.close() }()
	older, newer, err := s.sides(args, f)
	if err != nil {
		return err
	}
	changes := compareFiles(older.files, newer.files)
	if len(args) == 1 && len(changes) > 0 && !f.inherited && !a.json {
		fmt.Fprintf(a.err, "from %s to %s\n", older.label, newer.label)
	}
	if len(changes) == 0 {
		fmt.Fprintf(a.err, "%s and %s do not differ\n", older.label, newer.label)
	}
	if a.json || f.stat {
		return a.diffSummary(s, older, newer, changes)
	}
	w := a.exactWriter()
	out := bufio.NewWriter(w)
	short := a.outTerm.IsTTY // nobody reads a screen of base 85
	for i := range changes { // one file at a time, so that a large tree is never in memory
		if err := s.readSides(&changes[i]); err != nil {
			return err
		}
		if err := changes[i].patch(out, short); err != nil {
			return err
		}
		changes[i] = fileChange{}
	}
	if err := errors.Join(out.Flush(), w.Close()); err != nil {
		return fmt.Errorf("write patch: %w", err)
	}
	return nil
}

// sides finds what is to be compared.
func (s *session) sides(args []string, f diffFlags) (older, newer fileSet, err error) {
	if f.cone {
		return s.coneSides(args)
	}
	if older, newer, ok, err := s.buildSides(args); ok || err != nil {
		return older, newer, err
	}
	pick := picked{name: f.output, trees: f.inherited}
	c, err := s.choose(args[len(args)-1])
	if err != nil {
		return older, newer, err
	}
	if newer, err = s.capturedFiles(c, pick); err != nil {
		return older, newer, err
	}
	if f.inherited {
		older, err = s.inheritedFiles(c, pick)
		return older, newer, err
	}
	first, err := s.firstSide(args, c)
	if err == nil {
		older, err = s.capturedFiles(first, pick)
	}
	return older, newer, err
}

func (s *session) firstSide(args []string, second chosen) (chosen, error) {
	if len(args) == 2 {
		return s.choose(args[0])
	}
	return s.before(second)
}

// before is the attempt in front of c in the history of its task that left an output. One that was interrupted mostly left none, and
// compared with that everything is new.
func (s *session) before(c chosen) (chosen, error) {
	gens, err := s.generations(c.address)
	if err != nil {
		return chosen{}, err
	}
	for i := c.gen.N - 2; i >= 0; i-- {
		if left(&gens[i].Attempt) {
			return chosen{address: c.address, gen: gens[i], have: true}, nil
		}
	}
	hint := "`ufbuild show " + quoteTarget(c.address) + " --history` lists its attempts"
	if start, err := s.startFiles(&c.gen.Attempt); err == nil && start != nil {
		hint = "add --inherited to compare it with what it started from"
	}
	return chosen{}, usageErrorf("%s has no earlier attempt to compare with\nhint: %s", c.label(), hint)
}

// left reports whether an attempt left an output.
func left(at *cache.Attempt) bool {
	return at.Captured != nil && slices.ContainsFunc(at.Captured.Outputs, func(o cache.Output) bool { return o.Exists })
}

// label names an attempt as the command line does.
func (c chosen) label() string {
	if !c.have {
		return c.address.String()
	}
	return fmt.Sprintf("%s@%d", c.address, c.gen.N)
}

// readSides reads the bytes of both sides and compares them.
func (s *session) readSides(c *fileChange) error {
	for _, v := range []*fileVersion{c.old, c.new} {
		if v == nil {
			continue
		}
		if v.entry.Kind == cache.Link {
			v.text = []byte(v.entry.Target)
			continue
		}
		if v.large = v.entry.Digest.Size > maxCompared; v.large {
			v.read = func() (io.ReadCloser, error) { return s.store.Open(v.entry.Digest) }
			continue
		}
		var err error
		if v.text, err = s.blob(v.entry.Digest); err != nil {
			return fmt.Errorf("compare %s: %w", c.path, err)
		}
	}
	c.compare()
	return nil
}

// diffReport is what `diff --json` prints.
type diffReport struct {
	SchemaVersion int        `json:"schema_version"`
	From          string     `json:"from"`
	To            string     `json:"to"`
	Files         []diffFile `json:"files"`
}

type diffFile struct {
	Path      string `json:"path"`
	Status    string `json:"status"` // added, deleted, changed
	Binary    bool   `json:"binary,omitempty"`
	Added     int    `json:"added"` // lines
	Removed   int    `json:"removed"`
	OldMode   string `json:"old_mode,omitempty"` // as git keeps it
	NewMode   string `json:"new_mode,omitempty"`
	OldDigest string `json:"old_digest,omitempty"`
	NewDigest string `json:"new_digest,omitempty"`
}

func (a *app) diffSummary(s *session, older, newer fileSet, changes []fileChange) error {
	r := diffReport{SchemaVersion: 1, From: older.label, To: newer.label, Files: []diffFile{}}
	for i := range changes {
		if err := s.readSides(&changes[i]); err != nil {
			return err
		}
		r.Files = append(r.Files, changes[i].report())
		changes[i] = fileChange{}
	}
	if a.json {
		return a.printJSON(r)
	}
	return a.printStat(r)
}

func (c *fileChange) report() diffFile {
	f := diffFile{Path: c.path, Status: c.status(), Binary: c.binary}
	f.Added, f.Removed = c.lines()
	if c.old != nil {
		f.OldMode, f.OldDigest = gitMode(c.old.entry), digestWords(c.old.entry)
	}
	if c.new != nil {
		f.NewMode, f.NewDigest = gitMode(c.new.entry), digestWords(c.new.entry)
	}
	return f
}

func digestWords(e cache.Entry) string {
	if e.Kind == cache.Link {
		return ""
	}
	return e.Digest.String()
}

func (a *app) printStat(r diffReport) error {
	var rows [][]string
	added, removed := 0, 0
	for _, f := range r.Files {
		lines := fmt.Sprintf("+%d -%d", f.Added, f.Removed)
		if f.Binary {
			lines = "binary"
		}
		added, removed = added+f.Added, removed+f.Removed
		mode := ""
		if f.OldMode != "" && f.NewMode != "" && f.OldMode != f.NewMode {
			mode = f.OldMode + " -> " + f.NewMode
		}
		rows = append(rows, []string{f.Status, lines, gitName(f.Path), mode})
	}
	if err := a.outTerm.Table(a.out, nil, rows); err != nil {
		return err
	}
	fmt.Fprintf(a.out, "%s to %s: %s, +%d -%d\n", r.From, r.To, ui.Count(len(r.Files), "file"), added, removed)
	return nil
}
