package remote

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/zeebo/blake3"
)

// signDomain keeps signatures of attempts apart from all others that a key may make.
const signDomain = "ufbuild attempt signature v1\n"

// Seal signs attempts with a private Ed25519 key.
type Seal struct{ key ed25519.PrivateKey }

// ReadSeal reads a private key in PEM (PKCS 8), as "openssl genpkey -algorithm ed25519" writes it.
func ReadSeal(file string) (*Seal, error) {
	der, err := readPEM(file, "PRIVATE KEY")
	if err != nil {
		return nil, fmt.Errorf("read signing key: %w", err)
	}
	key, err := x509.ParsePKCS8PrivateKey(der[0])
	if err != nil {
		return nil, fmt.Errorf("read signing key %s: %w", file, err)
	}
	own, ok := key.(ed25519.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("read signing key %s: it is no Ed25519 key\nhint: openssl genpkey -algorithm ed25519 -out %s", file, file)
	}
	return &Seal{own}, nil
}

func (s *Seal) sign(text []byte) []byte {
	return []byte(base64.StdEncoding.EncodeToString(ed25519.Sign(s.key, append([]byte(signDomain), text...))) + "\n")
}

// Trust is a set of public keys.
type Trust struct{ keys []ed25519.PublicKey }

// ReadTrust reads public keys in PEM, one or more in a file, as "openssl pkey -pubout" writes them.
func ReadTrust(file string) (*Trust, error) {
	ders, err := readPEM(file, "PUBLIC KEY")
	if err != nil {
		return nil, fmt.Errorf("read trusted keys: %w", err)
	}
	t := &Trust{}
	for _, der := range ders {
		key, err := x509.ParsePKIXPublicKey(der)
		if err != nil {
			return nil, fmt.Errorf("read trusted keys %s: %w", file, err)
		}
		own, ok := key.(ed25519.PublicKey)
		if !ok {
			return nil, fmt.Errorf("read trusted keys %s: one is no Ed25519 key", file)
		}
		t.keys = append(t.keys, own)
	}
	return t, nil
}

// verify returns the short name of the key that signed text; "" when none of the trusted did.
func (t *Trust) verify(text, signature []byte) string {
	raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(signature)))
	if err != nil {
		return ""
	}
	signed := append([]byte(signDomain), text...)
	for _, key := range t.keys {
		if ed25519.Verify(key, signed, raw) {
			sum := blake3.Sum256(key)
			return hex.EncodeToString(sum[:6])
		}
	}
	return ""
}

// readPEM returns the blocks of a kind in a file; one that has none is an error.
func readPEM(file, kind string) ([][]byte, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var out [][]byte
	for {
		block, rest := pem.Decode(b)
		if block == nil {
			break
		}
		if block.Type == kind {
			out = append(out, block.Bytes)
		}
		b = rest
	}
	if len(out) == 0 {
		return nil, errors.New(file + ": there is no " + strings.ToLower(kind) + " in PEM in it")
	}
	return out, nil
}
