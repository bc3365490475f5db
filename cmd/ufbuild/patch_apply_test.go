package main

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
)

// drawn is a random set of files: what git tells apart of them, by path.
type drawn map[string]drawnFile

type drawnFile struct {
	mode uint32 // 0 for a link
	text string
}

var drawnNames = []string{
	"a", "b.txt", "dir/x", "dir/y", "dir/deep/z", "sp ace", "quo\"te", "back\\slash", "tab\there", "new\nline", "ü/ñ", "\xff\xfe", "-dash", "a b/c d", "trail ",
}

// drawFiles makes a set in which no file lies below another.
func drawFiles(r *rand.Rand) drawn {
	out := drawn{}
	for _, name := range drawnNames {
		if r.IntN(3) > 0 {
			out[name] = drawFile(r)
		}
	}
	if r.IntN(2) == 0 { // a directory on one side, a file on the other
		for _, p := range slices.Collect(maps.Keys(out)) {
			if path.Dir(p) == "dir" || path.Dir(p) == "dir/deep" {
				delete(out, p)
			}
		}
		f := drawFile(r)
		if f.mode == 0 {
			f.text = "nowhere" // git cannot put a directory where a link leads to itself
		}
		out["dir"] = f
	}
	return out
}

func drawFile(r *rand.Rand) drawnFile {
	if r.IntN(8) == 0 {
		return drawnFile{0, []string{"a", "nowhere", "dir/../b.txt"}[r.IntN(3)]}
	}
	mode := []uint32{0o644, 0o755}[r.IntN(2)]
	var b bytes.Buffer
	switch r.IntN(6) {
	case 0:
	case 1: // no text
		for range r.IntN(300) {
			b.WriteByte(byte(r.IntN(256)))
		}
		b.WriteByte(0)
	case 2: // no text, and more than one window of a compressor
		for range 5000 + r.IntN(100_000) {
			b.WriteByte(byte(r.IntN(4)))
		}
	default:
		ends := []string{"\n", "\n", "\r\n"}[r.IntN(3)]
		for range r.IntN(40) {
			fmt.Fprintf(&b, "line %d\xe9%s", r.IntN(8), ends)
		}
		if r.IntN(3) == 0 {
			b.WriteString("no end of line")
		}
	}
	return drawnFile{mode, b.String()}
}

// edited is a set that has some files in common with d.
func (d drawn) edited(r *rand.Rand) drawn {
	out := drawFiles(r)
	for p, f := range d {
		if _, both := out[p]; !both {
			continue
		}
		switch r.IntN(4) {
		case 0:
			out[p] = f
		case 1:
			if f.mode != 0 {
				f.mode ^= 0o111
			}
			out[p] = f
		case 2:
			if f.mode != 0 && len(f.text) > 10 {
				f.text = f.text[:5] + "edit\n" + f.text[7:]
			}
			out[p] = f
		}
	}
	return out
}

func (d drawn) entries() map[string]cache.Entry {
	out := map[string]cache.Entry{}
	for p, f := range d {
		out[p] = cache.Entry{Path: p, Kind: cache.File, Mode: f.mode, Digest: digest.Of([]byte(f.text))}
		if f.mode == 0 {
			out[p] = cache.Entry{Path: p, Kind: cache.Link, Target: f.text}
		}
	}
	return out
}

func (d drawn) write(t *testing.T, dir string) {
	for p, f := range d {
		at := filepath.Join(dir, p)
		require.NoError(t, os.MkdirAll(filepath.Dir(at), 0o755))
		if f.mode == 0 {
			require.NoError(t, os.Symlink(f.text, at))
			continue
		}
		require.NoError(t, os.WriteFile(at, []byte(f.text), os.FileMode(f.mode)))
	}
}

func drawnFrom(t *testing.T, dir string) drawn {
	out := drawn{}
	require.NoError(t, filepath.WalkDir(dir, func(at string, e os.DirEntry, err error) error {
		require.NoError(t, err)
		if e.IsDir() {
			if e.Name() == ".git" {
				return filepath.SkipDir
			}
			return nil
		}
		p, _ := filepath.Rel(dir, at)
		if target, err := os.Readlink(at); err == nil {
			out[p] = drawnFile{0, target}
			return nil
		}
		text, err := os.ReadFile(at)
		require.NoError(t, err)
		info, err := e.Info()
		require.NoError(t, err)
		out[p] = drawnFile{uint32(info.Mode().Perm()), string(text)}
		return nil
	}))
	return out
}

// side is one side of a change as a verb would fill it.
func (d drawn) side(v *fileVersion, large bool) {
	if v == nil {
		return
	}
	text := []byte(d[v.entry.Path].text)
	if v.large = large && v.entry.Kind == cache.File; !v.large {
		v.text = text
		return
	}
	v.read = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }
}

// TestGitAppliesPatches makes random pairs of sets of files, and wants git to make the second of the first by our
// patch, and the first of the second by its reverse.
func TestGitAppliesPatches(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("there is no git")
	}
	for seed := range uint64(25) {
		r := rand.New(rand.NewPCG(seed, 0))
		old := drawFiles(r)
		new := old.edited(r)
		var patch bytes.Buffer
		for _, c := range compareFiles(old.entries(), new.entries()) {
			large := r.IntN(10) == 0
			old.side(c.old, large)
			new.side(c.new, large)
			c.compare()
			require.NoError(t, c.patch(&patch, false))
		}
		dir := t.TempDir()
		old.write(t, dir)
		apply := func(args ...string) {
			cmd := exec.Command(git, append([]string{"apply"}, args...)...)
			cmd.Dir, cmd.Stdin = dir, bytes.NewReader(patch.Bytes())
			cmd.Env = []string{"GIT_CEILING_DIRECTORIES=" + filepath.Dir(dir), "GIT_CONFIG_NOSYSTEM=1", "HOME=" + dir}
			said, err := cmd.CombinedOutput()
			require.NoError(t, err, "seed %d: git apply %q: %s\n%s", seed, args, said, patch.Bytes())
		}
		apply()
		require.Equal(t, new, drawnFrom(t, dir), "seed %d\n%s", seed, patch.Bytes())
		apply("--reverse")
		require.Equal(t, old, drawnFrom(t, dir), "seed %d, backwards", seed)
	}
}
