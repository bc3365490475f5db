package workspace

import (
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/cache/effect"
)

// secretsFile lies beside a workspace whose program gets secret values: a salt, and the first hex digits of a salted digest of each
// value, a line each. So few of them tell values apart and do not let somebody be sure of a guess.
const (
	secretsFile = "secrets"
	sumDigits   = 8
)

// ErrMasks says that a workspace cannot be captured by who does not know the secret values that its program got.
var ErrMasks = errors.New("the secret values that its program got are not set here\nhint: build the campaign that ran it, with its environment")

// NoteSecrets leaves word beside the workspace of attempt of the secret values that its program gets, before it gets them. The
// values are written nowhere.
func NoteSecrets(attempt string, values []string) error {
	salt := rand.Text()
	text := sumsOf(salt, values)
	if len(text) == 0 {
		return nil
	}
	text = append([]string{salt}, text...)
	if err := effect.WriteFile(filepath.Join(attempt, secretsFile), []byte(strings.Join(text, "\n")+"\n"), 0o600); err != nil {
		return wrap("make workspace", secretsFile, unwrap(err))
	}
	return nil
}

// KnowsSecrets returns ErrMasks when values lacks one that the program of an attempt got: to capture what it left would store it.
func KnowsSecrets(attempt string, values []string) error {
	text, err := readBeside(attempt, secretsFile)
	if errors.Is(err, os.ErrNotExist) {
		return nil // it got none
	}
	if err != nil {
		return wrap("read workspace", secretsFile, unwrap(err))
	}
	got := strings.Fields(string(text))
	if len(got) == 0 {
		return ErrMasks // nobody knows which
	}
	known := sumsOf(got[0], values)
	for _, sum := range got[1:] {
		if !slices.Contains(known, sum) {
			return ErrMasks
		}
	}
	return nil
}

// sumsOf spells the digests of the values that are looked for.
func sumsOf(salt string, values []string) []string {
	var out []string
	for _, v := range values {
		if len(v) >= minSecret {
			out = append(out, digest.Of([]byte(salt + v)).Hex()[:sumDigits])
		}
	}
	return out
}
