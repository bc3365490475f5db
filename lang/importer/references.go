package importer

import (
	"path"
	"slices"
	"strings"
)

// reference is pinned outside material.
type reference struct {
	id       value
	name     string
	repo     string
	url      string
	commit   string
	sha256   string
	file     string
	paths    []value
	resolved string
}

func (im *importer) readReferences() error {
	s, err := im.readYAML(path.Join(im.dir, "references.yml"), "references")
	if err != nil || s == nil {
		return err
	}
	s.what = "the catalogue of references"
	if v := s.scalar("version"); v.set() && v.text != "1" {
		im.changed(v, "The catalogue of references has version %s; it was read as version 1.", v.text)
	}
	if list := s.sub("references", "references"); list != nil {
		taken := names{}
		list.each(func(id value, s *section) { im.readReference(id, s, taken) })
	}
	s.close()
	return nil
}

func (im *importer) readReference(id value, s *section, taken names) {
	s.what = "reference " + id.text
	r := &reference{id: id, name: taken.take(id.text), paths: s.list("paths"), resolved: s.scalar("resolved_at").text}
	r.commit, r.url, r.sha256, r.file = s.scalar("commit").text, s.scalar("url").text, s.scalar("sha256").text, s.scalar("file").text
	im.renamed(id, "reference", r.name)
	provider, repo := s.scalar("provider"), s.scalar("repo")
	switch {
	case strings.Contains(repo.text, "://") || !repo.set():
		r.repo = repo.text
	case provider.text == "" || provider.text == "github":
		r.repo = "https://github.com/" + repo.text
	default:
		im.lost(provider, "reference %s: provider %q is not known: complete the address of %s.", id.text, provider.text, repo.text)
		r.repo = repo.text
	}
	s.close()
	im.refs[id.text], im.refOrder = r, append(im.refOrder, r)
}

// outside reports whether a reference has to be fetched.
func (im *importer) outside() bool {
	return slices.ContainsFunc(im.refOrder, func(r *reference) bool { return r.repo != "" || r.url != "" })
}

// pathExpr is the expression for where a reference lies.
func (r *reference) pathExpr() string { return "reference." + r.name + ".path" }
