package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/remote"
	"github.com/ufbuild/ufbuild/cache/tiered"
	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/ui"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/place"
)

// remoteFlags say which store is shared with other machines, and how.
type remoteFlags struct {
	address, mode string
	headers       []string
	ca, cert, key string
	sign, trust   string
}

// The modes of a remote.
const (
	remoteOff     = "off"
	remoteRead    = "read"
	remoteWrite   = "write" // reads too
	remoteTrusted = "read-trusted"
)

func (f *remoteFlags) bind(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&f.address, "remote", "", "share results through the server at `URL`: grpc://, grpcs://, http:// or https://")
	fs.StringVar(&f.mode, "remote-mode", remoteWrite, "how it is used, `MODE`: off, read, write (and read) or read-trusted")
	fs.StringArrayVar(&f.headers, "remote-header", nil, "send `NAME=VALUE` with every call; may be repeated")
	fs.StringVar(&f.ca, "remote-ca", "", "trust servers whose certificate one in `FILE` signed")
	fs.StringVar(&f.cert, "remote-cert", "", "show the server the certificate in `FILE`")
	fs.StringVar(&f.key, "remote-key", "", "the private key of that certificate, in `FILE`")
	fs.StringVar(&f.sign, "remote-sign", "", "sign what is written with the Ed25519 key in `FILE`")
	fs.StringVar(&f.trust, "remote-trust", "", "take only what the keys in `FILE` signed")
}

// remoteTimeout is how long a server may leave a call without progress. A build waits that long at most once; a test has less
// patience.
var remoteTimeout = 30 * time.Second

// options are what the flags say of the connection. Whatever is wrong with them is told before anything is done.
func (f *remoteFlags) options(build string) (remote.Options, error) {
	o := remote.Options{CA: f.ca, Cert: f.cert, Key: f.key, Version: version().Version, Build: build, Timeout: remoteTimeout}
	for _, h := range f.headers {
		name, value, ok := strings.Cut(h, "=")
		if !ok || !isToken(name) || strings.ContainsAny(value, "\r\n\x00") {
			return o, usageErrorf("--remote-header: want NAME=VALUE\nhint: --remote-header=x-api-key=… or UFBUILD_REMOTE_HEADER, which no other user of the machine sees")
		}
		o.Headers = append(o.Headers, remote.Header{Name: name, Value: value})
	}
	return o, nil
}

// isToken reports whether a header may be called so.
func isToken(s string) bool {
	return s != "" && strings.Trim(strings.ToLower(s), "abcdefghijklmnopqrstuvwxyz0123456789-_.") == ""
}

// addressFor is the store to share with: the flag, else what the campaign says; "" for none.
func (f *remoteFlags) addressFor(campaign string) string {
	switch {
	case f.mode == remoteOff:
		return ""
	case f.address != "":
		return f.address
	}
	return campaign
}

// keys are what signs and what is trusted.
func (f *remoteFlags) keys() (co remote.CacheOptions, err error) {
	if err := oneOf("remote-mode", f.mode, remoteOff, remoteRead, remoteWrite, remoteTrusted); err != nil {
		return co, err
	}
	if f.mode == remoteTrusted && f.trust == "" {
		return co, usageErrorf("--remote-mode=read-trusted takes what trusted keys signed, and none is named\nhint: --remote-trust FILE")
	}
	if f.sign != "" {
		if co.Seal, err = remote.ReadSeal(f.sign); err != nil {
			return co, usageErrorf("--remote-sign: %w", err)
		}
	}
	if f.trust != "" {
		if co.Trust, err = remote.ReadTrust(f.trust); err != nil {
			return co, usageErrorf("--remote-trust: %w", err)
		}
	}
	return co, nil
}

// reachRemote puts the store that machines share behind the one here, if there is one. How it is used is in use: whether it is
// read, whether nothing is written anywhere, and who hears of a long wait for it, or of trouble with it, which stops nothing. The
// error is of what the user wrote.
func (s *session) reachRemote(f *remoteFlags, build string, use tiered.Options) error {
	co, err := f.keys()
	if err != nil {
		return err
	}
	s.remoteAddress = f.address
	address := f.addressFor(s.campaign.Remote)
	if address == "" {
		return nil
	}
	o, err := f.options(build)
	if err != nil {
		return err
	}
	if err := remote.Check(address, o); err != nil {
		return usageErrorf("%w", err)
	}
	s.sumsFile = filepath.Join(s.store.Dir(), "sha256")
	open := func(ctx context.Context) (cache.Shared, error) {
		var err error
		if co.Sums, err = remote.LoadSums(s.sumsFile); err != nil {
			return nil, err
		}
		s.sums = co.Sums
		return remote.OpenCache(ctx, address, o, co)
	}
	use.Open, use.Name, use.Write = open, remote.Name(address), f.mode == remoteWrite
	use.Producer, use.Outbox = s.app.producer(), filepath.Join(s.store.Dir(), "outbox", outboxOf(address))
	s.shared = tiered.New(s.store, use)
	if use.Virtual {
		s.app.warn(s.placer.Close())
		s.placer = place.Open(s.campaign.Root, s.campaign.Out, s.files, s.shared)
	}
	return nil
}

// outboxOf keeps what is to be sent to one server apart from what is to be sent to another.
func outboxOf(address string) string {
	sum := sha256.Sum256([]byte(address))
	return hex.EncodeToString(sum[:8])
}

// producer is who made a result, to other machines.
func (a *app) producer() string {
	host, err := os.Hostname()
	if err != nil {
		return a.who()
	}
	return a.who() + "@" + host
}

// sendingSays is how long results may be sent before that is said.
const sendingSays = 2 * time.Second

// sendRest waits until what was made here is where other machines find it, and says so when that lasts.
func (s *session) sendRest(b *executor.Builder) {
	if s.shared == nil {
		return
	}
	remoteName := s.shared.Name()
	say := time.AfterFunc(sendingSays, func() {
		if n := s.shared.Pending(); n > 0 {
			b.Notice("sends " + ui.Count(n, "result") + " to " + remoteName)
		}
	})
	defer say.Stop()
	s.shared.Flush(s.app.context())
}

// closeStore closes the store, and the one that is shared with it.
func (s *session) closeStore() error {
	if s.shared == nil {
		return s.store.Close()
	}
	err := s.shared.Close() // first: it learns until then
	if s.sums != nil && s.held != nil {
		err = errors.Join(err, s.sums.Save(s.sumsFile))
	}
	return err
}
