package lang

import (
	"fmt"
	"strings"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

// checkRequires compares campaign.requires with the running version.
func (l *loader) checkRequires(n *node) {
	a := n.arg("requires")
	if a == nil || l.c.Requires == "" {
		return
	}
	ok, err := satisfies(l.opts.Version, l.c.Requires)
	switch {
	case err != nil:
		l.error("UF1401", a.place, "requires is %q: %v.", l.c.Requires, err).hint("Write constraints such as \">= 0.3\" or \">= 0.3, < 2\".")
	case !ok:
		l.error("UF1401", a.place, "This campaign requires ufbuild %s; this is %s.", l.c.Requires, l.opts.Version)
	}
}

// satisfies reports whether a version meets every constraint of a list such as ">= 0.3, < 2". Versions
// of development builds, which have no number or one that Go made of a commit, meet all.
func satisfies(version, constraints string) (bool, error) {
	have := canonicalVersion(version)
	if module.IsPseudoVersion(have) {
		have = ""
	}
	all := true
	for _, c := range strings.Split(constraints, ",") {
		op, want, err := splitConstraint(c)
		if err != nil {
			return false, err
		}
		if have != "" && !meets(semver.Compare(have, want), op) {
			all = false
		}
	}
	return all, nil
}

func canonicalVersion(v string) string {
	v = "v" + strings.TrimPrefix(strings.TrimSpace(v), "v")
	if !semver.IsValid(v) {
		return ""
	}
	return v
}

// splitConstraint reads one constraint; without an operator it means equal.
func splitConstraint(c string) (op, version string, err error) {
	c = strings.TrimSpace(c)
	op = "="
	for _, o := range []string{">=", "<=", "!=", ">", "<", "="} {
		if rest, ok := strings.CutPrefix(c, o); ok {
			op, c = o, strings.TrimSpace(rest)
			break
		}
	}
	version = canonicalVersion(c)
	if version == "" {
		return "", "", fmt.Errorf("%q is not a version", c)
	}
	return op, version, nil
}

func meets(cmp int, op string) bool {
	switch op {
	case ">=":
		return cmp >= 0
	case "<=":
		return cmp <= 0
	case ">":
		return cmp > 0
	case "<":
		return cmp < 0
	case "!=":
		return cmp != 0
	}
	return cmp == 0
}

// loadCampaignDefault reads the default targets.
func (l *loader) loadCampaignDefault() {
	for _, r := range l.directReferences(l.decl.campaign.arg("default"), "task") {
		if r.key != nil {
			l.error("UF2004", r.place, "default names whole tasks, as in task.%s.", r.name)
			continue
		}
		l.c.Default = append(l.c.Default, r.name)
	}
}
