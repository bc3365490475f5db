package remote

import (
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"
)

// Header is sent with every call; its value may be a credential and is in no error and no log.
type Header struct{ Name, Value string }

// Options say how to reach an endpoint. The zero value is usable.
type Options struct {
	Headers []Header
	// CA, Cert and Key are files in PEM: who may have signed the server's certificate ("" for the system's), and what this
	// side shows of itself (both "" for nothing). They need a grpcs or https address.
	CA, Cert, Key string
	// Execute asks for an endpoint that executes: the digest function is then one that its cache and its executor share.
	Execute bool
	Version string // of ufbuild, for the server's logs
	Build   string // build id, for the server's logs; groups the calls of one build
	// Timeout bounds a call, or a stream without progress; 0 is a minute.
	Timeout time.Duration
	// Silence is how long a server may say nothing of an operation that it works on, before it is asked anew; 0 is 20 Timeouts.
	Silence time.Duration
	// Tries bounds how often a call is made that the server says it cannot take now; 0 is 4. The waits between begin with
	// Backoff, 0 being 50 ms, and grow fourfold.
	Tries   int
	Backoff time.Duration
}

func (o Options) withDefaults() Options {
	if o.Timeout == 0 {
		o.Timeout = time.Minute
	}
	if o.Silence == 0 {
		o.Silence = 20 * o.Timeout
	}
	if o.Tries == 0 {
		o.Tries = 4
	}
	if o.Backoff == 0 {
		o.Backoff = 50 * time.Millisecond
	}
	return o
}

// endpoint is an address taken apart.
type endpoint struct {
	target   string // host:port
	host     string
	instance string
	secure   bool
}

// parseAddress reads grpc://host:port/instance and grpcs://host[:port]/instance.
func parseAddress(address string) (endpoint, error) {
	u, err := url.Parse(address)
	if err != nil {
		return endpoint{}, fmt.Errorf("read remote address: %w", cleanURLError(err))
	}
	e := endpoint{host: u.Hostname(), instance: strings.Trim(u.Path, "/"), secure: u.Scheme == "grpcs"}
	port := u.Port()
	switch {
	case u.Scheme != "grpc" && u.Scheme != "grpcs":
		return e, fmt.Errorf("read remote address %s: the scheme %q is not known\nhint: write grpc://HOST:PORT or grpcs://HOST:PORT", u.Redacted(), u.Scheme)
	case e.host == "":
		return e, fmt.Errorf("read remote address %s: it has no host", u.Redacted())
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return e, fmt.Errorf("read remote address %s: only host, port and an instance name are read\nhint: credentials go into a header", u.Redacted())
	case port == "" && e.secure:
		port = "443"
	case port == "":
		return e, fmt.Errorf("read remote address %s: it has no port", u.Redacted())
	}
	e.target = net.JoinHostPort(e.host, port)
	return e, nil
}

// cleanURLError leaves out the text of an address that could not be read: it may hold a password.
func cleanURLError(err error) error {
	if e, ok := err.(*url.Error); ok {
		return e.Err
	}
	return err
}
