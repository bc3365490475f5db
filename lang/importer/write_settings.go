package importer

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclwrite"
)

// settingsFile makes the file of everything but tasks.
func (im *importer) settingsFile() *hclwrite.File {
	f := hclwrite.NewEmptyFile()
	b := f.Body()
	im.writeCampaign(b)
	groups := hclwrite.NewEmptyFile() // first, since they use profiles
	im.writeGroups(groups.Body())
	im.writeVariables(b)
	im.writeAgents(b)
	im.writeContracts(b)
	im.writeReferences(b)
	b.AppendUnstructuredTokens(groups.BuildTokens(nil))
	return f
}

func (im *importer) writeCampaign(body *hclwrite.Body) {
	b := block(body, "campaign")
	setText(b, "name", im.config.get("project.name"))
	var tasks []string
	for _, id := range im.defaults {
		tasks = append(tasks, "task."+im.nodes[id].name)
	}
	if len(tasks) > 0 {
		set(b, "default", list(tasks))
	}
	if im.config.get("run.max_dynamic_nodes").set() {
		set(b, "max_dynamic_tasks", im.maxItems().text)
	}
	if im.wanted["workflow_deadline"] {
		set(b, "deadline", "var.workflow_deadline")
	}
}

func (im *importer) writeVariables(body *hclwrite.Body) {
	for i := range knownSettings {
		s := &knownSettings[i]
		if !im.wanted[s.name] {
			continue
		}
		b := block(body, "variable", s.name)
		set(b, "type", s.typ)
		set(b, "default", s.literal(im.variable(s.name)))
		set(b, "description", quote(s.doc))
	}
	for _, p := range im.presets {
		if text := strings.TrimSpace(p.description.text); text != "" {
			comment(body, text)
		}
		b := block(body, "preset", p.name)
		for _, v := range p.values {
			if im.wanted[v.setting.name] {
				set(b, v.setting.name, v.setting.literal(v.setting.convert(v.value)))
			}
		}
	}
}

// adapters are the adapters by a word in the name of an agent.
var adapters = []string{"codex", "claude", "opencode", "gemini"}

// agentPool is the pool of every agent, where the project bounds how many run at once.
const agentPool = "agents"

func (im *importer) writeAgents(body *hclwrite.Body) {
	if im.config.standard == nil && slices.ContainsFunc(im.tasks(), (*node).namesNoProfile) {
		id := value{text: defaultProfile, file: im.topologyFile, line: 1}
		if i := slices.IndexFunc(im.config.models, func(m *model) bool { return m.name == defaultProfile }); i >= 0 {
			id = im.config.models[i].id
		}
		im.use(id)
	}
	agents := map[string]bool{}
	for _, m := range im.config.models {
		if !m.used {
			im.lost(m.id, "Model profile %s is used by no node: it is left out.", m.id.text)
			continue
		}
		adapter := im.adapter(m)
		if !agents[adapter] {
			agents[adapter] = true
			b := block(body, "agent", adapter)
			set(b, "adapter", quote(adapter))
			if im.wanted["max_parallel_agents"] {
				set(b, "pool", "pool."+agentPool)
			}
		}
		im.writeProfile(body, m, adapter)
	}
	if im.wanted["max_parallel_agents"] && len(agents) > 0 {
		set(block(body, "pool", agentPool), "slots", "var.max_parallel_agents")
	}
}

// namesNoProfile reports whether neither the node nor its group says who carries it out.
func (n *node) namesNoProfile() bool {
	return len(n.own.profiles) == 0 && (n.group == nil || len(n.group.defaults.profiles) == 0)
}

func (im *importer) writeProfile(body *hclwrite.Body, m *model, adapter string) {
	b := block(body, "profile", m.name)
	set(b, "agent", "agent."+adapter)
	setText(b, "model", m.model)
	setText(b, "effort", m.effort)
	if len(m.fallback) > 0 {
		var refs []string
		for _, f := range m.fallback {
			refs = append(refs, "profile."+f.name)
		}
		set(b, "fallback", list(refs))
	}
	if standard := im.config.get("run.default_timeout_seconds"); m.timeout.set() && m.timeout.text != standard.text && duration(m.timeout.text) != "1h" {
		im.lost(m.timeout, "Model profile %s has a timeout; profiles have none: set timeout on its tasks.", m.id.text)
	}
}

// adapter returns the adapter that an agent of ultrafuzz means.
func (im *importer) adapter(m *model) string {
	name := strings.ToLower(m.agent.text)
	for _, a := range adapters {
		if strings.Contains(name, a) {
			return a
		}
	}
	if m.agent.set() {
		im.lost(m.agent, "Agent %s is not known: profile.%s uses codex.", m.agent.text, m.name)
	}
	return "codex"
}

func (im *importer) writeContracts(body *hclwrite.Body) {
	for _, c := range im.contractOrder {
		b := block(body, "contract", c.name)
		set(b, "kind", quote(c.kind))
		if p := c.schemaPath(); p != "" {
			set(b, "schema", quote(p))
			switch {
			case c.schema == nil && c.shape != nil:
				im.changed(c.id, "Contract %s has a stub for its schema, which allows only the fields that the campaign reads: say in %s what the documents hold.", c.id.text, p)
			case c.schema == nil:
				im.changed(c.id, "Contract %s has a stub for its schema: say in %s what the documents hold.", c.id.text, p)
			}
		}
		if c.filled {
			set(b, "min_bytes", "1")
		}
		if c.empty != "" {
			set(b, "empty", quote(c.empty))
		}
	}
}

func (im *importer) writeReferences(body *hclwrite.Body) {
	for _, r := range im.refOrder {
		if r.resolved != "" {
			comment(body, "resolved at "+r.resolved)
		}
		b := block(body, "reference", r.name)
		for _, a := range []struct{ name, text string }{{"repo", r.repo}, {"commit", r.commit}, {"url", r.url}, {"sha256", r.sha256}, {"file", r.file}} {
			if a.text != "" {
				set(b, a.name, quote(a.text))
			}
		}
		if len(r.paths) > 0 {
			var ps []string
			for _, p := range r.paths {
				ps = append(ps, "\n"+quote(p.text))
			}
			set(b, "paths", "["+strings.Join(ps, ",")+",\n]")
		}
	}
}

func (im *importer) writeGroups(body *hclwrite.Body) {
	for _, g := range im.groups {
		if !g.used {
			continue
		}
		b := block(body, "group", g.name)
		setText(b, "label", g.label)
		setText(b, "color", g.color)
		setText(b, "description", g.description)
		d := hclwrite.NewBlock("defaults", nil)
		if loops := im.groupLoops(g); g == im.strategies() && im.wanted["strategy_loops"] {
			set(d.Body(), "loops", "var.strategy_loops")
		} else if loops.set() {
			set(d.Body(), "loops", loops.text)
		}
		im.writeSettings(d.Body(), g.defaults, nil)
		if len(d.Body().Attributes()) > 0 || len(d.Body().Blocks()) > 0 {
			b.AppendBlock(d)
		}
	}
}
