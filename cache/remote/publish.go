package remote

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
)

// signatureFile is the output that says who signed attemptFile.
const signatureFile = "attempt.sig"

// Publish implements cache.Shared.
func (c *Cache) Publish(ctx context.Context, e cache.SharedAttempt, from cache.CAS) error {
	ctx = WithTask(ctx, Task{Address: e.Address, Action: e.Key.String(), Word: "Attempt"})
	p := &parcel{ctx: ctx, c: c, from: from, enc: c.encoder(), doc: document{Format: documentFormat, Attempt: e}, result: &repb.ActionResult{}}
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
	ctx    context.Context // of Publish
	c      *Cache
	from   cache.CAS
	enc    Encoder
	doc    document
	blobs  []Blob
	result *repb.ActionResult
	kept   atomic.Int64 // bytes of blobs that wait in memory
}

// maxKept bounds what waits in memory to be sent. The rest is read again.
const maxKept = 16 << 20

// pack collects the blobs and writes the result that lists them.
func (p *parcel) pack() error {
	e := p.doc.Attempt
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
		w, err := p.add([]digest.Digest{e.Captured.Log})
		if err != nil {
			return err
		}
		p.result.StdoutDigest = w[0].Digest.Proto()
	}
	return p.finish()
}

// add makes blobs of the local store part of the parcel and returns them, in their order.
func (p *parcel) add(digests []digest.Digest) ([]Blob, error) {
	from := len(p.blobs)
	for _, d := range digests {
		p.blobs = append(p.blobs, Blob{Digest: Digest(d), From: p.from, Local: d})
	}
	added := p.blobs[from:]
	if p.enc.Function == BLAKE3 {
		return added, nil
	}
	work := batches(added, batchLimit, func(b Blob) int64 { return b.Local.Size })
	if err := parallel(p.ctx, work, p.translate); err != nil {
		return nil, err
	}
	for _, b := range added {
		p.doc.SHA256 = append(p.doc.SHA256, Pair{b.Local, b.Digest.Sum})
	}
	return added, nil
}

// translate fills in the SHA256 digests of blobs. What was read for that waits in memory, as far as there is room.
func (p *parcel) translate(_ context.Context, blobs []Blob) error {
	var unknown []Blob
	var places []int
	for i, b := range blobs {
		if sum, ok := p.c.sums.get(b.Local); ok {
			blobs[i].Digest.Sum = sum
		} else {
			unknown, places = append(unknown, b), append(places, i)
		}
	}
	found, err := together(unknown)
	if err != nil {
		return err
	}
	for n, b := range unknown {
		to := &blobs[places[n]]
		if found[n] == nil {
			if to.Digest, err = p.c.sums.of(b.Local, b.reader); err != nil {
				return err
			}
			continue
		}
		to.Digest = p.c.sums.ofBytes(b.Local, found[n])
		if p.kept.Add(b.Local.Size) <= maxKept {
			to.Bytes = found[n]
		}
	}
	return nil
}

// list names an output in the result, so that the server keeps what belongs to it.
func (p *parcel) list(name string, o cache.Output) error {
	if o.Digest.IsZero() {
		return nil
	}
	w, err := p.add([]digest.Digest{o.Digest})
	if err != nil {
		return err
	}
	p.file(name, w[0].Digest)
	if !o.Tree {
		return nil
	}
	t, err := cache.ReadTree(p.from, o.Digest)
	if err != nil {
		return err
	}
	files := make([]File, 0, len(t.Entries))
	digests := make([]digest.Digest, 0, len(t.Entries))
	for i, f := range t.Entries {
		if f.Kind == cache.File {
			// Names here only hold the blobs together: the listing has the true ones, which REAPI could not always say.
			files = append(files, File{Path: strconv.Itoa(i), Exec: f.Mode&0o100 != 0})
			digests = append(digests, f.Digest)
		}
	}
	if w, err = p.add(digests); err != nil {
		return err
	}
	for i := range files {
		files[i].Digest = w[i].Digest
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
