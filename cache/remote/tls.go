package remote

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
)

// TLS returns the configuration that CA, Cert and Key describe for a host.
func (o Options) TLS(host string) (*tls.Config, error) {
	c := &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12}
	if o.CA != "" {
		pem, err := os.ReadFile(o.CA)
		if err != nil {
			return nil, fmt.Errorf("read certificates of the remote: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("read certificates of the remote: there is none in %s\nhint: --remote-ca wants the certificate of an authority in PEM", o.CA)
		}
	}
	if (o.Cert == "") != (o.Key == "") {
		return nil, errors.New("read certificate for the remote: a certificate and its key come together\nhint: --remote-cert FILE --remote-key FILE")
	}
	if o.Cert != "" {
		pair, err := tls.LoadX509KeyPair(o.Cert, o.Key)
		if err != nil {
			return nil, fmt.Errorf("read certificate for the remote: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

func (o Options) credentials(e endpoint) (credentials.TransportCredentials, error) {
	if e.secure {
		c, err := o.TLS(e.host)
		if err != nil {
			return nil, err
		}
		return credentials.NewTLS(c), nil
	}
	if o.CA != "" || o.Cert != "" || o.Key != "" {
		return nil, fmt.Errorf("dial %s: certificates are of no use on a plain connection\nhint: write grpcs:// instead of grpc://", e.target)
	}
	return insecure.NewCredentials(), nil
}

// connectHints say what to do about a connection that did not come about. gRPC keeps nothing of the error of a handshake but its
// text, so it is the text that tells them apart; the first that fits counts.
var connectHints = []struct{ says, do string }{
	{"certificate signed by unknown authority", "--remote-ca FILE names the authority that signed the server's certificate"},
	{"certificate is valid for", "name the server as its certificate does"},
	{"certificate is not valid for any names", "name the server as its certificate does"},
	{"cannot validate certificate for", "name the server as its certificate does"},
	{"certificate has expired or is not yet valid", "the server needs a new certificate, or the clock of this machine is wrong"},
	{"tls: certificate required", "the server asks who you are: --remote-cert FILE with --remote-key FILE"},
	{"tls: bad certificate", "the server asks who you are: --remote-cert FILE with --remote-key FILE that it trusts"},
	{"tls: handshake failure", "the server may ask who you are: --remote-cert FILE with --remote-key FILE"},
	{"tls: unknown certificate authority", "the server does not trust who signed the certificate of --remote-cert"},
	{"tls: expired certificate", "the certificate of --remote-cert is out of date"},
	{"first record does not look like a TLS handshake", "the server speaks without TLS: write grpc:// instead of grpcs://"},
	{"server gave HTTP response to HTTPS client", "the server speaks without TLS: write http:// instead of https://"},
}

// hint says what to do about an error of a connection, on a line of its own; "" when nothing better is known than the error.
func (e endpoint) hint(err error) string {
	switch text := err.Error(); {
	case connectHint(text) != "":
		return connectHint(text)
	case cutOff(text):
		if e.secure { // with TLS 1.3 a server refuses a client's certificate after the handshake, and the reason may be lost
			return "\nhint: the server may ask who you are: --remote-cert FILE with --remote-key FILE"
		}
		return "\nhint: the server may want TLS: write grpcs:// instead of grpc://"
	case codeOf(err) == codes.Unauthenticated, codeOf(err) == codes.PermissionDenied:
		return credentialHint
	}
	return ""
}

// cutOff reports whether the other side ended a connection before it said a word.
func cutOff(text string) bool {
	for _, s := range []string{"server preface", "client preface", "broken pipe", "connection reset by peer"} {
		if strings.Contains(text, s) {
			return true
		}
	}
	return false
}

// credentialHint is for a server that refuses everything.
const credentialHint = "\nhint: give the server a credential with --remote-header NAME=VALUE, or in UFBUILD_REMOTE_HEADER"

func connectHint(text string) string {
	for _, h := range connectHints {
		if strings.Contains(text, h.says) {
			return "\nhint: " + h.do
		}
	}
	return ""
}

// ofTLS reports whether an error is of certificates or the handshake. The next call would meet the same.
func ofTLS(err error) bool {
	return strings.Contains(err.Error(), "x509: ") || strings.Contains(err.Error(), "tls: ")
}
