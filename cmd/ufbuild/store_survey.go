package main

import (
	"strings"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/cache/disk"
)

// blobKind says what a blob is for.
type blobKind string

const (
	outputBlobs   blobKind = "outputs"
	leftoverBlobs blobKind = "leftovers"
	logBlobs      blobKind = "logs"
	textBlobs     blobKind = "prompts and manifests"
	startBlobs    blobKind = "inherited trees" // listings, whose files are outputs of others; and what changed of the project
)

// namedBlob is a blob that an attempt names, and what for.
type namedBlob struct {
	digest digest.Digest
	kind   blobKind
}

// surveyed is an attempt with the blobs that are its own, and those of others that it read.
type surveyed struct {
	cache.Attempt
	blobs []namedBlob
	reads []digest.Digest
}

func (s surveyed) id() disk.AttemptID { return disk.AttemptID{Key: s.Key, Ordinal: s.Ordinal} }

// survey looks at every attempt of a store but those whose bytes were let go.
func survey(store *disk.Store) ([]surveyed, error) {
	keys, err := store.Keys()
	if err != nil {
		return nil, err
	}
	trimmed, err := store.Trimmed()
	if err != nil {
		return nil, err
	}
	var out []surveyed
	for _, k := range keys {
		attempts, err := store.Attempts(k)
		if err != nil {
			return nil, err
		}
		for _, at := range attempts {
			s := surveyed{Attempt: at}
			if !trimmed[s.id()] {
				s.look(store)
				out = append(out, s)
			}
		}
	}
	return out, nil
}

// look lists the blobs of the attempt. What cannot be read names nothing.
func (s *surveyed) look(store cache.CAS) {
	s.add(textBlobs, s.Manifest, s.Prompt, s.Feedback)
	s.lookAtManifest(store)
	c := s.Captured
	if c == nil {
		return
	}
	s.add(logBlobs, c.Log)
	for _, kept := range c.Kept { // what its agent said of usage, and at its end
		s.add(logBlobs, kept.Digest)
	}
	s.addTree(store, leftoverBlobs, c.Leftovers)
	s.addTree(store, startBlobs, c.Given)
	for _, o := range c.Outputs {
		if o.Tree {
			s.addTree(store, outputBlobs, o.Digest)
		} else {
			s.add(outputBlobs, o.Digest)
		}
	}
}

func (s *surveyed) add(kind blobKind, ds ...digest.Digest) {
	for _, d := range ds {
		if !d.IsZero() {
			s.blobs = append(s.blobs, namedBlob{d, kind})
		}
	}
}

func (s *surveyed) addTree(store cache.CAS, kind blobKind, d digest.Digest) {
	s.add(kind, d)
	s.add(kind, treeBlobs(store, d)...)
}

// treeBlobs are the files of a tree.
func treeBlobs(store cache.CAS, d digest.Digest) []digest.Digest {
	if d.IsZero() {
		return nil
	}
	t, err := cache.ReadTree(store, d)
	if err != nil {
		return nil
	}
	var out []digest.Digest
	for _, e := range t.Entries {
		if e.Kind == cache.File {
			out = append(out, e.Digest)
		}
	}
	return out
}

// lookAtManifest finds what the attempt read: lines such as "in1 file DIGEST" and "start DIGEST". The lines of
// texts are indented, so none of them reads like that.
func (s *surveyed) lookAtManifest(store cache.CAS) {
	if s.Manifest.IsZero() {
		return
	}
	b, err := cache.ReadAll(store, s.Manifest, maxShown)
	if err != nil {
		return
	}
	for line := range strings.Lines(string(b)) {
		words := strings.Fields(line)
		if len(words) < 2 || line[0] == ' ' {
			continue
		}
		d, err := digest.Parse(words[len(words)-1])
		if err != nil {
			continue
		}
		switch {
		case words[0] == "start":
			s.add(startBlobs, d)
			s.reads = append(s.reads, treeBlobs(store, d)...)
		case strings.HasPrefix(words[0], "in") && words[0] != "input":
			s.reads = append(s.reads, d)
			if words[1] == "tree" {
				s.reads = append(s.reads, treeBlobs(store, d)...)
			}
		}
	}
}
