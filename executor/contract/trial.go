package contract

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/lang"
)

// Trial says how a contract is tried.
type Trial struct {
	// Run runs validate commands; nil leaves them out.
	Run Validate
	// Strict says that Run has all that a real attempt would give it, so a command that says no to a form
	// that is known to be good is wrong. Else only a command that cannot run is.
	Strict bool
}

// form is an output that has to keep a contract.
type form struct {
	words string
	bytes []byte
	good  bool // the contract says so; else it only serves to start the command
}

// Try judges what is known to keep the contract of an output: its empty form and its sample. Without
// either a validate command is started over an empty file, to see that it can. It returns what is wrong with
// the contract, not with any output; nothing when an agent may be paid to keep it. Rules that compare with
// other documents and a person's approval are left out: there is nothing to ask about yet.
func (t Trial) Try(ctx context.Context, out lang.Output) ([]string, error) {
	c := out.Contract
	if c == nil || t.Run == nil && !c.HasEmpty && c.Sample == "" {
		return nil, nil
	}
	if len(c.SchemaDoc) > 0 {
		if err := CompileSchema(c); err != nil {
			return []string{fmt.Sprintf("schema %s cannot be used: %v", c.Schema, err)}, nil
		}
	}
	var problems []string
	for _, f := range formsOf(c) {
		if !f.good && (t.Run == nil || len(c.Validate) == 0) {
			continue
		}
		found, err := t.try(ctx, out, f)
		if err != nil {
			return nil, err
		}
		for _, p := range found {
			if !slices.Contains(problems, p) {
				problems = append(problems, p)
			}
		}
	}
	return problems, nil
}

func formsOf(c *lang.Contract) []form {
	var fs []form
	if c.HasEmpty {
		fs = append(fs, form{"its own empty form", []byte(c.Empty), true})
	}
	if c.Sample != "" {
		fs = append(fs, form{"its own sample " + c.Sample, c.SampleDoc, true})
	}
	if len(fs) == 0 {
		fs = append(fs, form{words: "an empty file"})
	}
	return fs
}

func (t Trial) try(ctx context.Context, out lang.Output, f form) ([]string, error) {
	c := *out.Contract
	c.Severity, c.Approval, c.Preserves = "", false, nil
	c.Joins = slices.DeleteFunc(slices.Clone(c.Joins), func(n lang.ContractJoin) bool {
		o, err := lang.ParseOperand(n.To)
		return err == nil && o.Name != ""
	})
	if !f.good {
		c = lang.Contract{Name: c.Name, Kind: "binary", Validate: c.Validate, Uses: c.Uses}
		if out.Path == "" {
			c.Kind = "tree"
		}
	}
	var broken []string
	var run Validate
	if t.Run != nil {
		run = t.watch(&broken, f, c.Validate)
	} else {
		c.Validate = nil
	}
	out.Contract = &c
	v, err := Judge(ctx, []Subject{subjectOf(out, f.bytes)}, run)
	if err != nil || len(broken) > 0 || !f.good {
		return broken, err
	}
	for _, m := range v.Messages {
		broken = append(broken, "rejects "+f.words+": "+m)
	}
	return broken, nil
}

// TimeoutFor is how long a trial of c waits for its validate command.
func TimeoutFor(c *lang.Contract) time.Duration {
	if c.HasEmpty || c.Sample != "" {
		return ValidateTimeout
	}
	return StartTimeout
}

// watch runs validate commands and notes those that cannot run. What else a command says counts only where
// it has all it needs.
func (t Trial) watch(broken *[]string, f form, argv []string) Validate {
	return func(ctx context.Context, spec Spec) (int, string, error) {
		exit, said, err := t.Run(ctx, spec)
		switch {
		case ctx.Err() != nil:
			return exit, said, err
		case errors.Is(err, errStopped) && !f.good: // it started, which is all that was asked
		case err != nil:
			*broken = append(*broken, fmt.Sprintf("validate %s: %v", strings.Join(argv, " "), err))
		case exitWords(exit) != "":
			*broken = append(*broken, fmt.Sprintf("validate %s: exit %d%s%s", strings.Join(argv, " "), exit, exitWords(exit), quoted(said)))
		}
		if !t.Strict || !f.good {
			return 0, "", nil
		}
		return exit, said, err
	}
}

// subjectOf is an output that holds content; a tree holds nothing.
func subjectOf(out lang.Output, content []byte) Subject {
	tree := out.Path == ""
	return Subject{
		Output:   out,
		Captured: cache.Output{Name: out.Name, Exists: true, Tree: tree, Digest: digest.Of(content), Mode: 0o644},
		Open:     func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil },
		Tree:     func() (cache.Tree, error) { return cache.Tree{}, nil },
	}
}
