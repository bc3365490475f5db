package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/cache/disk"
	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/ui"
)

func (a *app) storeDuCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "du",
		Short: "Say what the store takes",
		Long: `Says what the store takes on disk, and what of it is for what and for which campaign.
Bytes that several attempts share count once for a kind and once for each campaign, so
the parts may come to more than the whole.`,
		Example: "  ufbuild store du\n  ufbuild store du --json",
		RunE:    func(*cobra.Command, []string) error { return a.runStoreDu() },
	}
}

type duReport struct {
	SchemaVersion int      `json:"schema_version"`
	Store         string   `json:"store"`
	Bytes         int64    `json:"bytes"` // on disk, records included
	RecordBytes   int64    `json:"record_bytes"`
	BlobBytes     int64    `json:"blob_bytes"`
	Kinds         []duPart `json:"kinds"`
	Campaigns     []duPart `json:"campaigns"`
}

type duPart struct {
	Name     string `json:"name"`
	Attempts int    `json:"attempts"`
	Blobs    int    `json:"blobs"`
	Bytes    int64  `json:"bytes"`

	seen map[digest.Digest]bool
}

func (p *duPart) add(d digest.Digest) {
	if !p.seen[d] {
		p.seen[d] = true
		p.Blobs++
		p.Bytes += d.Size
	}
}

// parts are sums by name.
type parts map[string]*duPart

func (p parts) of(name string) *duPart {
	if p[name] == nil {
		p[name] = &duPart{Name: name, seen: map[digest.Digest]bool{}}
	}
	return p[name]
}

// list returns the parts, the largest first.
func (p parts) list() []duPart {
	out := []duPart{}
	for _, part := range p {
		out = append(out, *part)
	}
	slices.SortFunc(out, func(a, b duPart) int { return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Name, b.Name)) })
	return out
}

func (a *app) runStoreDu() (err error) {
	s, err := a.openStore(reading)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	r, err := measure(s)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(r)
	}
	return a.printDu(r)
}

func measure(s *disk.Store) (duReport, error) {
	u, err := s.Usage()
	if err != nil {
		return duReport{}, err
	}
	all, err := survey(s)
	if err != nil {
		return duReport{}, err
	}
	kinds, campaigns := parts{}, parts{}
	for _, at := range all {
		campaign := campaigns.of(at.Campaign)
		campaign.Attempts++
		counted := map[blobKind]bool{}
		for _, b := range at.blobs {
			campaign.add(b.digest)
			kinds.of(string(b.kind)).add(b.digest)
			if !counted[b.kind] {
				counted[b.kind] = true
				kinds.of(string(b.kind)).Attempts++
			}
		}
	}
	blobs := u.PackBytes + u.FileBytes + u.ArrivingBytes
	return duReport{
		SchemaVersion: 1, Store: s.Dir(), Bytes: blobs + u.RecordBytes, RecordBytes: u.RecordBytes, BlobBytes: blobs,
		Kinds: kinds.list(), Campaigns: campaigns.list(),
	}, nil
}

func (a *app) printDu(r duReport) error {
	fmt.Fprintf(a.out, "%s: %s, of it %s of records\n", r.Store, ui.Bytes(r.Bytes), ui.Bytes(r.RecordBytes))
	for _, table := range []struct {
		title string
		parts []duPart
	}{{"kind", r.Kinds}, {"campaign", r.Campaigns}} {
		if len(table.parts) == 0 {
			continue
		}
		rows := [][]string{}
		for _, p := range table.parts {
			rows = append(rows, []string{p.Name, ui.Bytes(p.Bytes), fmt.Sprint(p.Blobs), fmt.Sprint(p.Attempts)})
		}
		fmt.Fprintln(a.out)
		if err := a.outTerm.Table(a.out, []string{table.title, "size", "blobs", "attempts"}, rows); err != nil {
			return err
		}
	}
	return nil
}
