package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
)

// A bundle is a tar stream of attempts and every blob they name:
//
//	ufbuild-bundle      {"format":1,…}, first
//	blobs/<hex>-<size>  each blob once, named by its digest
//	records             the records of the attempts, one line of JSON each
//	end                 {"records":<digest>,"blobs":<count>}, last
//
// Everything in it is proved by digest when it is read: blobs by their names, records by the end, keys by the
// manifests.
const (
	bundleHead    = "ufbuild-bundle"
	bundleBlobs   = "blobs/"
	bundleRecords = "records"
	bundleEnd     = "end"
	bundleFormat  = 1

	// maxRecords bounds what is read into memory of a stranger's file. An attempt takes some three kilobytes.
	maxRecords = 256 << 20
)

type bundleHeader struct {
	Format int    `json:"format"`
	Target string `json:"target"` // what was exported, for people
}

type bundleTrailer struct {
	Records digest.Digest `json:"records"`
	Blobs   int           `json:"blobs"`
}

// bundleWriter writes a bundle.
type bundleWriter struct {
	tar  *tar.Writer
	from cache.CAS
	seen map[digest.Digest]bool
}

// writeBundle writes attempts with all blobs that they name, and extra blobs.
func writeBundle(w io.Writer, from cache.CAS, target string, attempts []cache.Attempt, blobs []digest.Digest) error {
	b := bundleWriter{tar: tar.NewWriter(w), from: from, seen: map[digest.Digest]bool{}}
	if err := b.document(bundleHead, bundleHeader{Format: bundleFormat, Target: target}); err != nil {
		return err
	}
	for _, d := range blobs {
		if err := b.blob(d); err != nil {
			return err
		}
	}
	var records bytes.Buffer
	for _, at := range attempts {
		for _, r := range recordsOf(at) {
			line, err := r.Encode()
			if err != nil {
				return err
			}
			records.Write(append(line, '\n'))
		}
	}
	if err := b.file(bundleRecords, int64(records.Len()), bytes.NewReader(records.Bytes())); err != nil {
		return err
	}
	if err := b.document(bundleEnd, bundleTrailer{Records: digest.Of(records.Bytes()), Blobs: len(b.seen)}); err != nil {
		return err
	}
	return b.tar.Close()
}

// recordsOf spells an attempt as records. Who ran it where is of no use elsewhere; discards belong to those who
// made them.
func recordsOf(at cache.Attempt) []cache.Record {
	at.Owner, at.Workspace = cache.Owner{}, ""
	out := []cache.Record{cache.StartedRecord(at)}
	if at.Captured != nil {
		out = append(out, cache.CapturedRecord(at.Key, at.Ordinal, *at.Captured))
	}
	for _, v := range at.Verdicts {
		out = append(out, cache.VerdictRecord(at.Key, at.Ordinal, v))
	}
	return append(out, cache.EndedRecord(at.Key, at.Ordinal, at.Outcome, at.Message, at.EndedAt))
}

func (b *bundleWriter) document(name string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		panic("BUG: encode bundle: " + err.Error())
	}
	return b.file(name, int64(len(text)), bytes.NewReader(text))
}

func (b *bundleWriter) file(name string, size int64, r io.Reader) error {
	if err := b.tar.WriteHeader(&tar.Header{Name: name, Mode: 0o444, Size: size, Format: tar.FormatPAX}); err != nil {
		return fmt.Errorf("write bundle: %w", err)
	}
	if _, err := io.Copy(b.tar, r); err != nil {
		return fmt.Errorf("write bundle: %w", err)
	}
	return nil
}

func (b *bundleWriter) blob(d digest.Digest) error {
	if b.seen[d] || d.IsZero() {
		return nil
	}
	b.seen[d] = true
	r, err := b.from.Open(d)
	if err != nil {
		return fmt.Errorf("write bundle: %w", err)
	}
	defer func() { _ = r.Close() }()
	return b.file(bundleBlobs+d.Hex()+"-"+strconv.FormatInt(d.Size, 10), d.Size, r)
}

// errBundle says that a bundle is not what was written.
var errBundle = errors.New("it is damaged or no bundle")

// readBundle reads a bundle to its end and proves all of it. Each blob is handed to put, which returns the
// digest of what it read. Attempts whose blobs are neither in the bundle nor had are refused.
func readBundle(r io.Reader, put func(io.Reader) (digest.Digest, error), had func(digest.Digest) (bool, error)) ([]cache.Attempt, error) {
	b := bundleReader{put: put, blobs: map[digest.Digest]bool{}}
	tr := tar.NewReader(r)
	for n := 0; ; n++ {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = b.entry(n, h, tr)
		}
		if err != nil {
			return nil, fmt.Errorf("read bundle: %w", err)
		}
	}
	if !b.ended {
		return nil, fmt.Errorf("read bundle: %w: its end is missing", errBundle)
	}
	for _, at := range b.attempts {
		for _, d := range at.Blobs() {
			ok, err := had(d)
			if err != nil {
				return nil, err
			}
			if !ok && !b.blobs[d] {
				return nil, fmt.Errorf("read bundle: %w: it lacks %s of %s", errBundle, d, at.Address)
			}
		}
	}
	return b.attempts, nil
}

// bundleReader is what was read so far.
type bundleReader struct {
	put      func(io.Reader) (digest.Digest, error)
	blobs    map[digest.Digest]bool
	records  []byte
	attempts []cache.Attempt
	ended    bool
}

func (b *bundleReader) entry(n int, h *tar.Header, r io.Reader) error {
	switch {
	case h.Typeflag != tar.TypeReg:
		return fmt.Errorf("%w: %q is no file", errBundle, h.Name)
	case b.ended:
		return fmt.Errorf("%w: %q comes after its end", errBundle, h.Name)
	case (n == 0) != (h.Name == bundleHead):
		return fmt.Errorf("%w: it begins with %q", errBundle, h.Name)
	case h.Name == bundleHead:
		return b.head(r)
	case strings.HasPrefix(h.Name, bundleBlobs):
		return b.blob(h, r)
	case h.Name == bundleRecords:
		return b.readRecords(h, r)
	case h.Name == bundleEnd:
		return b.end(r)
	}
	return nil // a later version wrote it; what we know is proved without it
}

func (b *bundleReader) head(r io.Reader) error {
	var head bundleHeader
	if err := json.NewDecoder(io.LimitReader(r, 1<<20)).Decode(&head); err != nil {
		return fmt.Errorf("%w: %w", errBundle, err)
	}
	if head.Format != bundleFormat {
		return fmt.Errorf("its format is %d, newer than this version reads\nhint: use the ufbuild that wrote it, or a newer one", head.Format)
	}
	return nil
}

func (b *bundleReader) blob(h *tar.Header, r io.Reader) error {
	want, err := digest.Parse("b3:" + strings.Replace(path.Base(h.Name), "-", "/", 1))
	if err != nil || want.Size != h.Size {
		return fmt.Errorf("%w: %q names no blob", errBundle, h.Name)
	}
	have, err := b.put(r)
	if err != nil {
		return err
	}
	if have != want {
		return fmt.Errorf("%w: %s holds %s", errBundle, h.Name, have)
	}
	b.blobs[want] = true
	return nil
}

func (b *bundleReader) readRecords(h *tar.Header, r io.Reader) error {
	if h.Size > maxRecords || b.records != nil {
		return fmt.Errorf("%w: its records are too long or there twice", errBundle)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	b.records = text
	byKey := map[cache.Key][]cache.Record{}
	var order []cache.Key
	for line := range bytes.Lines(text) {
		rec, err := cache.DecodeRecord(line)
		if err != nil {
			return fmt.Errorf("%w: %w", errBundle, err)
		}
		if byKey[rec.Key] == nil {
			order = append(order, rec.Key)
		}
		byKey[rec.Key] = append(byKey[rec.Key], rec)
	}
	for _, k := range order {
		b.attempts = append(b.attempts, cache.Fold(k, byKey[k])...)
	}
	return nil
}

// end proves the records, and that nothing was left out.
func (b *bundleReader) end(r io.Reader) error {
	var t bundleTrailer
	if err := json.NewDecoder(io.LimitReader(r, 1<<20)).Decode(&t); err != nil {
		return fmt.Errorf("%w: %w", errBundle, err)
	}
	if digest.Of(b.records) != t.Records || len(b.blobs) != t.Blobs {
		return fmt.Errorf("%w: its records or blobs are not those it ends with", errBundle)
	}
	b.ended = true
	return nil
}
