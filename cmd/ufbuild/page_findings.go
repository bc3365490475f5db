package main

import (
	"fmt"

	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/web"
)

// The bounds of the table of findings.
const (
	maxFindingsDoc = 16 << 20 // bytes of one output
	maxFindings    = 5000
)

// addFindings gathers the lists of findings that tasks wrote, from what readers read now.
func (p *page) addFindings() {
	left := 0
	for i := range p.doc.Nodes {
		inst := p.s.graph.Nodes()[i].Instance
		for _, g := range p.gens[i] {
			if !g.Selected || g.Attempt.Captured == nil {
				continue
			}
			for _, o := range g.Attempt.Captured.Outputs {
				declared := declaredOutput(inst, o.Name)
				if declared == nil || declared.Contract == nil || o.Tree || !o.Exists || o.Digest.Size > maxFindingsDoc {
					continue
				}
				c := declared.Contract
				if c.Kind != "json" && c.Kind != "jsonl" {
					continue
				}
				b, err := p.s.blob(o.Digest)
				if err != nil {
					p.doc.Notes = append(p.doc.Notes, fmt.Sprintf("findings of %s: %v", p.doc.Nodes[i].Address, err))
					continue
				}
				for _, f := range web.FindFindings(b, c.Kind == "jsonl", o.Name+" "+c.Name, c.SchemaDoc) {
					if len(p.doc.Findings) == maxFindings {
						left++
						continue
					}
					f.Node, f.N, f.Output = i, g.N, o.Name
					p.doc.Findings = append(p.doc.Findings, f)
				}
			}
		}
	}
	web.SortFindings(p.doc.Findings)
	if left > 0 {
		p.doc.Notes = append(p.doc.Notes, fmt.Sprintf("The table of findings ends at %d; %d more are in the outputs.", maxFindings, left))
	}
}
