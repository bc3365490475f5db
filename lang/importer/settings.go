package importer

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
)

// setting is a setting of ultrafuzz that becomes a variable where something in the campaign uses it.
type setting struct {
	name     string // of the variable, and of the prompt variable
	toml     string // key in ultrafuzz.toml
	profile  string // key in an audit profile
	typ      string // of the variable
	fallback string // what holds when no file says it
	seconds  bool   // given in seconds, used as a duration
	plan     bool   // used by the campaign itself, not only by prompts
	doc      string
}

var knownSettings = []setting{
	{name: "strategy_loops", toml: "strategy_loops", profile: "strategy_loops", typ: "number", fallback: "1", doc: "Loops of a strategy."},
	{name: "same_agent_attempts", toml: "retry.same_agent_attempts", profile: "same_agent_attempts", typ: "number", fallback: "1", plan: true, doc: "Tries of a task that sets no number of its own."},
	{name: "max_parallel_agents", toml: "run.max_parallel_agents", profile: "max_parallel_agents", typ: "number", fallback: "4", plan: true, doc: "Agents that may run at once."},
	{name: "workflow_deadline", toml: "run.workflow_deadline_seconds", profile: "workflow_deadline_seconds", typ: "string", fallback: "24h", seconds: true, plan: true, doc: "Longest time a build may take."},
	{name: "dynamic_strategies_enumerator", toml: "dynamic_strategies_enumerator", profile: "dynamic_strategies_enumerator", typ: "string", fallback: "3", doc: "How many strategies a planner may think up: a number or unlimited."},
	{name: "triage_quorum", toml: "triage.quorum", profile: "triage_quorum", typ: "number", fallback: "3", doc: "Votes that decide a triage."},
	{name: "triage_panel_size", toml: "triage.panel_size", profile: "triage_panel_size", typ: "number", fallback: "4", doc: "Voters of a triage."},
	{name: "invariant_property_priority_threshold", toml: "invariants.property_priority_threshold", profile: "property_priority_threshold", typ: "string", fallback: "high", doc: "Lowest priority of properties that are implemented: low, medium or high."},
	{name: "reference_expectation_selection", toml: "invariants.reference_expectation_selection", profile: "reference_expectation_selection", typ: "string", fallback: "priority", doc: "Which properties with reference expectations are selected: priority or mandatory."},
	{name: "invariant_testing_smoke_timeout", toml: "invariants.invariant_testing_smoke_timeout", profile: "invariant_testing_smoke_timeout_seconds", typ: "string", fallback: "10min", seconds: true, doc: "Longest time of a smoke test."},
	{name: "invariant_testing_fuzzer_timeout", toml: "invariants.invariant_testing_fuzzer_timeout", profile: "invariant_testing_fuzzer_timeout_seconds", typ: "string", fallback: "1h", seconds: true, doc: "How long the fuzzer runs."},
}

// findSetting returns the setting that has a name; nil when there is none.
func findSetting(name string) *setting {
	i := slices.IndexFunc(knownSettings, func(s setting) bool { return s.name == name })
	if i < 0 {
		return nil
	}
	return &knownSettings[i]
}

// want declares a variable and returns the reference to it.
func (im *importer) want(name string) string {
	im.wanted[name] = true
	return "var." + name
}

// preset is an audit profile.
type preset struct {
	id          value
	name        string
	description value
	values      []presetValue
}

type presetValue struct {
	setting *setting
	value   value
}

func (im *importer) readPresets() error {
	s, err := im.readYAML(path.Join(im.dir, "audit-profiles.yml"), "audit profiles")
	if err != nil {
		return err
	}
	if s != nil {
		s.scalar("schema_version")
		s.what = "the catalogue of audit profiles"
		if list := s.sub("profiles", "profiles"); list != nil {
			taken := names{}
			list.each(func(id value, s *section) { im.readPreset(id, s, taken) })
		}
		s.close()
	}
	im.settle()
	return nil
}

func (im *importer) readPreset(id value, s *section, taken names) {
	s.what = "audit profile " + id.text
	p := preset{id: id, name: taken.take(id.text), description: s.scalar("description")}
	im.renamed(id, "audit profile", p.name)
	if use := s.scalar("intended_use"); use.set() {
		p.description.text = strings.TrimSpace(p.description.text + " " + use.text)
	}
	if set := s.sub("settings", "settings"); set != nil {
		set.what = "settings of audit profile " + id.text
		for i := range knownSettings {
			k := &knownSettings[i]
			if v := set.scalar(k.profile); v.set() {
				p.values = append(p.values, presetValue{k, v})
			}
		}
		set.close()
	}
	if t := s.scalar("topology_path"); t.set() {
		im.lost(t, "%s: its topology %s is another campaign: import it on its own.", s.what, t.text)
	}
	s.close()
	im.presets = append(im.presets, p)
}

// settle decides which variables the campaign itself uses.
func (im *importer) settle() {
	used := func(name string) bool {
		return im.settings[name].set() || slices.ContainsFunc(im.presets, func(p preset) bool {
			return slices.ContainsFunc(p.values, func(v presetValue) bool { return v.setting.name == name })
		})
	}
	for _, s := range knownSettings {
		if s.plan && used(s.name) {
			im.want(s.name)
		}
	}
	if g := im.strategies(); g != nil && (g.defaults.loops.set() || used("strategy_loops")) {
		im.want("strategy_loops")
	} else if im.loopsByDefault() && (used("strategy_loops") || im.loopDefault.text != "1") {
		im.want("strategy_loops")
	}
	im.profileSetting()
}

// profileSetting says which preset stands for the audit profile of the settings.
func (im *importer) profileSetting() {
	v := im.config.get("audit_profile")
	if !v.set() || v.text == "default" {
		return
	}
	for _, p := range im.presets {
		if p.id.text == v.text {
			im.changed(v, "audit_profile is %s: build with --preset %s.", v.text, p.name)
			return
		}
	}
	im.lost(v, "audit_profile is %s, and there is no audit-profiles.yml that says what it sets: it is left out.", v.text)
}

// strategies returns the group whose loops the setting strategy_loops means; nil when no task is in it.
func (im *importer) strategies() *group {
	for _, g := range im.groups {
		if g.id.text == "strategies" && g.used {
			return g
		}
	}
	return nil
}

// loopsByDefault reports whether some task takes its loops from defaults.strategy_loops.
func (im *importer) loopsByDefault() bool {
	return im.loopDefault.set() && slices.ContainsFunc(im.tasks(), func(n *node) bool {
		return n.dynamic == nil && !n.own.loops.set() && (n.group == nil || !im.groupLoops(n.group).set())
	})
}

// groupLoops returns the loops that a group gives its tasks.
func (im *importer) groupLoops(g *group) value {
	if g == im.strategies() && im.wanted["strategy_loops"] {
		return value{text: im.variable("strategy_loops"), file: g.id.file, line: g.id.line}
	}
	return g.defaults.loops
}

// variable returns the value of a setting as text.
func (im *importer) variable(name string) string {
	s := findSetting(name)
	v := im.settings[name]
	if name == "strategy_loops" && !v.set() {
		v = im.loopDefault
		if g := im.strategies(); g != nil && g.defaults.loops.set() {
			v = g.defaults.loops
		}
	}
	if !v.set() {
		return s.fallback
	}
	return s.convert(v)
}

// convert turns the text of a file into that of the variable.
func (s *setting) convert(v value) string {
	if s.seconds {
		return duration(v.text)
	}
	return v.text
}

// literal prints a value of a setting as HCL.
func (s *setting) literal(text string) string {
	if s.typ == "number" {
		if _, err := strconv.Atoi(text); err == nil {
			return text
		}
	}
	return quote(text)
}

// closeSettings notes the settings that no part of the campaign uses.
func (im *importer) closeSettings() {
	for _, s := range knownSettings {
		if im.wanted[s.name] {
			continue
		}
		if v := im.settings[s.name]; v.set() {
			im.lost(v, "%s is used by no prompt: it is left out.", s.toml)
		}
		for _, p := range im.presets {
			for _, v := range p.values {
				if v.setting.name == s.name {
					im.lost(v.value, "audit profile %s: %s is used by no prompt: it is left out.", p.id.text, s.profile)
				}
			}
		}
	}
}

// priorities lists the priorities a threshold lets through.
func (im *importer) priorities(separator string) string {
	all := `["low", "medium", "high"]`
	return fmt.Sprintf("join(%s, slice(%s, index(%s, %s), 3))", quote(separator), all, all, im.want("invariant_property_priority_threshold"))
}
