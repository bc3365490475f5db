package main

import (
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/executor/compiled"
	"github.com/ufbuild/ufbuild/executor/stamp"
)

// putBack puts back what is missing, if that is all there is to do, after a look for edits as in every build.
func (h *sliceHome) putBack() (done bool, said string) {
	p, out := h.process(false)
	a := h.app(p)
	if s := a.openSlice(nil, writing); s != nil {
		require.NoError(h.t, s.close())
	}
	done, err := a.answerPutBack(nil)
	require.NoError(h.t, err)
	return done, out.String()
}

// listed builds until a compiled campaign says what is in the root, which it does once that has not changed for a while.
func (h *sliceHome) listed() {
	for i := range 100 {
		h.settle()
		c, err := compiled.Load(filepath.Join(h.dir, ".ufbuild/compiled"))
		require.NoError(h.t, err)
		if slices.ContainsFunc(c.Dirs, func(d compiled.Dir) bool { return d.Path == "." && d.Names != [32]byte{} }) {
			return
		}
		h.write("say.sh", h.files["say.sh"]+strings.Repeat("#", i+1)+"\n")
	}
	h.t.Fatal("the root is never listed")
}

// outputs are the files in the output directory with their bytes and modes, by path.
func (h *sliceHome) outputs() map[string]string {
	got := map[string]string{}
	top := filepath.Join(h.dir, "out")
	require.NoError(h.t, filepath.WalkDir(top, func(at string, d fs.DirEntry, err error) error {
		require.NoError(h.t, err)
		info, err := d.Info()
		require.NoError(h.t, err)
		text := info.Mode().String()
		if d.Type().IsRegular() {
			b, err := os.ReadFile(at)
			require.NoError(h.t, err)
			text += string(b)
		}
		got[strings.TrimPrefix(at, top)] = text
		return nil
	}))
	return got
}

func (h *sliceHome) remove(paths ...string) {
	for _, p := range paths {
		require.NoError(h.t, os.RemoveAll(filepath.Join(h.dir, p)))
	}
}

// TestPutBack says what is put back without a look at the campaign, and that it is as it was.
func TestPutBack(t *testing.T) {
	h := newSliceHome(t)
	h.listed()
	want := h.outputs()
	for _, test := range []struct {
		what   string
		change func()
		short  bool
	}{
		{"nothing", func() {}, false},
		{"a file", func() { h.remove("out/lonely/o.txt") }, true},
		{"the directory of an instance", func() { h.remove("out/lens/go") }, true},
		{"several", func() { h.remove("out/lens", "out/check/again.json", "out/report") }, true},
		{"all", func() { h.remove("out") }, true},
		{"a touched file beside", func() {
			h.remove("out/lonely")
			h.write("src/a.txt", h.files["src/a.txt"])
		}, true},
		{"a touched text of the campaign beside", func() {
			h.remove("out/lonely")
			h.write("campaign.hcl", h.files["campaign.hcl"])
		}, true},
		{"what somebody else put there", func() {
			h.remove("out/lonely/o.txt")
			h.write("out/lonely/mine.txt", "mine")
		}, false},
		{"another output edited", func() {
			h.remove("out/lonely/o.txt")
			h.write("out/echo/o.txt", "mine")
		}, false},
		{"a link in its place", func() {
			h.remove("out/lonely/o.txt")
			require.NoError(t, os.Symlink("../echo/o.txt", filepath.Join(h.dir, "out/lonely/o.txt")))
		}, false},
		{"a file where its directory was", func() {
			h.remove("out/lonely")
			h.write("out/lonely", "mine")
		}, false},
		{"a new file of the campaign", func() {
			h.remove("out")
			h.write("later.campaign.hcl", "# nothing yet\n")
		}, false},
		{"a prompt edited", func() {
			h.remove("out/lonely")
			h.write("prompts/ask.md", h.files["prompts/ask.md"]+"And more.\n")
		}, false},
		{"a record of something else", func() {
			h.remove("out/lonely/o.txt")
			b, err := os.ReadFile(filepath.Join(h.dir, ".ufbuild/placed"))
			require.NoError(t, err)
			for line := range strings.Lines(string(b)) {
				if strings.Contains(line, `"echo"`) {
					b = append(b, strings.Replace(line, `"echo"`, `"lonely"`, 1)...)
				}
			}
			h.write(".ufbuild/placed", string(b))
		}, false},
		{"no record of what was put", func() { h.remove("out/lonely/o.txt", ".ufbuild/placed") }, false},
		{"nothing to go by", func() { h.remove("out/lonely/o.txt", ".ufbuild/fresh") }, false},
	} {
		test.change()
		done, said := h.putBack()
		assert.Equal(t, test.short, done, test.what)
		if done {
			require.Equal(t, want, h.outputs(), test.what)
			require.Equal(t, "16 tasks: 16 fresh\n", timeless(said), test.what)
			k, err := stamp.Load(filepath.Join(h.dir, ".ufbuild/fresh"))
			require.NoError(t, err)
			assert.True(t, stamp.Holds(k, h.dir), "%s: the next build looks at everything", test.what)
			whole, code := h.ufbuild(true, "plan")
			require.Zero(t, code, whole)
			require.Equal(t, "16 tasks: 16 fresh\n", timeless(whole), test.what)
		}
		h.remove("later.campaign.hcl")
		if info, err := os.Stat(filepath.Join(h.dir, "out/lonely")); err == nil && !info.IsDir() {
			h.remove("out/lonely")
		}
		for name, text := range h.files {
			h.write(name, text)
		}
		h.listed()
		require.Equal(t, want, h.outputs(), test.what)
	}
}

// TestPutBackGoesByTheLookBefore lets more differ while edits are looked for, and not any more when outputs are: nobody looks at
// everything once more to learn what is known.
func TestPutBackGoesByTheLookBefore(t *testing.T) {
	h := newSliceHome(t)
	h.listed()
	for path, differs := range map[string]bool{"prompts/later.md": true, "prompts/ask.md": true, "out/lonely/o.txt": false} {
		p, _ := h.process(false)
		a := h.app(p)
		text, had := h.files[path]
		if path != "out/lonely/o.txt" {
			h.write(path, text+"\n# more\n")
		}
		h.remove("out/lonely/o.txt")
		a.lastBuild(h.dir, nil, writing)
		if had {
			h.write(path, text)
		} else if differs {
			h.remove(path)
		}
		done, err := a.answerPutBack(nil)
		require.NoError(t, err)
		assert.Equal(t, !differs, done, path)
		h.listed()
	}
}

// TestPutBackIsWhatABuildDoes removes and changes at random, and wants the outputs that a build of the whole campaign leaves.
func TestPutBackIsWhatABuildDoes(t *testing.T) {
	r := rand.New(rand.NewPCG(*sliceSeed, 3))
	h := newSliceHome(t)
	h.listed()
	want := h.outputs()
	var paths []string
	for p := range want {
		paths = append(paths, "out"+p)
	}
	n, short := 60, 0
	if testing.Short() {
		n = 15
	}
	for i := range n {
		for range 1 + r.IntN(3) {
			p := paths[r.IntN(len(paths))]
			h.remove(p)
			switch r.IntN(8) {
			case 0:
				if filepath.Ext(p) != "" { // beside the instances nobody moves anything
					h.write(filepath.Dir(p)+"/mine.txt", "mine")
				}
			case 1:
				h.write("src/a.txt", h.files["src/a.txt"])
			}
		}
		if done, said := h.putBack(); done {
			short++
			require.Equal(t, want, h.outputs(), i)
			require.Equal(t, "16 tasks: 16 fresh\n", timeless(said), i)
			whole, code := h.ufbuild(true, "plan")
			require.Zero(t, code, whole)
			require.Equal(t, "16 tasks: 16 fresh\n", timeless(whole), i)
		}
		h.settle()
		require.Equal(t, want, h.outputs(), i)
	}
	require.Greater(t, short, n/4, "too few were put back without a look at the campaign")
}
