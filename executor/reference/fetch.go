package reference

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/lang"
)

// Fetcher fetches references into a store. Its fields are set once; Fetch may be called concurrently.
type Fetcher struct {
	CAS    cache.CAS
	Root   string       // of the campaign; relative addresses of repositories start here
	Env    []string     // of git, "K=V"
	Client *http.Client // of addresses
	Temp   string       // an existing directory below which repositories are fetched
}

// Fetch fetches one reference from outside and returns its pin. Errors are the world's: no network, no
// such commit, other bytes than the SHA-256 says.
func (f *Fetcher) Fetch(ctx context.Context, r *lang.Reference) (Pin, error) {
	p := Pin{Name: r.Name, Repo: r.Repo, Commit: r.Commit, Paths: r.Paths, URL: r.URL, SHA256: r.SHA256}
	var err error
	if r.Repo != "" {
		err = f.repository(ctx, r, &p)
	} else {
		err = f.address(ctx, r, &p)
	}
	if err != nil {
		return Pin{}, fmt.Errorf("fetch reference.%s: %w", r.Name, err)
	}
	return p, nil
}

// maxAddress bounds what one address may give: a gigabyte is no reading matter, and the disk is finite.
const maxAddress = 1 << 30

// address fetches the bytes at an address.
func (f *Fetcher) address(ctx context.Context, r *lang.Reference, p *Pin) error {
	u, err := url.Parse(r.URL)
	if err != nil {
		return err
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("%s is no address of http or https", r.URL)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.URL, nil)
	if err != nil {
		return err
	}
	res, err := f.Client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("get %s: %s", r.URL, res.Status)
	}
	d, err := f.CAS.Put(&checked{from: io.LimitReader(res.Body, maxAddress+1), sum: sha256.New(), want: r.SHA256})
	if err != nil {
		return err
	}
	p.Blob = &d
	return nil
}

// checked ends in an error instead of io.EOF when the bytes are not the wanted ones, so that a store
// does not keep them.
type checked struct {
	from io.Reader
	sum  hash.Hash
	want string
	n    int64
}

// Read implements io.Reader.
func (c *checked) Read(b []byte) (int, error) {
	n, err := c.from.Read(b)
	c.sum.Write(b[:n])
	if c.n += int64(n); c.n > maxAddress {
		return n, fmt.Errorf("more than %d bytes", maxAddress)
	}
	if errors.Is(err, io.EOF) {
		if got := hex.EncodeToString(c.sum.Sum(nil)); !strings.EqualFold(got, c.want) {
			return n, fmt.Errorf("the bytes have the SHA-256 %s, not %s\nhint: if that is what you want, set sha256 to it", got, c.want)
		}
	}
	return n, err
}
