package contract

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/lang"
)

// MaxMessages is how many messages one output can add to a verdict. More help neither a person nor
// an agent, and a feedback prompt has to stay small.
const MaxMessages = 50

// Subject is one declared output with what was captured for it.
type Subject struct {
	Output   lang.Output
	Captured cache.Output
	// Open reads a file output. It is called only when Captured.Exists and the output is a file.
	Open func() (io.ReadCloser, error)
	// Tree reads the listing of a tree output. It is called only for trees that exist.
	Tree func() (cache.Tree, error)
	// Blob reads a file of a tree, for validate commands.
	Blob func(d digest.Digest) (io.ReadCloser, error)
}

// SubjectOf joins a declared output with what was captured for it, read from cas.
func SubjectOf(cas cache.CAS, out lang.Output, captured cache.Output) Subject {
	return Subject{
		Output:   out,
		Captured: captured,
		Open:     func() (io.ReadCloser, error) { return cas.Open(captured.Digest) },
		Tree:     func() (cache.Tree, error) { return cache.ReadTree(cas, captured.Digest) },
		Blob:     cas.Open,
	}
}

// Document is JSON outside the attempt that a join or preserve rule compares with. Several of one name
// are compared with together: the instances of a task, the files of an input.
type Document struct {
	Name   string // as the contract spells it
	State  DocumentState
	Why    string // of Gone and Pending, for a message: "task.plan failed"
	Digest digest.Digest
	Lines  bool // it is JSON Lines
	Open   func() (io.ReadCloser, error)
}

// DocumentState says what there is of a document.
type DocumentState int

// The states of a document.
const (
	There   DocumentState = iota // Digest and Open give its bytes
	Empty                        // there is none, and rightly so: an optional output that was not written, a list without items
	Gone                         // there is none, and that was tolerated: the rule is left out with a warning
	Pending                      // it is not known yet: the verdict stays open
)

// Spec is one validate command to run. Argv is complete: the output's path is its last element.
type Spec struct {
	Argv     []string
	Output   string    // name of the output that is judged
	Subjects []Subject // all outputs of the attempt, laid at their declared paths
	Uses     []string  // globs of files below the campaign root that the command needs
}

// Validate runs a validate command in a fresh directory and returns its exit code and the end of
// what it printed. An error means the command could not be run to an end: the verdict is
// inconclusive. [Process] is the implementation that starts real processes.
type Validate func(ctx context.Context, spec Spec) (exit int, output string, err error)

// Judge judges all outputs of one attempt and reports every broken rule. A nil run leaves validate
// commands out; when nothing else fails the verdict is then inconclusive. The key of the verdict is
// left zero for the caller, who knows what it judged. An error means that bytes could not be read
// or ctx ended, so there is no verdict. Safe for concurrent use.
func Judge(ctx context.Context, subjects []Subject, run Validate, others ...Document) (cache.Verdict, error) {
	j := &judging{ctx: ctx, subjects: subjects, others: others, run: run, docs: map[string]*document{}}
	for i := range subjects {
		if err := j.subject(&subjects[i]); err != nil {
			return cache.Verdict{}, fmt.Errorf("judge output %q: %w", subjects[i].Output.Name, err)
		}
	}
	return j.verdict(), nil
}

// JudgeOutput judges one output of an attempt; the others are there to be compared with.
func JudgeOutput(ctx context.Context, subjects []Subject, i int, run Validate, others ...Document) (cache.Verdict, error) {
	j := &judging{ctx: ctx, subjects: subjects, others: others, run: run, docs: map[string]*document{}}
	if err := j.subject(&subjects[i]); err != nil {
		return cache.Verdict{}, fmt.Errorf("judge output %q: %w", subjects[i].Output.Name, err)
	}
	return j.verdict(), nil
}

// judging is the state of one call of Judge.
type judging struct {
	ctx      context.Context
	subjects []Subject
	others   []Document
	run      Validate
	docs     map[string]*document // parsed JSON by document name

	failed, warned, undecided []string
}

func (j *judging) verdict() cache.Verdict {
	v := cache.Verdict{Messages: j.failed, Warnings: j.warned}
	v.Inconclusive = len(j.failed) == 0 && len(j.undecided) > 0
	v.Pass = len(j.failed) == 0 && !v.Inconclusive
	v.Messages = append(v.Messages, j.undecided...)
	return v
}

// subject judges one output and files its messages under failed or warned.
func (j *judging) subject(s *Subject) error {
	if err := j.ctx.Err(); err != nil {
		return err
	}
	r := &report{of: s}
	if !s.Captured.Exists {
		if !s.Output.Optional {
			j.failed = append(j.failed, r.prefix()+" was not produced")
		}
		return nil
	}
	if s.Captured.Tree != (s.Output.Path == "") {
		r.add("is %s, but %s is declared", thing(s.Captured.Tree), thing(s.Output.Path == ""))
		j.failed = append(j.failed, r.list()...)
		return nil
	}
	c := s.Output.Contract
	if c == nil {
		return nil
	}
	r.warn = c.Severity == "warn"
	if err := j.rules(s, c, r); err != nil {
		return err
	}
	if r.warn {
		j.warned = append(j.warned, r.list()...)
	} else {
		j.failed = append(j.failed, r.list()...)
	}
	return nil
}

func thing(tree bool) string {
	if tree {
		return "a tree"
	}
	return "a file"
}

// rules applies every rule of c to s.
func (j *judging) rules(s *Subject, c *lang.Contract, r *report) error {
	var err error
	if s.Captured.Tree {
		err = j.treeRules(s, c, r)
	} else {
		err = j.fileRules(s, c, r)
	}
	if err != nil {
		return err
	}
	return j.validate(s, c, r)
}

func (j *judging) fileRules(s *Subject, c *lang.Contract, r *report) error {
	sizeRules(s.Captured.Digest.Size, c, r)
	switch c.Kind {
	case "json", "jsonl":
		return j.jsonRules(s, c, r)
	case "markdown", "text":
		return textRules(s, c, r)
	case "tree":
		r.add("is a file, but its contract is of kind tree")
	}
	return nil
}

func (j *judging) treeRules(s *Subject, c *lang.Contract, r *report) error {
	if c.Kind != "tree" {
		r.add("is a tree, but its contract is of kind %s", c.Kind)
		return nil
	}
	tree, err := s.Tree()
	if err != nil {
		return err
	}
	files, bytes := 0, int64(0)
	for _, e := range tree.Entries {
		if e.Kind != cache.Dir {
			files++
			bytes += e.Digest.Size
		}
	}
	sizeRules(bytes, c, r)
	if want := max(c.MinItems, 1); files < want {
		r.add("min_items: got %s, want at least %d", plural(files, "file"), want)
	}
	return nil
}

func sizeRules(size int64, c *lang.Contract, r *report) {
	if size < c.MinBytes {
		r.add("min_bytes: got %s, want at least %d", plural(size, "byte"), c.MinBytes)
	}
	if c.MaxBytes > 0 && size > c.MaxBytes {
		r.add("max_bytes: got %s, want at most %d", plural(size, "byte"), c.MaxBytes)
	}
}

// Where says where an output lies in a workspace: its path, or the globs of its tree.
func Where(o lang.Output) string {
	if o.Path != "" {
		return o.Path
	}
	return strings.Join(o.Tree, ", ")
}

// report gathers the messages of one output.
type report struct {
	of       *Subject // nil where nobody reads them
	warn     bool     // its contract only warns
	messages []string
	more     int
}

// prefix is what each message begins with.
func (r *report) prefix() string {
	if r.of == nil {
		return ""
	}
	return fmt.Sprintf("contract: output %q (%s)", r.of.Output.Name, Where(r.of.Output))
}

func (r *report) add(format string, args ...any) {
	if len(r.messages) >= MaxMessages {
		r.more++
		return
	}
	r.messages = append(r.messages, r.prefix()+": "+fmt.Sprintf(format, args...))
}

func (r *report) list() []string {
	if r.more == 0 {
		return r.messages
	}
	return append(r.messages, fmt.Sprintf("%s: and %d more", r.prefix(), r.more))
}

func plural[N int | int64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
