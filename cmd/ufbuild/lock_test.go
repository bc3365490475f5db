package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLockAddress pins an address and builds from it after the server is gone. An address that fails
// leaves the other pin in place.
func TestLockAddress(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprint(w, "text of ", r.URL.Path)
	}))
	sum := sha256.Sum256([]byte("text of /good.md"))
	dir, store := t.TempDir(), t.TempDir()
	write := func(more string) {
		text := fmt.Sprintf("reference \"good\" {\n  url = %q\n  sha256 = %q\n}\n", server.URL+"/good.md", hex.EncodeToString(sum[:]))
		text += "task \"read\" {\n  command = [\"cp\", reference.good.path, \"out.md\"]\n  output \"text\" { path = \"out.md\" }\n}\n"
		require.NoError(t, os.WriteFile(filepath.Join(dir, "campaign.hcl"), []byte(text+more), 0o644))
	}
	lockFile := filepath.Join(dir, "ufbuild.lock")
	write("")
	runVerb(t, exitOK, "lock", "-C", dir, "--store", store)
	first, err := os.ReadFile(lockFile)
	require.NoError(t, err)

	write(fmt.Sprintf("reference \"bad\" {\n  url = %q\n  sha256 = \"%064d\"\n}\n", server.URL+"/bad.md", 0))
	runVerb(t, exitWorld, "lock", "-C", dir, "--store", store)
	now, err := os.ReadFile(lockFile)
	require.NoError(t, err)
	require.Equal(t, string(first), string(now))

	server.Close()
	write("")
	runVerb(t, exitOK, "build", "-C", dir, "--store", store)
	got, err := os.ReadFile(filepath.Join(dir, "out", "read", "out.md"))
	require.NoError(t, err)
	require.Equal(t, "text of /good.md", string(got))
}
