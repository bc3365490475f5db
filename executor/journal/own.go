package journal

import "slices"

// Disowned is a file, or a directory, that the campaign named once and names no more: no snapshot of the repository held it until
// then.
type Disowned struct {
	Path  string   `json:"path"`
	Lines []string `json:"lines,omitempty"` // what was there when that was noticed, as manifests spell it
}

// Owns says that the campaign names files since, and others no more.
func Owns(since []string, noMore []Disowned) Record {
	return Record{Kind: kindOwn, Own: since, Disowned: noMore}
}

func (v *View) own(r *Record) {
	for _, p := range r.Own {
		v.Own[p] = true
		v.Disowned = slices.DeleteFunc(v.Disowned, func(d Disowned) bool { return d.Path == p })
	}
	for _, d := range r.Disowned {
		delete(v.Own, d.Path)
	}
	v.Disowned = append(v.Disowned, r.Disowned...)
}
