package lang

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// settable lists what --set may override: how a task runs, never what it is.
var settable = []string{
	"loops", "timeout", "idle_timeout", "profile", "pool", "weight", "retry.attempts",
	"on_failure", "on_timeout", "cache", "salt",
}

// checkSets reports overrides of tasks and settings that cannot be overridden.
func (l *loader) checkSets() {
	for _, s := range l.opts.Sets {
		if !containsString(settable, s.Setting) {
			l.error("UF9101", zeroRange, "--set task.%s.%s: this setting cannot be set.%s", s.Task, s.Setting, didYouMean(s.Setting, settable)).
				hint("Settable are %s.", strings.Join(settable, ", "))
		}
		if l.decl.kinds["task"].byName[s.Task] == nil {
			l.error("UF9101", zeroRange, "--set task.%s.%s: no task named %q is declared.%s", s.Task, s.Setting, s.Task,
				didYouMean(s.Task, l.decl.kinds["task"].names()))
		}
	}
}

// applySets overrides settings of one task from the command line.
func (l *loader) applySets(d *taskDef) {
	for _, s := range l.opts.Sets {
		if s.Task != d.task.Name || !containsString(settable, s.Setting) {
			continue
		}
		v := cty.StringVal(s.Value)
		if s.Setting == "profile" || s.Setting == "pool" {
			name := strings.TrimPrefix(s.Value, s.Setting+".")
			if !l.isDeclared(s.Setting, name) {
				l.error("UF9101", zeroRange, "--set task.%s.%s: no %s named %q is declared.%s", s.Task, s.Setting, s.Setting, name,
					didYouMean(name, l.decl.kinds[s.Setting].names()))
				continue
			}
			v = l.ev.named[s.Setting].GetAttr(name)
		}
		d.settings[s.Setting] = &argument{
			name: "--set task." + s.Task + "." + s.Setting, nameRange: hcl.Range{},
			expression: &expression{constant: v},
		}
	}
}
