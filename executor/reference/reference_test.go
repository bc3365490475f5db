package reference

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/cache/mem"
	"github.com/ufbuild/ufbuild/lang"
)

func newFetcher(t *testing.T) (*Fetcher, cache.Store) {
	t.Helper()
	store := mem.New("")
	hooked := append(os.Environ(), "GIT_DIR=/nowhere", "GIT_COMMON_DIR=/nowhere", "GIT_INDEX_FILE=/nowhere") // as in a hook of a worktree
	return &Fetcher{CAS: store, Root: t.TempDir(), Env: hooked, Client: http.DefaultClient, Temp: t.TempDir()}, store
}

// repository makes a repository with two commits and returns its directory and the first of them.
func repository(t *testing.T) (dir, commit string) {
	t.Helper()
	dir = t.TempDir()
	run := func(args ...string) string {
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return strings.TrimSpace(string(out))
	}
	run("init", "-q")
	for name, text := range map[string]string{"README.md": "one\n", "docs/a.md": "a\n", "docs/b.md": "b\n", "other.md": "o\n"} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "docs/run"), []byte("#!/bin/sh\n"), 0o755))
	require.NoError(t, os.Symlink("a.md", filepath.Join(dir, "docs/link")))
	require.NoError(t, os.Symlink("/etc/passwd", filepath.Join(dir, "outside")))
	run("add", "-A")
	run("commit", "-q", "-m", "one")
	commit = run("rev-parse", "HEAD")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "README.md"), []byte("two\n"), 0o644))
	run("commit", "-q", "-a", "-m", "two")
	return dir, commit
}

func TestFetchRepository(t *testing.T) {
	f, store := newFetcher(t)
	dir, commit := repository(t)
	ref := &lang.Reference{Name: "r", Repo: "file://" + dir, Commit: commit, Paths: []string{"docs", "README.md"}}
	p, err := f.Fetch(context.Background(), ref)
	require.NoError(t, err)
	require.True(t, p.Matches(ref))
	d, tree := p.Digest()
	require.True(t, tree)
	text, err := cache.ReadAll(store, d, -1)
	require.NoError(t, err)
	got, err := cache.DecodeTree(text)
	require.NoError(t, err)
	var paths []string
	for _, e := range got.Entries {
		paths = append(paths, e.Path)
		switch e.Path {
		case "README.md":
			b, err := cache.ReadAll(store, e.Digest, -1)
			require.NoError(t, err)
			require.Equal(t, "one\n", string(b), "the pinned commit, not the newest")
		case "docs/run":
			require.Equal(t, uint32(0o755), e.Mode)
		case "docs/link":
			require.Equal(t, "a.md", e.Target)
		}
	}
	require.Equal(t, []string{"README.md", "docs/a.md", "docs/b.md", "docs/link", "docs/run"}, paths)
	require.Len(t, p.Files, 4)

	again, err := f.Fetch(context.Background(), ref)
	require.NoError(t, err)
	require.Equal(t, p, again)
	_, missing, err := p.Missing(store)
	require.NoError(t, err)
	require.False(t, missing)
	_, missing, err = p.Missing(mem.New(""))
	require.NoError(t, err)
	require.True(t, missing)
	left, err := os.ReadDir(f.Temp)
	require.NoError(t, err)
	require.Empty(t, left, "temporary repositories are removed")
}

func TestFetchRepositoryFails(t *testing.T) {
	f, _ := newFetcher(t)
	dir, commit := repository(t)
	nobody := strings.Repeat("0123456789", 4)
	for name, tc := range map[string]struct {
		repo, commit string
		paths        []string
		want         string
	}{
		"no such commit":     {dir, nobody, nil, "fetch reference.r: "},
		"no such path":       {dir, commit, []string{"nowhere"}, "the commit has no nowhere"},
		"a link leads away":  {dir, commit, nil, "read outside: the link leads to /etc/passwd"},
		"no such repository": {filepath.Join(dir, "gone"), commit, nil, "git fetch: "},
		"an option":          {"--upload-pack=touch " + filepath.Join(dir, "pwned"), commit, nil, "git fetch: "},
		"a program":          {"ext::sh -c touch% " + filepath.Join(dir, "pwned"), commit, nil, "git fetch: "},
	} {
		_, err := f.Fetch(context.Background(), &lang.Reference{Name: "r", Repo: tc.repo, Commit: tc.commit, Paths: tc.paths})
		require.ErrorContains(t, err, tc.want, name)
		require.NoFileExists(t, filepath.Join(dir, "pwned"), name)
	}
}

func TestFetchAddress(t *testing.T) {
	f, store := newFetcher(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/guide.md" {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write([]byte("a guide"))
	}))
	defer server.Close()
	sum := sha256.Sum256([]byte("a guide"))
	ref := lang.Reference{Name: "g", URL: server.URL + "/guide.md", SHA256: hex.EncodeToString(sum[:])}
	p, err := f.Fetch(context.Background(), &ref)
	require.NoError(t, err)
	d, tree := p.Digest()
	require.False(t, tree)
	b, err := cache.ReadAll(store, d, -1)
	require.NoError(t, err)
	require.Equal(t, "a guide", string(b))

	other := ref
	other.SHA256 = strings.Repeat("0", 64)
	_, err = f.Fetch(context.Background(), &other)
	require.ErrorContains(t, err, "the bytes have the SHA-256 "+ref.SHA256)
	other = ref
	other.URL = server.URL + "/gone.md"
	_, err = f.Fetch(context.Background(), &other)
	require.ErrorContains(t, err, "404")
	other.URL = "file:///etc/passwd"
	_, err = f.Fetch(context.Background(), &other)
	require.ErrorContains(t, err, "no address of http")
}

func TestLockFile(t *testing.T) {
	d1, err := cache.PutBytes(mem.New(""), []byte("1"))
	require.NoError(t, err)
	l := &Lock{Pins: []Pin{
		{Name: "b", URL: "https://example.com/x?a=1&b=2", SHA256: strings.Repeat("a", 64), Blob: &d1},
		{Name: "a", Repo: "https://example.com/r", Commit: strings.Repeat("b", 40), Paths: []string{"p"}, Tree: &d1, Files: []File{{"p", d1}}},
	}}
	text := l.Encode()
	require.Contains(t, string(text), "a=1&b=2")
	back, err := Decode(text)
	require.NoError(t, err)
	require.Equal(t, l, back)
	require.Equal(t, text, back.Encode())
	require.Equal(t, "a", back.Pins[0].Name)

	refs := []*lang.Reference{
		{Name: "a", Repo: "https://example.com/r", Commit: strings.Repeat("b", 40), Paths: []string{"p"}},
		{Name: "b", URL: "https://example.com/x?a=1&b=2", SHA256: strings.Repeat("c", 64)},
		{Name: "c", Repo: "https://example.com/c"}, {Name: "f", File: "f.md"}, {Name: "g", URL: "https://example.com/no-sum", Faulty: true},
	}
	ds := l.Check(refs)
	require.Len(t, ds, 2)
	require.Equal(t, "reference.b changed since ufbuild.lock was written.", ds[0].Summary)
	require.Equal(t, "reference.c is not in ufbuild.lock.", ds[1].Summary)
	require.Empty(t, (*Lock)(nil).Check(refs[3:]))

	for _, text := range []string{"", "{}", `{"schema_version":1,"references":[{"name":"x"}]}`, `{"schema_version":1,"references":[{"name":"x","tree":"?"}]}`} {
		_, err := Decode([]byte(text))
		require.Error(t, err, text)
	}
	l, _, err = Read(filepath.Join(t.TempDir(), "none"))
	require.NoError(t, err)
	require.Empty(t, l.Pins)
}

// A later version may have more to say: what it said stays when this one writes the file.
func TestLockFileOfALaterVersion(t *testing.T) {
	src := `{"schema_version":2,"signed":{"by":"ann"},"references":[{"name":"b","url":"u","blob":"` + digest.Of(nil).String() + `","mirror":["x"]},` +
		`{"name":"a","url":"v","blob":"` + digest.Of(nil).String() + `"}]}`
	l, err := Decode([]byte(src))
	require.NoError(t, err)
	l.Pins[0].URL = "w" // of a
	text := string(l.Encode())
	for _, want := range []string{`"schema_version": 2`, `"by": "ann"`, `"mirror": [`, `"url": "w"`} {
		require.Contains(t, text, want)
	}
	back, err := Decode([]byte(text))
	require.NoError(t, err)
	require.Equal(t, text, string(back.Encode()))
	require.Contains(t, string(back.Unpinned().Encode()), `"by": "ann"`)
}

// FuzzDecode proves that no lock file breaks its reader and that what was read is written back alike.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"schema_version":1,"references":[]}`))
	f.Add((&Lock{}).Encode())
	f.Fuzz(func(t *testing.T, src []byte) {
		l, err := Decode(src)
		if err != nil {
			return
		}
		text := l.Encode()
		back, err := Decode(text)
		require.NoError(t, err)
		require.Equal(t, text, back.Encode())
	})
}
