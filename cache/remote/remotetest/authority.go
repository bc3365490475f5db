package remotetest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// Authority signs certificates, for servers and for clients. Whatever goes wrong in making them is a panic: it is the test
// machine's trouble.
type Authority struct {
	File string // its own certificate, in PEM
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// NewAuthority makes one that keeps its files in a directory.
func NewAuthority(dir string) *Authority {
	a := &Authority{dir: dir, File: filepath.Join(dir, "ca.pem")}
	own := &x509.Certificate{Subject: pkix.Name{CommonName: "an authority"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	a.cert, a.key = a.sign(own, a.File)
	return a
}

// The days between which certificates hold; Expired ones end before anybody asks. Fixed ones need no clock.
var (
	since  = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	expiry = since.AddDate(0, 1, 0)
	until  = since.AddDate(200, 0, 0)
)

// Issue makes a certificate for host names and addresses, and returns its file and that of its key.
func (a *Authority) Issue(file string, hosts ...string) (cert, key string) {
	return a.issue(file, until, hosts)
}

// Expired is Issue for a certificate that holds no longer.
func (a *Authority) Expired(file string, hosts ...string) (cert, key string) {
	return a.issue(file, expiry, hosts)
}

func (a *Authority) issue(file string, end time.Time, hosts []string) (cert, key string) {
	t := &x509.Certificate{
		Subject: pkix.Name{CommonName: file}, NotAfter: end, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	for _, h := range hosts {
		if ip := net.ParseIP(h); ip != nil {
			t.IPAddresses = append(t.IPAddresses, ip)
		} else {
			t.DNSNames = append(t.DNSNames, h)
		}
	}
	cert, key = filepath.Join(a.dir, file+".pem"), filepath.Join(a.dir, file+".key")
	_, k := a.sign(t, cert)
	der, err := x509.MarshalPKCS8PrivateKey(k)
	must(err)
	must(os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600))
	return cert, key
}

// sign completes a certificate, signs it, by itself when there is no authority yet, and writes it to a file.
func (a *Authority) sign(t *x509.Certificate, file string) (*x509.Certificate, *ecdsa.PrivateKey) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(err)
	t.SerialNumber, err = rand.Int(rand.Reader, big.NewInt(1<<62))
	must(err)
	t.NotBefore = since
	if t.NotAfter.IsZero() {
		t.NotAfter = until
	}
	parent, signer := t, key
	if a.cert != nil {
		parent, signer = a.cert, a.key
	}
	der, err := x509.CreateCertificate(rand.Reader, t, parent, &key.PublicKey, signer)
	must(err)
	must(os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	cert, err := x509.ParseCertificate(der)
	must(err)
	return cert, key
}

// Serving is the configuration of a server that shows a certificate, and asks clients for one that clients signed unless that
// is nil.
func Serving(cert, key string, clients *Authority) *tls.Config {
	pair, err := tls.LoadX509KeyPair(cert, key)
	must(err)
	c := &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	if clients != nil {
		c.ClientCAs, c.ClientAuth = x509.NewCertPool(), tls.RequireAndVerifyClientCert
		c.ClientCAs.AddCert(clients.cert)
	}
	return c
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
