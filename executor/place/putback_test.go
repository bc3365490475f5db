package place

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/effect"
	"github.com/ufbuild/ufbuild/lang"
)

// gone is a campaign whose outputs were all put, and are known as they were.
type gone struct {
	*stand
	known map[string]Known
	list  []string // what is in place then
}

func newGone(t *testing.T) *gone {
	g := &gone{stand: newStand(t), known: map[string]Known{}}
	for _, of := range []struct {
		addr lang.Address
		outs []cache.Output
	}{
		{lang.Address{Task: "a"}, []cache.Output{g.file("f", "fa", 0o644), g.file("g", "ga", 0o755)}},
		{lang.Address{Task: "b"}, []cache.Output{g.tree("t", g.entry("d/e/f", "fb", 0o644), g.entry("d/g", "gb", 0o600))}},
		{lang.Address{Task: "c", Key: "x"}, []cache.Output{g.file("f", "fc", 0o644)}},
		{lang.Address{Task: "c", Key: "y"}, []cache.Output{g.file("f", "fd", 0o644)}},
	} {
		specs := []OutPath{{Name: "f", Path: "f"}, {Name: "g", Path: "s/g"}}
		_, err := g.p.Put(of.addr, of.outs, specs)
		require.NoError(t, err)
		want, err := expand(g.cas, of.outs, specs)
		require.NoError(t, err)
		for _, e := range want {
			g.known["out/"+of.addr.String()+"/"+e.Path] = Known{e.Digest, e.Mode}
		}
	}
	g.reopen()
	g.list = g.stand.list("out")
	return g
}

// missing are the files that are gone.
func (g *gone) missing() (paths []string) {
	for at := range g.known {
		if _, err := os.Lstat(filepath.Join(g.root, at)); err != nil {
			paths = append(paths, at)
		}
	}
	slices.Sort(paths)
	return paths
}

func (g *gone) putBack() (unsure []string, ok bool, err error) {
	unsure, report, ok, err := g.p.PutBack(g.missing(), func(path string) Known { return g.known[path] })
	require.Empty(g.t, report.Moved)
	return unsure, ok, err
}

// TestPutBackIsSure removes outputs and puts them back. Only files that stayed have to be looked at; no other is read.
func TestPutBackIsSure(t *testing.T) {
	for _, test := range []struct {
		what   string
		remove []string
		unsure []string
	}{
		{"everything", []string{"out"}, nil},
		{"an instance", []string{"out/b"}, nil},
		{"one that is below another directory", []string{"out/c/x"}, nil},
		{"a file", []string{"out/a/s/g"}, []string{"out/a/f"}},
		{"all but its directory", []string{"out/a", "out/b", "out/c"}, nil},
	} {
		g := newGone(t)
		for _, p := range test.remove {
			require.NoError(t, os.RemoveAll(filepath.Join(g.root, p)))
		}
		unsure, ok, err := g.putBack()
		require.NoError(t, err, test.what)
		require.True(t, ok, test.what)
		require.NoError(t, g.p.Close(), test.what)
		require.Equal(t, test.unsure, unsure, test.what)
		require.Equal(t, g.list, g.stand.list("out"), test.what)
		require.NoDirExists(t, g.p.wholeDir(), test.what)
		for at, was := range g.known {
			f, err := g.files.File(at)
			require.NoError(t, err)
			require.Equal(t, was, Known{f.Digest, f.Mode}, test.what)
		}
		if test.unsure == nil {
			require.Zero(t, g.files.Hashed(), test.what)
		}
	}
}

// TestOverwrittenAtOnce writes over what was just put, with as many bytes. That is seen, however short the time between.
func TestOverwrittenAtOnce(t *testing.T) {
	s := newStand(t)
	specs := []OutPath{{Name: "f", Path: "f"}}
	outs := []cache.Output{s.file("f", "ours", 0o644)}
	for range 20 {
		_, err := s.p.Put(taskA, outs, specs)
		require.NoError(t, err)
		s.check(InPlace, taskA, outs, specs)
		s.write("out/a/f", "mine")
		s.check(Edited, taskA, outs, specs, "out/a/f")
	}
}

// TestWholeAtEveryStep lets every step fail by which an output directory is made that was gone. What is shown is nothing, or whole
// instances, at every step, and nothing else stays.
func TestWholeAtEveryStep(t *testing.T) {
	for at := 1; ; at++ {
		g := newGone(t)
		require.NoError(t, os.RemoveAll(filepath.Join(g.root, "out")))
		steps := 0
		t.Cleanup(func() { effect.Intercept(nil) })
		effect.Intercept(func(e effect.Effect) *effect.Fault {
			var shown []string
			if _, err := os.Lstat(filepath.Join(g.root, "out")); err == nil {
				shown = g.stand.list("out")
			}
			for _, dir := range []string{"a/", "b/", "c/x/", "c/y/"} {
				of := func(list []string) (n int) {
					for _, p := range list {
						if strings.HasPrefix(p, dir) {
							n++
						}
					}
					return n
				}
				if n := of(shown); n != 0 {
					require.Equal(t, of(g.list), n, "a part of %s is shown before %s %s", dir, e.Op, e.Path)
				}
			}
			if steps++; steps == at {
				return &effect.Fault{Err: unix.EIO}
			}
			return nil
		})
		_, ok, err := g.putBack()
		effect.Intercept(nil)
		require.NoError(t, err, "at step %d", at)
		require.True(t, ok, "at step %d", at)
		require.NoError(t, g.p.Close())
		require.Equal(t, g.list, g.stand.list("out"), "at step %d", at)
		require.NoDirExists(t, g.p.wholeDir(), "at step %d", at)
		if steps < at {
			require.Greater(t, at, 25, "files, directories and times")
			break
		}
	}
}

// TestWholeAfterACrash finds what a build left that was killed before it showed anything.
func TestWholeAfterACrash(t *testing.T) {
	for what, next := range map[string]func(g *gone) error{
		"put back": func(g *gone) error {
			_, ok, err := g.putBack()
			if err == nil && !ok {
				err = fmt.Errorf("nothing was put back")
			}
			return err
		},
		"put": func(g *gone) error {
			_, err := g.p.Put(taskA, []cache.Output{g.file("f", "f", 0o644)}, []OutPath{{Name: "f", Path: "f"}})
			return err
		},
		"no more": func(g *gone) error { return g.p.Sweep() },
	} {
		g := newGone(t)
		require.NoError(t, os.RemoveAll(filepath.Join(g.root, "out")))
		g.write(".ufbuild/whole/a/half", "made")
		require.NoError(t, next(g), what)
		require.NoDirExists(t, g.p.wholeDir(), what)
		require.NoFileExists(t, filepath.Join(g.root, "out/a/half"), what)
	}
}

// TestWholeGivesWay lets somebody make an output directory while ours is made. His stays.
func TestWholeGivesWay(t *testing.T) {
	g := newGone(t)
	require.NoError(t, os.RemoveAll(filepath.Join(g.root, "out")))
	stepping(t, func() {
		if _, err := os.Lstat(filepath.Join(g.p.wholeDir(), "b/d/g")); err == nil {
			g.write("out/mine", "mine")
		}
	})
	_, ok, err := g.putBack()
	stepping(t, nil)
	require.NoError(t, err)
	require.True(t, ok)
	require.NoError(t, g.p.Close())
	require.Subset(t, g.stand.list("out"), append(g.list, "mine=mine"))
	require.NoDirExists(t, g.p.wholeDir())
}

// TestAlike: a directory that is made in one place and moved to another has the group, and gives the rights, of one that is made there.
func TestAlike(t *testing.T) {
	a, b := t.TempDir(), t.TempDir()
	require.True(t, alike(a, b))
	require.False(t, alike(a, "/proc"), "another file system")
	require.False(t, alike(a, filepath.Join(b, "gone")))
	require.NoError(t, os.Chmod(b, 0o755|os.ModeSetgid))
	require.False(t, alike(a, b), "one gives its group away")
	require.NoError(t, os.Chmod(a, 0o755|os.ModeSetgid))
	require.True(t, alike(a, b))
	// Version 2; user, group, mask, others, as include/uapi/linux/posix_acl_xattr.h has them.
	acl := "\x02\x00\x00\x00" + "\x01\x00\x07\x00\xff\xff\xff\xff" + "\x04\x00\x05\x00\xff\xff\xff\xff" + "\x20\x00\x05\x00\xff\xff\xff\xff"
	if err := unix.Setxattr(a, "system.posix_acl_default", []byte(acl), 0); err != nil {
		t.Skip("no such rules here:", err)
	}
	require.False(t, alike(a, b), "one has a rule for what is made in it")
	require.NoError(t, unix.Setxattr(b, "system.posix_acl_default", []byte(acl), 0))
	require.True(t, alike(a, b))
}
