package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"unicode"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
)

// Lookup implements cache.Shared. A result that has lost its attempt.json is nothing, as is one in a later format and one that
// nobody trusted signed.
func (c *Cache) Lookup(ctx context.Context, k cache.Key) (cache.SharedAttempt, bool, error) {
	ctx = WithTask(ctx, Task{Action: k.String(), Word: "Attempt"})
	action, _ := c.encoder().KeyAction(k)
	result, err := c.conn.GetActionResult(ctx, action, attemptFile, signatureFile)
	if errors.Is(err, ErrNotFound) {
		return cache.SharedAttempt{}, false, nil
	}
	if err != nil {
		return cache.SharedAttempt{}, false, err
	}
	texts, err := c.readFiles(ctx, result, attemptFile, signatureFile)
	if errors.Is(err, ErrNotFound) {
		return cache.SharedAttempt{}, false, nil
	}
	if err != nil {
		return cache.SharedAttempt{}, false, err
	}
	text := texts[attemptFile]
	if text == nil {
		return cache.SharedAttempt{}, false, nil // somebody else's action
	}
	var signer string
	if c.trust != nil {
		if signer = c.trust.verify(text, texts[signatureFile]); signer == "" {
			return cache.SharedAttempt{}, false, nil
		}
	}
	e, ok, err := c.decode(k, text)
	e.Signer = signer
	return e, ok, err
}

// readFiles returns the bytes of output files of a result, verified. A server may have sent them along.
func (c *Cache) readFiles(ctx context.Context, r *repb.ActionResult, names ...string) (map[string][]byte, error) {
	out := map[string][]byte{}
	left := map[Digest]string{}
	var digests []Digest
	for _, f := range r.GetOutputFiles() {
		for _, name := range names {
			if f.GetPath() != name {
				continue
			}
			d, err := FromProto(f.GetDigest())
			if err != nil {
				return nil, fmt.Errorf("%w: %w", cache.ErrPoisoned, err)
			}
			if d.Size > maxAttempt {
				return nil, fmt.Errorf("%w: %s has %d bytes", cache.ErrPoisoned, name, d.Size)
			}
			if c.conn.Function().Of(f.GetContents()) == d {
				out[name] = f.GetContents()
				continue
			}
			left[d] = name
			digests = append(digests, d)
		}
	}
	var mu sync.Mutex
	err := c.conn.Read(ctx, digests, func(d Digest, r io.Reader) error {
		b, err := io.ReadAll(r)
		mu.Lock()
		defer mu.Unlock()
		out[left[d]] = b
		return err
	})
	return out, err
}

// decode reads attempt.json.
func (c *Cache) decode(k cache.Key, text []byte) (cache.SharedAttempt, bool, error) {
	var doc document
	if err := json.Unmarshal(text, &doc); err != nil {
		return cache.SharedAttempt{}, false, fmt.Errorf("%w: read %s: %w", cache.ErrPoisoned, attemptFile, err)
	}
	if doc.Format != documentFormat {
		return cache.SharedAttempt{}, false, nil
	}
	e := doc.Attempt
	switch {
	case e.Key != k:
		return e, false, fmt.Errorf("%w: it holds another key, %s", cache.ErrPoisoned, e.Key.Short())
	case e.Origin == "":
		return e, false, fmt.Errorf("%w: its attempt has no origin", cache.ErrPoisoned)
	case e.Outcome != cache.OK && e.Outcome != cache.Partial:
		return e, false, fmt.Errorf("%w: its attempt ended as %q", cache.ErrPoisoned, e.Outcome)
	case !plain(words(e)):
		return e, false, fmt.Errorf("%w: its attempt has control characters in what is shown of it", cache.ErrPoisoned)
	case tooMuch(words(e)):
		return e, false, fmt.Errorf("%w: its attempt says more than any attempt does", cache.ErrPoisoned)
	case !possible(e):
		return e, false, fmt.Errorf("%w: its attempt has numbers or an end that no attempt of its outcome has", cache.ErrPoisoned)
	}
	c.takeHints(doc.SHA256)
	return e, true, nil
}

// words are the texts of an attempt that people are shown, on terminals too.
func words(e cache.SharedAttempt) []string {
	c := e.Captured
	all := []string{
		e.Origin, e.Producer, e.Address, e.Build, e.Rung, strings.ReplaceAll(e.Message, "\n", " "), e.Agent.Adapter, e.Agent.Model, e.Agent.Pool, e.Agent.Version,
		c.Signal, c.StoppedBy, c.LogDamage, c.Sandbox, c.Where, c.Usage.Model, c.Usage.Session,
	}
	all = append(append(all, c.Enforced...), c.Problems...)
	for _, o := range c.Outputs {
		all = append(all, o.Name)
	}
	return all
}

func plain(texts []string) bool {
	return !slices.ContainsFunc(texts, func(s string) bool {
		return strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) })
	})
}

// maxWords bounds the bytes of what an attempt says, each text counted with what a store adds to it: a record that a store appends
// has its bounds, and a build would meet them at every look.
const (
	maxWords  = 4 << 20
	wordExtra = 200
)

func tooMuch(texts []string) bool {
	n := 0
	for _, s := range texts {
		n += len(s) + wordExtra
	}
	return n > maxWords
}

// possible reports whether an attempt can have ended well as it says. Less than nothing would be saved from what a build of its
// kind is thought to take, and so from what budgets set aside.
func possible(e cache.SharedAttempt) bool {
	u, c := e.Captured.Usage, e.Captured
	for _, n := range []*int64{u.InputTokens, u.CachedTokens, u.OutputTokens} {
		if n != nil && *n < 0 {
			return false
		}
	}
	stopped := c.StoppedBy == "timeout" && e.Outcome == cache.Partial || c.StoppedBy == ""
	return stopped && c.Duration >= 0 && (u.CostUSD == nil || *u.CostUSD >= 0)
}

// takeHints remembers where blobs may be.
func (c *Cache) takeHints(pairs wireSums) {
	if c.conn.Function() == BLAKE3 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range pairs {
		c.hints[p.Digest] = p.SHA256
	}
}

// Take implements cache.Shared. Trees are fetched first, since they name the rest.
func (c *Cache) Take(ctx context.Context, e cache.SharedAttempt, into cache.CAS) error {
	ctx = WithTask(ctx, Task{Address: e.Address, Action: e.Key.String(), Word: "Attempt"})
	var trees, rest []digest.Digest
	if !e.Captured.Given.IsZero() {
		trees = append(trees, e.Captured.Given)
	}
	for _, o := range e.Captured.Outputs {
		if o.Tree && !o.Digest.IsZero() {
			trees = append(trees, o.Digest)
		}
	}
	if err := c.fetch(ctx, trees, into); err != nil {
		return err
	}
	if err := e.Blobs(into, func(d digest.Digest) error { rest = append(rest, d); return nil }); err != nil {
		return fmt.Errorf("%w: %w", cache.ErrPoisoned, err)
	}
	err := c.fetch(ctx, slices.Concat(e.Texts(), rest), into)
	if !isLoss(err) {
		return err
	}
	if err := c.fetch(ctx, rest, into); err != nil { // without the texts, of which one may be what is lost
		return err
	}
	for _, d := range e.Texts() {
		if err := c.fetch(ctx, []digest.Digest{d}, into); err != nil && !isLoss(err) {
			return err
		}
	}
	return nil
}

// isLoss reports whether an error says that bytes are gone, or other ones, and not that they cannot be had now.
func isLoss(err error) bool {
	return cache.IsMissing(err) || cache.IsCorrupt(err) || errors.Is(err, cache.ErrPoisoned)
}

// Holds implements cache.Shared.
func (c *Cache) Holds(ctx context.Context, e cache.SharedAttempt) ([]digest.Digest, error) {
	ctx = WithTask(ctx, Task{Address: e.Address, Action: e.Key.String(), Word: "Attempt"})
	var all []digest.Digest
	local := map[Digest]digest.Digest{}
	var wanted []Digest
	add := func(d digest.Digest) error {
		w, ok := c.where(d)
		if !ok {
			return cache.ErrMissing{Digest: d}
		}
		all, wanted = append(all, d), append(wanted, w)
		local[w] = d
		return nil
	}
	if err := e.Blobs(c, add); err != nil {
		return nil, err
	}
	needed := slices.Clone(all)
	for _, d := range e.Texts() {
		_ = add(d) // nobody said where a text is that is lost
	}
	missing, err := c.conn.FindMissing(ctx, wanted)
	if err != nil {
		return nil, err
	}
	for _, w := range missing {
		if d := local[w]; slices.Contains(needed, d) {
			return nil, cache.ErrMissing{Digest: d}
		}
		all = slices.DeleteFunc(all, func(d digest.Digest) bool { return d == local[w] })
	}
	return all, nil
}

// fetch copies blobs that a store lacks.
func (c *Cache) fetch(ctx context.Context, digests []digest.Digest, into cache.CAS) error {
	local := map[Digest]digest.Digest{}
	var wanted []Digest
	digests, err := lacking(into, digests)
	if err != nil {
		return err
	}
	for _, d := range digests {
		w, ok := c.where(d)
		if !ok {
			return cache.ErrMissing{Digest: d}
		}
		if other, twice := local[w]; twice && other != d {
			return fmt.Errorf("%w: it says that two blobs have one sum, %s", cache.ErrPoisoned, w)
		}
		local[w] = d
		wanted = append(wanted, w)
	}
	err = c.conn.Read(ctx, wanted, func(w Digest, r io.Reader) error {
		have, err := into.Put(&strictly{r: r, size: w.Size})
		if err != nil {
			return err
		}
		if want := local[w]; have != want {
			return fmt.Errorf("%w: %s is %s", cache.ErrPoisoned, want, have)
		}
		if c.conn.Function() != BLAKE3 {
			c.sums.learn(have, w.Sum) // both sums were computed here, from the same bytes
		}
		return nil
	})
	var missing *MissingError
	if errors.As(err, &missing) {
		return cache.ErrMissing{Digest: local[missing.Digest]}
	}
	return err
}

// lacking returns those of digests that a store does not have. One that can tell of many at once is asked once.
func lacking(cas cache.CAS, digests []digest.Digest) ([]digest.Digest, error) {
	if many, ok := cas.(interface {
		Lacks([]digest.Digest) ([]digest.Digest, error)
	}); ok {
		return many.Lacks(digests)
	}
	var out []digest.Digest
	for _, d := range digests {
		have, err := cas.Has(d)
		if err != nil {
			return nil, err
		}
		if !have {
			out = append(out, d)
		}
	}
	return out, nil
}

// strictly ends in an error when a reader yields more than it should, before a disk is full of it.
type strictly struct {
	r    io.Reader
	size int64
}

// Read implements io.Reader.
func (s *strictly) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if s.size -= int64(n); s.size < 0 {
		return 0, fmt.Errorf("%w: a blob is longer than its digest says", cache.ErrPoisoned)
	}
	return n, err
}

// Probe asks a server for something small of each kind, for who wants to know whether it can be used: it writes a blob, reads
// it back, and writes a result when write says so.
func (c *Cache) Probe(ctx context.Context, write bool) error {
	b := c.encoder().Bytes([]byte("ufbuild probe\n"))
	if !write {
		_, err := c.conn.FindMissing(ctx, []Digest{b.Digest})
		return err
	}
	if _, err := c.conn.Upload(ctx, []Blob{b}); err != nil {
		return err
	}
	err := c.conn.Read(ctx, []Digest{b.Digest}, func(_ Digest, r io.Reader) error {
		have, err := io.ReadAll(r)
		if err == nil && !bytes.Equal(have, b.Bytes) {
			err = cache.ErrPoisoned
		}
		return err
	})
	if err != nil {
		return err
	}
	action, messages := c.encoder().KeyAction(cache.KeyOf([]byte("ufbuild probe")))
	if _, err := c.conn.Upload(ctx, messages); err != nil {
		return err
	}
	return c.conn.UpdateActionResult(ctx, action, &repb.ActionResult{StdoutDigest: b.Digest.Proto()})
}
