package importer

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The kinds of node in a topology.
const (
	agentic   = "agentic"
	meta      = "meta"
	referring = "reference"
)

// node is one node of the topology.
type node struct {
	id        value
	name      string // of the task
	kind      string
	role      string
	prompt    value
	group     *group
	reference *reference
	deps      []value
	own       settings
	series    bool
	outputs   []output
	dynamic   *dynamic
	file      string          // its prompt in the campaign
	reads     map[string]bool // ids of nodes that its prompt refers to
}

// settings are what nodes and the defaults of groups have in common.
type settings struct {
	loops    value
	timeout  value // seconds
	attempts value
	profiles []value
	failure  value // as on_failure; empty when not set
	requires []value
}

// group is a group of the topology.
type group struct {
	id          value
	name        string
	label       value
	color       value
	description value
	defaults    settings
	used        bool // a task is in it
}

// output is a file that a node writes.
type output struct {
	name     string
	path     string
	contract *contract
	primary  bool
	optional bool
}

// dynamic says how a node fans out at run time.
type dynamic struct {
	from  value
	path  []string // fields below the document
	key   []string // fields of an item
	shape *shape   // what the campaign reads of the source document
}

func (im *importer) readTopology() error {
	s, err := im.readYAML(im.topologyFile, "topology")
	if err != nil {
		return err
	}
	if s == nil {
		return fmt.Errorf("read topology: %s says nothing", im.topologyFile)
	}
	s.what = "the topology"
	if v := s.scalar("version"); v.set() && v.text != "1" && v.text != "2" {
		im.changed(v, "The topology has version %s; it was read as version 2.", v.text)
	}
	if d := s.sub("defaults", "defaults"); d != nil {
		im.loopDefault = d.number("strategy_loops")
		d.close()
	}
	im.readGroups(s)
	for _, n := range s.sections("nodes", "node") {
		im.readNode(n)
	}
	s.close()
	im.connect()
	return nil
}

func (im *importer) readGroups(s *section) {
	gs := s.sub("groups", "groups")
	if gs == nil {
		return
	}
	taken := names{}
	gs.each(func(id value, s *section) {
		s.what = "group " + id.text
		g := &group{id: id, name: taken.take(id.text), label: s.scalar("label"), color: s.scalar("color"), description: s.scalar("description")}
		im.renamed(id, "group", g.name)
		if d := s.sub("defaults", "defaults of group "+id.text); d != nil {
			g.defaults = im.readSettings(d)
			d.close()
		}
		s.close()
		im.groups = append(im.groups, g)
	})
}

// renamed notes that something could not keep its name.
func (im *importer) renamed(id value, what, name string) {
	if id.text != name {
		im.changed(id, "%s %s is now called %s.", strings.ToUpper(what[:1])+what[1:], id.text, name)
	}
}

func (im *importer) readSettings(s *section) settings {
	return settings{
		loops: s.number("loops"), timeout: s.number("timeout_seconds"), attempts: im.attempts(s.number("max_attempts"), s.what),
		profiles: s.list("model_profiles"), failure: im.failurePolicy(s), requires: s.list("required_commands"),
	}
}

// maxAttempts is the most tries a retry block allows.
const maxAttempts = 20

func (im *importer) attempts(v value, what string) value {
	if n, _ := strconv.Atoi(v.text); n > maxAttempts {
		im.changed(v, "%s: %d attempts are the most there can be, %s was asked for.", what, maxAttempts, v.text)
		v.text = strconv.Itoa(maxAttempts)
	}
	return v
}

// failurePolicies are words for what a failure means, by the word of the campaign.
var failurePolicies = map[string][]string{
	"continue": {"continue", "best-effort", "allow", "allow-failure", "optional", "tolerate", "ignore", "skip"},
	"fail":     {"fail", "required", "strict", "require", "require-complete", "block", "error"},
	"abort":    {"abort", "halt", "fail-fast", "stop", "cancel"},
}

func (im *importer) failurePolicy(s *section) value {
	v := s.scalar("failure_policy")
	if !v.set() {
		return v
	}
	given := strings.ReplaceAll(strings.ToLower(v.text), "_", "-")
	for word, all := range failurePolicies {
		if slices.Contains(all, given) {
			v.text = word
			return v
		}
	}
	im.lost(v, "%s: failure_policy %q is not known: on_failure is left at fail.", s.what, v.text)
	return value{}
}

func (im *importer) readNode(s *section) {
	n := &node{id: s.scalar("id"), kind: agentic, reads: map[string]bool{}}
	if !n.id.set() {
		im.lost(s.at(), "%s has no id: it is left out.", s.what)
		return
	}
	s.what = "node " + n.id.text
	if im.nodes[n.id.text] != nil {
		im.lost(n.id, "%s is there twice: the second is left out.", s.what)
		return
	}
	if kind := s.scalar("kind"); kind.set() {
		n.kind = kind.text
	}
	n.deps = s.list("depends_on")
	switch n.kind {
	case meta:
		n.role = s.scalar("role").text
		im.metaDefaults(s, "loops", "1")
		im.metaDefaults(s, "loop_mode", "parallel")
	case referring:
		im.readReferenceNode(n, s)
	case agentic:
		im.readAgentic(n, s)
	default:
		im.lost(n.id, "%s has the kind %q, which is not known: it is left out.", s.what, n.kind)
		return
	}
	s.close()
	im.order, im.nodes[n.id.text] = append(im.order, n), n
}

// metaDefaults takes a field that may only say what goes without saying.
func (im *importer) metaDefaults(s *section, key, want string) {
	if v := s.scalar(key); v.set() && v.text != want {
		im.lost(v, "%s: %s has no counterpart: it is left out.", s.what, key)
	}
}

// readReferenceNode reads a node that becomes a reference: what it would have written is not written.
func (im *importer) readReferenceNode(n *node, s *section) {
	id := s.scalar("reference")
	n.reference = im.refs[id.text]
	if n.reference == nil {
		im.lost(cmp.Or(id, n.id), "%s: reference %q is not in references.yml: it is left out.", s.what, id.text)
	}
	im.metaDefaults(s, "loops", "1")
	im.metaDefaults(s, "loop_mode", "parallel")
	for _, key := range []string{"group", "timeout_seconds", "outputs", "required_artifacts", "primary_artifact"} {
		s.node(key)
	}
	if n.reference != nil {
		im.changed(n.id, "Node %s is now reference.%s: it has no outputs, group and timeout of its own.", n.id.text, n.reference.name)
	}
}

func (im *importer) readAgentic(n *node, s *section) {
	n.name = im.taskNames.take(n.id.text)
	im.renamed(n.id, "node", n.name)
	n.prompt = s.scalar("prompt")
	if g := s.scalar("group"); g.set() {
		i := slices.IndexFunc(im.groups, func(x *group) bool { return x.id.text == g.text })
		if i < 0 {
			im.lost(g, "%s: group %s is not declared: it is left out.", s.what, g.text)
		} else {
			n.group, im.groups[i].used = im.groups[i], true
		}
	}
	n.own = im.readSettings(s)
	n.series = im.loopMode(s)
	n.dynamic = im.readDynamic(n, s)
	im.readOutputs(n, s)
	if role := s.scalar("role"); role.set() {
		im.lost(role, "%s: role has no counterpart: it is left out.", s.what)
	}
}

func (im *importer) loopMode(s *section) bool {
	v := s.scalar("loop_mode")
	switch v.text {
	case "series":
		return true
	case "", "parallel":
	default:
		im.lost(v, "%s: loop_mode %q is not known: it is left out.", s.what, v.text)
	}
	return false
}

// connect resolves what nodes say of each other.
func (im *importer) connect() {
	for _, n := range im.order {
		n.deps = slices.DeleteFunc(n.deps, func(d value) bool {
			to := im.nodes[d.text]
			if to == nil {
				im.lost(d, "node %s: depends_on names %s, which is not there: it is left out.", n.id.text, d.text)
			}
			return to == nil || to.kind == meta || (to.kind == referring && to.reference == nil)
		})
		if n.kind == meta && n.role == "finish" {
			for _, d := range n.deps {
				if im.nodes[d.text].kind == agentic {
					im.defaults = append(im.defaults, d.text)
				}
			}
		}
		im.connectDynamic(n)
	}
	for _, g := range im.groups {
		if !g.used {
			im.changed(g.id, "group %s has no task: it is left out.", g.id.text)
		}
	}
}

// loopsOf returns how many loops a node has.
func (im *importer) loopsOf(n *node) int {
	if n.dynamic != nil {
		return 1
	}
	v := n.own.loops
	if !v.set() && n.group != nil {
		v = im.groupLoops(n.group)
	}
	if !v.set() {
		v = im.loopDefault
	}
	loops, _ := strconv.Atoi(v.text)
	return max(loops, 1)
}

// profilesOf returns the profiles a node fans out over.
func (n *node) profilesOf() []value {
	if len(n.own.profiles) == 0 && n.group != nil {
		return n.group.defaults.profiles
	}
	return n.own.profiles
}

// fansOut reports whether n has a matrix of profiles. One profile in place of its group's several is a
// matrix too, since a matrix can be replaced but not taken away.
func (n *node) fansOut() bool {
	return len(n.profilesOf()) > 1 || (n.group != nil && len(n.group.defaults.profiles) > 1)
}

// many reports whether readers of n see several instances.
func (im *importer) many(n *node) bool {
	return n.dynamic != nil || n.fansOut() || (im.loopsOf(n) > 1 && !n.series)
}

// soft reports whether a failure of n leaves its readers running.
func (n *node) soft() bool {
	v := n.own.failure
	if !v.set() && n.group != nil {
		v = n.group.defaults.failure
	}
	return v.text == "continue"
}
