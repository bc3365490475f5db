package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/ui"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/graph"
)

func (a *app) storeExportCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "export TARGET[@N]",
		Short: "Write a result and all it came from as one bundle",
		Long: `Writes a bundle to standard output: the attempt that a task reads now, or attempt N of
its history, with the attempts of every task it depends on, their outputs, logs,
prompts and manifests. "ufbuild store import" proves it byte by byte and adds it to
another store, where the same campaign then finds it instead of paying for it.`,
		Example:           "  ufbuild store export triage > triage.bundle\n  ufbuild store export triage@1 > first.bundle",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeTargets,
		RunE:              func(_ *cobra.Command, args []string) error { return a.runStoreExport(args[0]) },
	}
}

func (a *app) runStoreExport(target string) error {
	if a.outTerm.IsTTY {
		return usageErrorf("a bundle is not for reading\nhint: ufbuild store export %s > FILE", target)
	}
	s, err := a.openSession(reading)
	if err != nil {
		return err
	}
	defer func() { _ = s.close() }()
	c, err := s.choose(target)
	if err != nil {
		return err
	}
	if c.have && !isHere(&c.gen.Attempt) {
		return s.notHere(c)
	}
	if !c.have || c.gen.Attempt.State != cache.Ended || c.gen.Attempt.Captured == nil {
		return usageErrorf("%s has no finished attempt to export\nhint: `ufbuild build %s` makes one", c.address, quoteTarget(c.address))
	}
	all, err := s.ancestry(c)
	if err != nil {
		return err
	}
	var attempts []cache.Attempt
	var blobs []digest.Digest
	for _, at := range all {
		attempts = append(attempts, at.Attempt)
		for _, b := range at.blobs {
			blobs = append(blobs, b.digest)
		}
		for _, d := range at.reads { // pinned material is no attempt's output
			if ok, err := s.store.Has(d); err != nil {
				return err
			} else if ok {
				blobs = append(blobs, d)
			}
		}
	}
	var size byteCount
	if err := writeBundle(io.MultiWriter(a.rawOut, &size), s.store, c.label(), attempts, blobs); err != nil {
		return err
	}
	fmt.Fprintf(a.err, "exported %s with %s, %s\n", c.label(), ui.Count(len(attempts)-1, "attempt")+" it came from", ui.Bytes(int64(size)))
	return nil
}

// byteCount counts what is written to it.
type byteCount int64

// Write implements io.Writer.
func (c *byteCount) Write(p []byte) (int, error) {
	*c += byteCount(len(p))
	return len(p), nil
}

// ancestry returns the chosen attempt and, of every task it depends on, the attempts whose outputs were read;
// where none can be told by its bytes, the selected one.
func (s *session) ancestry(c chosen) ([]surveyed, error) {
	id, _ := s.graph.Find(c.address)
	nodes := s.graph.Sorted(s.graph.Closure(id))
	slices.Reverse(nodes) // readers first
	read := map[digest.Digest]bool{}
	var out []surveyed
	for _, n := range nodes {
		picked, err := s.readAttempts(n, c, read)
		if err != nil {
			return nil, err
		}
		for _, at := range picked {
			for _, d := range at.reads {
				read[d] = true
			}
			out = append(out, at)
		}
	}
	return out, nil
}

func (s *session) readAttempts(n graph.NodeID, c chosen, read map[digest.Digest]bool) ([]surveyed, error) {
	address := s.graph.Node(n).Address
	if address == c.address {
		return []surveyed{s.surveyed(c.gen)}, nil
	}
	gens, err := s.generations(address)
	if err != nil {
		return nil, err
	}
	var selected, proved []surveyed
	for _, g := range gens {
		if g.Attempt.State != cache.Ended || g.Attempt.Captured == nil {
			continue
		}
		at := s.surveyed(g)
		if g.Selected {
			selected = append(selected, at)
		}
		if slices.ContainsFunc(at.blobs, func(b namedBlob) bool { return b.kind == outputBlobs && read[b.digest] }) {
			proved = append(proved, at)
		}
	}
	if len(selected) > 0 && (len(proved) == 0 || slices.ContainsFunc(proved, func(p surveyed) bool { return p.id() == selected[0].id() })) {
		return selected, nil
	}
	return proved, nil
}

func (s *session) surveyed(g executor.Generation) surveyed {
	at := surveyed{Attempt: g.Attempt}
	at.look(s.store)
	return at
}
