package remote

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
)

// signatureFile is the output that says who signed attemptFile.
const signatureFile = "attempt.sig"

// Publish implements cache.Shared.
func (c *Cache) Publish(ctx context.Context, e cache.SharedAttempt, from cache.CAS) error {
	ctx = WithTask(ctx, Task{Address: e.Address, Action: e.Key.String(), Word: "Attempt"})
	p := &parcel{c: c, from: from, enc: c.encoder(), doc: document{Format: documentFormat, Attempt: e}, result: &repb.ActionResult{}}
	if err := p.pack(); err != nil {
		return fmt.Errorf("publish %s: %w", e.Address, err)
	}
	action, messages := p.enc.KeyAction(e.Key)
	if _, err := c.conn.Upload(ctx, append(p.blobs, messages...)); err != nil {
		return fmt.Errorf("publish %s: %w", e.Address, err)
	}
	if err := c.conn.UpdateActionResult(ctx, action, p.result); err != nil {
		return fmt.Errorf("publish %s: %w", e.Address, err)
	}
	return nil
}

// parcel is an attempt on its way into a remote.
type parcel struct {
	c      *Cache
	from   cache.CAS
	enc    Encoder
	doc    document
	blobs  []Blob
	result *repb.ActionResult
}

// pack collects the blobs and writes the result that lists them.
func (p *parcel) pack() error {
	e := p.doc.Attempt
	if p.enc.Function != BLAKE3 {
		p.doc.SHA256 = map[string]string{}
	}
	for i, o := range e.Captured.Outputs {
		if err := p.list("output/"+strconv.Itoa(i), o); err != nil {
			return err
		}
	}
	if !e.Captured.Given.IsZero() {
		if err := p.list("given", cache.Output{Digest: e.Captured.Given, Tree: true}); err != nil {
			return err
		}
	}
	for name, d := range map[string]digest.Digest{"prompt.md": e.Prompt, "feedback.md": e.Feedback} {
		if err := p.list(name, cache.Output{Digest: d}); err != nil {
			return err
		}
	}
	if !e.Captured.Log.IsZero() {
		w, err := p.add(e.Captured.Log)
		if err != nil {
			return err
		}
		p.result.StdoutDigest = w.Proto()
	}
	return p.finish()
}

// add makes a blob of the local store part of the parcel.
func (p *parcel) add(d digest.Digest) (Digest, error) {
	w, err := p.c.wire(d, p.from)
	if err != nil {
		return w, err
	}
	if p.doc.SHA256 != nil {
		p.doc.SHA256[d.String()] = w.Hex()
	}
	p.blobs = append(p.blobs, Blob{Digest: w, Open: func() (io.ReadCloser, error) { return p.from.Open(d) }})
	return w, nil
}

// list names an output in the result, so that the server keeps what belongs to it.
func (p *parcel) list(name string, o cache.Output) error {
	if o.Digest.IsZero() {
		return nil
	}
	w, err := p.add(o.Digest)
	if err != nil {
		return err
	}
	p.file(name, w)
	if !o.Tree {
		return nil
	}
	t, err := cache.ReadTree(p.from, o.Digest)
	if err != nil {
		return err
	}
	files := make([]File, 0, len(t.Entries))
	for i, f := range t.Entries {
		if f.Kind != cache.File {
			continue
		}
		d, err := p.add(f.Digest)
		if err != nil {
			return err
		}
		// Names here only hold the blobs together: the listing has the true ones, which REAPI could not always say.
		files = append(files, File{Path: strconv.Itoa(i), Digest: d, Exec: f.Mode&0o100 != 0})
	}
	tree, err := p.enc.Tree(files)
	if err != nil {
		return err
	}
	p.blobs = append(p.blobs, tree)
	p.result.OutputDirectories = append(p.result.OutputDirectories, &repb.OutputDirectory{Path: name + ".files", TreeDigest: tree.Digest.Proto()})
	return nil
}

func (p *parcel) file(name string, d Digest) {
	p.result.OutputFiles = append(p.result.OutputFiles, &repb.OutputFile{Path: name, Digest: d.Proto()})
}

// finish adds the attempt itself and its signature.
func (p *parcel) finish() error {
	text, err := p.doc.encode()
	if err != nil {
		return err
	}
	main := p.enc.Bytes(text)
	p.blobs = append(p.blobs, main)
	p.file(attemptFile, main.Digest)
	if p.c.seal != nil {
		signature := p.enc.Bytes(p.c.seal.sign(text))
		p.blobs = append(p.blobs, signature)
		p.file(signatureFile, signature.Digest)
	}
	slices.SortFunc(p.result.OutputFiles, func(a, b *repb.OutputFile) int { return cmp.Compare(a.Path, b.Path) })
	p.result.ExecutionMetadata = &repb.ExecutedActionMetadata{Worker: p.doc.Attempt.Producer}
	return nil
}
