package main

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/ufbuild/ufbuild/cache/remote"
	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/ui"
)

// doctorWaits bounds how long doctor waits for a remote.
const doctorWaits = 15 * time.Second

// remoteFindings say what the store that machines share offers. The error is of what the user wrote.
func (a *app) remoteFindings(f *remoteFlags, campaign string) ([]finding, error) {
	co, err := f.keys()
	if err != nil {
		return nil, err
	}
	address := f.addressFor(campaign)
	if address == "" {
		return nil, nil
	}
	o, err := f.options("doctor")
	if err != nil {
		return nil, err
	}
	if err := remote.Check(address, o); err != nil {
		return nil, usageErrorf("%w", err)
	}
	ctx, cancel := context.WithTimeout(a.context(), doctorWaits)
	defer cancel()
	c, err := remote.OpenCache(ctx, address, o, co)
	if err != nil {
		return []finding{{"remote", remote.Name(address), "missing", firstLine(err)}}, nil
	}
	defer func() { _ = c.Close() }() // nothing was sent that could be lost
	var found []finding
	if o := c.Offer(); o != nil {
		found = offerFindings(remote.Name(address), o)
	}
	writes := f.mode == remoteWrite
	what := "it can be read"
	if writes {
		what = "it can be read and written"
	}
	if err := c.Probe(ctx, writes); err != nil {
		if found == nil { // of an HTTP cache nothing is known before it is used
			return []finding{{"remote", remote.Name(address), "missing", firstLine(err)}}, nil
		}
		return append(found, finding{"remote", "use", "missing", firstLine(err)}), nil
	}
	if found == nil {
		found = []finding{{"remote", remote.Name(address), "ok", "an HTTP cache; SHA256"}}
	}
	return append(found, finding{"remote", "use", "ok", what}), nil
}

// firstLine is an error in a table.
func firstLine(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return "no answer within " + ui.Duration(doctorWaits)
	}
	return strings.ReplaceAll(err.Error(), "\n", "; ")
}

// offerFindings are what a server says of itself.
func offerFindings(name string, o *remote.Offer) []finding {
	yes := func(name string, has bool, words string) finding {
		if has {
			return finding{"remote", name, "ok", words}
		}
		return finding{"remote", name, "absent", "no " + words}
	}
	version := "Remote Execution API"
	if o.Versions != "" {
		version += " " + o.Versions
	}
	batch := "no limit named"
	if o.MaxBatch > 0 {
		batch = ui.Bytes(o.MaxBatch)
	}
	found := []finding{
		{"remote", name, "ok", version},
		{"remote", "digests", "ok", o.Function.String() + " is used; the cache has " + listed(o.CacheFunctions)},
		{"remote", "batches", "ok", batch},
		yes("zstd", o.ZstdStream || o.ZstdBatch, zstdWords(o)),
		yes("results", o.Update, "writing to the action cache announced"),
		yes("execute", o.Execute, "execution"),
	}
	if o.Execute {
		found[len(found)-1].Words += "; digests " + listed(o.ExecuteFunctions)
	}
	if o.MaxBlob > 0 {
		found = append(found, finding{"remote", "blobs", "ok", "up to " + ui.Bytes(o.MaxBlob) + " (" + strconv.FormatInt(o.MaxBlob, 10) + " bytes)"})
	}
	return found
}

func zstdWords(o *remote.Offer) string {
	switch {
	case o.ZstdStream && o.ZstdBatch:
		return "compression of streams and batches"
	case o.ZstdBatch:
		return "compression of batches alone"
	case o.ZstdStream:
		return "compression of streams alone"
	}
	return "compression"
}

func listed(words []string) string {
	if len(words) == 0 {
		return "none named"
	}
	return strings.Join(words, ", ")
}
