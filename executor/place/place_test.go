package place

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/cache/effect"
	"github.com/ufbuild/ufbuild/cache/jsonline/jsonlinetest"
	"github.com/ufbuild/ufbuild/cache/mem"
	"github.com/ufbuild/ufbuild/executor/source"
	"github.com/ufbuild/ufbuild/lang"
)

// stand is a campaign root with a placer.
type stand struct {
	t     testing.TB
	root  string
	cas   *mem.Store
	files *source.Files
	p     *Placer
}

func newStand(t testing.TB) *stand {
	s := &stand{t: t, root: t.TempDir(), cas: mem.New("")}
	s.reopen()
	return s
}

// reopen does what the next build does.
func (s *stand) reopen() {
	if s.p != nil {
		require.NoError(s.t, s.p.Close())
		require.NoError(s.t, s.files.Save())
	}
	s.files = source.Open(s.root, filepath.Join(s.root, ".ufbuild", "stat"))
	s.p = Open(s.root, "out", s.files, s.cas)
	s.t.Cleanup(func() { s.p.Close(); s.files.Close() })
}

func (s *stand) put(text string) digest.Digest {
	d, err := cache.PutBytes(s.cas, []byte(text))
	require.NoError(s.t, err)
	return d
}

func (s *stand) file(name, text string, mode uint32) cache.Output {
	return cache.Output{Name: name, Exists: true, Digest: s.put(text), Mode: mode}
}

func (s *stand) tree(name string, entries ...cache.Entry) cache.Output {
	text, err := cache.Tree{Entries: entries}.Encode()
	require.NoError(s.t, err)
	return cache.Output{Name: name, Exists: true, Tree: true, Digest: s.put(string(text))}
}

func (s *stand) entry(path, text string, mode uint32) cache.Entry {
	return cache.Entry{Path: path, Kind: cache.File, Mode: mode, Digest: s.put(text)}
}

func (s *stand) write(path, text string) {
	at := filepath.Join(s.root, path)
	require.NoError(s.t, os.MkdirAll(filepath.Dir(at), 0o755))
	require.NoError(s.t, os.WriteFile(at, []byte(text), 0o644))
}

// list returns everything below a directory of the root: "path=text", "path->target", "path/".
func (s *stand) list(dir string) []string {
	top := filepath.Join(s.root, dir)
	out := []string{}
	err := filepath.Walk(top, func(at string, info os.FileInfo, err error) error {
		require.NoError(s.t, err)
		rel, _ := filepath.Rel(top, at)
		switch {
		case rel == "." || rel == stageDir:
		case info.Mode()&os.ModeSymlink != 0:
			target, _ := os.Readlink(at)
			out = append(out, rel+"->"+target)
		case info.IsDir():
			if entries, _ := os.ReadDir(at); len(entries) == 0 {
				out = append(out, rel+"/")
			}
		default:
			b, err := os.ReadFile(at)
			require.NoError(s.t, err)
			out = append(out, rel+"="+string(b))
		}
		return nil
	})
	require.NoError(s.t, err)
	return out
}

func (s *stand) check(want State, addr lang.Address, outs []cache.Output, specs []OutPath, differ ...string) {
	s.t.Helper()
	got, paths := s.p.Check(addr, outs, specs)
	require.Equal(s.t, want, got)
	require.Equal(s.t, differ, paths)
}

var (
	taskA = lang.Address{Task: "a"}
	itemX = lang.Address{Task: "items", Key: "x.y", Looped: true, Loop: 3}
)

func TestModesAreThoseOfTheOutputsUnderAnyUmask(t *testing.T) {
	old := unix.Umask(0o027) // of this process; no test here runs beside another
	t.Cleanup(func() { unix.Umask(old) })
	s := newStand(t)
	var outs []cache.Output
	var specs []OutPath
	modes := map[string]uint32{"all": 0o777, "plain": 0o644, "mine": 0o600, "read": 0o444, "closed": 0o000}
	for name, mode := range modes {
		outs, specs = append(outs, s.file(name, name, mode)), append(specs, OutPath{name, name})
	}
	_, err := s.p.Put(taskA, outs, specs)
	require.NoError(t, err)
	s.check(InPlace, taskA, outs, specs)
	for name, mode := range modes {
		info, err := os.Stat(filepath.Join(s.root, "out", "a", name))
		require.NoError(t, err)
		require.Equal(t, os.FileMode(mode|0o400), info.Mode(), name)
	}
}

func TestRecordIsSpelledLikeEncodingJSON(t *testing.T) {
	r := putRecord{Instance: "t<é>", Outs: []cache.Output{{Name: "o", Exists: true, Tree: true, Digest: digest.Of(nil), Mode: 0o644}}, Specs: []OutPath{{"o", "p"}}}
	same := func() {
		t.Helper()
		want, err := json.Marshal(r)
		require.NoError(t, err)
		require.Equal(t, string(want), string(r.appendTo(nil)))
	}
	jsonlinetest.Each(t, &r, same)
	r.Outs, r.Specs = []cache.Output{}, []OutPath{}
	same()
}

func TestPutAndCheck(t *testing.T) {
	s := newStand(t)
	outs := []cache.Output{s.file("o", "one", 0o644), s.file("run", "#!", 0o755), {Name: "none"},
		s.tree("t", s.entry("src/f", "f", 0o600), s.entry("sub/o", "one", 0o644), cache.Entry{Path: "src/l", Kind: cache.Link, Target: "f"},
			cache.Entry{Path: "src/empty", Kind: cache.Dir, Mode: 0o555})}
	specs := []OutPath{{"o", "sub/o"}, {"run", "run"}, {"none", "none"}, {"t", ""}}
	for _, addr := range []lang.Address{taskA, itemX} {
		base := "out/" + addr.String() + "/"
		s.check(Missing, addr, outs, specs, base+"run", base+"src/empty", base+"src/f", base+"src/l", base+"sub/o")
		report, err := s.p.Put(addr, outs, specs)
		require.NoError(t, err)
		require.Empty(t, report.Moved)
		require.Equal(t, []string{"run=#!", "src/empty/", "src/f=f", "src/l->f", "sub/o=one"}, s.list(base))
		s.check(InPlace, addr, outs, specs)

		at := func(p string) string { return filepath.Join(s.root, base, p) }
		require.NoError(t, os.Remove(at("run")))
		s.check(Missing, addr, outs, specs, base+"run")
		require.NoError(t, os.Chmod(at("src/f"), 0o644))
		s.check(Edited, addr, outs, specs, base+"run", base+"src/f")
		s.write(base+"sub/o", "two")
		require.NoError(t, os.Remove(at("src/l")))
		require.NoError(t, os.Symlink("empty", at("src/l")))
		s.check(Edited, addr, outs, specs, base+"run", base+"src/f", base+"src/l", base+"sub/o")
		report, err = s.p.Put(addr, outs, specs)
		require.NoError(t, err)
		require.Len(t, report.Moved, 2, report.Moved)
		s.check(InPlace, addr, outs, specs)
	}
	require.NoError(t, os.RemoveAll(filepath.Join(s.root, "out")))
	s.reopen()
	_, err := s.p.Put(taskA, outs, specs)
	require.NoError(t, err)
	tick()
	s.reopen()
	s.check(InPlace, taskA, outs, specs)
	require.Zero(t, s.files.Hashed(), "what was put is known")
}

// tick waits until the clock that stamps files has passed this moment.
func tick() {
	var ts unix.Timespec
	for now := time.Now().UnixNano(); ts.Nano() <= now; runtime.Gosched() {
		unix.ClockGettime(unix.CLOCK_REALTIME_COARSE, &ts)
	}
}

func TestPutIsTheWholeSet(t *testing.T) {
	s := newStand(t)
	first := []cache.Output{s.tree("t", s.entry("db", "1", 0o644), s.entry("db-wal", "w", 0o644), s.entry("d/old", "o", 0o444))}
	second := []cache.Output{s.tree("t", s.entry("db", "2", 0o644))}
	specs := []OutPath{{"t", ""}}
	for i := range 3 {
		_, err := s.p.Put(taskA, first, specs)
		require.NoError(t, err)
		if i == 1 {
			s.reopen()
		}
		report, err := s.p.Put(taskA, second, specs)
		require.NoError(t, err)
		require.Empty(t, report.Moved)
		require.Equal(t, []string{"db=2"}, s.list("out/a"))
	}
	require.NoDirExists(t, filepath.Join(s.root, quarantineDir))
}

func TestNoOutputsNoDirectory(t *testing.T) {
	s := newStand(t)
	none := []cache.Output{{Name: "o"}}
	specs := []OutPath{{"o", "o"}}
	_, err := s.p.Put(taskA, none, specs)
	require.NoError(t, err)
	require.NoDirExists(t, filepath.Join(s.root, "out"))
	_, err = s.p.Put(taskA, []cache.Output{s.file("o", "1", 0o644)}, specs)
	require.NoError(t, err)
	s.write("out/a/mine", "m")
	report, err := s.p.Put(taskA, none, specs)
	require.NoError(t, err)
	require.Len(t, report.Moved, 1)
	require.NoDirExists(t, filepath.Join(s.root, "out/a"))
}

func TestForeignFilesAreMoved(t *testing.T) {
	for _, forget := range []bool{false, true} {
		s := newStand(t)
		outs, specs := []cache.Output{s.file("o", "1", 0o644)}, []OutPath{{"o", "o"}}
		_, err := s.p.Put(taskA, outs, specs)
		require.NoError(t, err)
		s.write("out/a/notes.md", "mine")
		s.write("out/a/d/deep", "mine too")
		s.write("out/a/o", "edited")
		require.NoError(t, os.Symlink("o", filepath.Join(s.root, "out/a/l")))
		s.check(Edited, taskA, outs, specs, "out/a/o")
		s.reopen()
		if forget {
			require.NoError(t, os.Remove(filepath.Join(s.root, ".ufbuild/placed")))
		}
		report, err := s.p.Put(taskA, outs, specs)
		require.NoError(t, err)
		require.Len(t, report.Moved, 4)
		require.Contains(t, strings.Join(report.Moved, "\n"), "moved out/a/notes.md, which is not what was put there, to .ufbuild/quarantine/1/out/a/notes.md")
		require.Equal(t, []string{"o=1"}, s.list("out/a"))
		require.Equal(t, []string{"1/out/a/d/deep=mine too", "1/out/a/l->o", "1/out/a/notes.md=mine", "1/out/a/o=edited"}, s.list(quarantineDir))
		s.write("out/a/notes.md", "again")
		_, err = s.p.Put(taskA, []cache.Output{s.file("o", "2", 0o644)}, specs)
		require.NoError(t, err)
		require.Contains(t, s.list(quarantineDir), "2/out/a/notes.md=again")
	}
}

func TestRejectedLieBeside(t *testing.T) {
	s := newStand(t)
	specs := []OutPath{{"o", "o"}}
	good := []cache.Output{s.file("o", "good", 0o644)}
	_, err := s.p.Put(itemX, good, specs)
	require.NoError(t, err)
	for _, text := range []string{"bad", "worse"} {
		rejected(t, s, itemX, text)
		require.Equal(t, []string{"o=" + text}, s.list("out/.rejected/items/x.y#3"))
	}
	s.check(InPlace, itemX, good, specs)
	// In a later build, too, what was rejected before is nothing that somebody else put there; what somebody edited is.
	s.reopen()
	require.Empty(t, rejected(t, s, itemX, "again"))
	require.NoDirExists(t, filepath.Join(s.root, quarantineDir))
	s.write("out/.rejected/items/x.y#3/o", "edited")
	require.Len(t, rejected(t, s, itemX, "once more"), 1)
	require.Equal(t, []string{"1/out/.rejected/items/x.y#3/o=edited"}, s.list(quarantineDir))
	s.write("out/.rejected/items/x.y#3/notes", "mine")
	s.reopen()
	report, err := s.p.Put(itemX, good, specs)
	require.NoError(t, err)
	require.Len(t, report.Moved, 1)
	require.Equal(t, []string{".rejected/items/", "items/x.y#3/o=good"}, s.list("out"))
	require.Equal(t, []string{"1/out/.rejected/items/x.y#3/o=edited", "2/out/.rejected/items/x.y#3/notes=mine"}, s.list(quarantineDir))
}

// rejected shows an output that a contract rejected, and returns what was moved out of its way.
func rejected(t *testing.T, s *stand, addr lang.Address, text string) []string {
	t.Helper()
	report, err := s.p.PutRejected(addr, []cache.Output{s.file("o", text, 0o644)}, []OutPath{{"o", "o"}})
	require.NoError(t, err)
	return report.Moved
}

// TestNothingStaysOpen: a directory that cannot be made, below others that were, leaves none of them open.
func TestNothingStaysOpen(t *testing.T) {
	s := newStand(t)
	outs, specs := []cache.Output{s.file("o", "bad", 0o644)}, []OutPath{{"o", "o"}}
	_, err := s.p.Put(taskA, outs, specs)
	require.NoError(t, err)
	open := func() (ours []string) {
		for _, e := range listDir(t, "/proc/self/fd") {
			if to, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && strings.HasPrefix(to, s.root) {
				ours = append(ours, to)
			}
		}
		return ours
	}
	before := open()
	effect.Intercept(func(e effect.Effect) *effect.Fault {
		if e.Op == effect.OpMkdir && e.Path == itemX.Task {
			return &effect.Fault{Err: unix.ENOSPC}
		}
		return nil
	})
	defer effect.Intercept(nil)
	_, err = s.p.PutRejected(itemX, outs, specs)
	require.ErrorIs(t, err, unix.ENOSPC)
	require.ElementsMatch(t, before, open())
}

func TestInTheWay(t *testing.T) {
	outs := func(s *stand) ([]cache.Output, []OutPath) {
		return []cache.Output{s.file("o", "1", 0o644)}, []OutPath{{"o", "d/o"}}
	}
	for name, c := range map[string]struct {
		addr lang.Address
		make func(s *stand)
		want string
	}{
		"file at the instance":   {taskA, func(s *stand) { s.write("out/a", "f") }, "out/a is a file where a directory has to be"},
		"link at the instance":   {taskA, func(s *stand) { s.write("else/f", ""); link(s, "../else", "out/a") }, "out/a is a link where a directory has to be"},
		"file above":             {itemX, func(s *stand) { s.write("out/items", "f") }, "out/items is a file or link where a directory has to be"},
		"link above":             {itemX, func(s *stand) { s.write("else/f", ""); link(s, "../else", "out/items") }, "out/items is a file or link where a directory has to be"},
		"file at out":            {taskA, func(s *stand) { s.write("out", "f") }, "out has to be a directory"},
		"out is a dangling link": {taskA, func(s *stand) { link(s, "nowhere", "out") }, "out has to be a directory"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStand(t)
			c.make(s)
			o, specs := outs(s)
			_, err := s.p.Put(c.addr, o, specs)
			require.ErrorContains(t, err, c.want)
			state, _ := s.p.Check(c.addr, o, specs)
			require.NotEqual(t, InPlace, state)
			if s.p.dir != nil {
				require.Empty(t, listDir(t, filepath.Join(s.p.dir.Name(), stageDir)))
			}
		})
	}
}

func listDir(t *testing.T, dir string) []os.DirEntry {
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	return entries
}

func link(s *stand, target, path string) {
	at := filepath.Join(s.root, path)
	require.NoError(s.t, os.MkdirAll(filepath.Dir(at), 0o755))
	require.NoError(s.t, os.Symlink(target, at))
}

func TestOutOnAnotherDisk(t *testing.T) {
	s := newStand(t)
	disk := t.TempDir()
	link(s, disk, "out")
	outs, specs := []cache.Output{s.file("o", "1", 0o644)}, []OutPath{{"o", "o"}}
	_, err := s.p.Put(taskA, outs, specs)
	require.NoError(t, err)
	require.FileExists(t, filepath.Join(disk, "a/o"))
	s.check(InPlace, taskA, outs, specs)
	s.reopen()
	s.check(InPlace, taskA, outs, specs)
	dead, err := s.p.Dead(nil)
	require.NoError(t, err)
	require.Equal(t, []string{"out/a/o"}, dead)
	require.NoError(t, s.p.Clean(dead))
	require.NoFileExists(t, filepath.Join(disk, "a/o"))
}

func TestDamagedBlobLeavesTheOldSet(t *testing.T) {
	s := newStand(t)
	specs := []OutPath{{"o", "o"}}
	_, err := s.p.Put(taskA, []cache.Output{s.file("o", "good", 0o644)}, specs)
	require.NoError(t, err)
	gone := cache.Output{Name: "o", Exists: true, Digest: digest.Of([]byte("never stored")), Mode: 0o644}
	_, err = s.p.Put(taskA, []cache.Output{gone}, specs)
	require.True(t, cache.IsMissing(err), err)
	require.Equal(t, []string{"o=good"}, s.list("out/a"))
	require.Empty(t, listDir(t, filepath.Join(s.root, "out", stageDir)))
}

func TestCrashLeavesNothingHalfMade(t *testing.T) {
	s := newStand(t)
	s.write("out/.stage/7/half", "x")
	outs, specs := []cache.Output{s.file("o", "1", 0o644)}, []OutPath{{"o", "o"}}
	_, err := s.p.Put(taskA, outs, specs)
	require.NoError(t, err)
	require.Equal(t, []string{"a/o=1"}, s.list("out"))
	require.NoError(t, os.WriteFile(filepath.Join(s.root, ".ufbuild/placed"), []byte(`{"instance":"a","ou`), 0o644))
	s.reopen()
	_, err = s.p.Put(taskA, []cache.Output{s.file("o", "2", 0o644)}, specs)
	require.NoError(t, err)
	require.Equal(t, []string{"a/o=2"}, s.list("out"))
}

func TestWithoutExchange(t *testing.T) {
	s := newStand(t)
	s.p.plain.Store(true)
	specs := []OutPath{{"o", "o"}}
	for _, text := range []string{"1", "2", "3"} {
		_, err := s.p.Put(taskA, []cache.Output{s.file("o", text, 0o644)}, specs)
		require.NoError(t, err)
		require.Equal(t, []string{"a/o=" + text}, s.list("out"))
	}
}

func TestDeadAndClean(t *testing.T) {
	s := newStand(t)
	specs := []OutPath{{"o", "d/o"}}
	for _, a := range []lang.Address{taskA, itemX, {Task: "gone"}, {Task: "items", Key: "gone"}} {
		_, err := s.p.Put(a, []cache.Output{s.file("o", a.String(), 0o644)}, specs)
		require.NoError(t, err)
	}
	for _, a := range []lang.Address{{Task: "rejected"}, taskA} {
		_, err := s.p.PutRejected(a, []cache.Output{s.file("o", "r", 0o644)}, specs)
		require.NoError(t, err)
	}
	s.write("out/gone/mine", "m")
	s.write("out/own/file", "f")
	s.write("src", "s")
	s.reopen()
	dead, err := s.p.Dead([]lang.Address{taskA, itemX})
	require.NoError(t, err)
	require.Equal(t, []string{"out/.rejected/rejected/d/o", "out/gone/d/o", "out/items/gone/d/o"}, dead)
	for _, bad := range []string{"src", "out", "out/../src", "../x", "outside/x"} {
		require.Error(t, s.p.Clean([]string{"out/gone/d/o", bad}))
	}
	require.NoError(t, s.p.Clean(append(dead, "out/never")))
	require.Equal(t, []string{".rejected/a/d/o=r", "a/d/o=a", "gone/mine=m", "items/x.y#3/d/o=items/x.y#3", "own/file=f"}, s.list("out"))
	dead, err = s.p.Dead([]lang.Address{taskA, itemX})
	require.NoError(t, err)
	require.Empty(t, dead)
}

func BenchmarkPut(b *testing.B) {
	s := newStand(b)
	outs, specs := []cache.Output{s.file("o", strings.Repeat("x", 1024), 0o644)}, []OutPath{{"o", "o"}}
	b.Run("new", func(b *testing.B) {
		i := 0
		for b.Loop() {
			i++
			_, err := s.p.Put(lang.Address{Task: "n", Loop: i, Looped: true}, outs, specs)
			require.NoError(b, err)
		}
	})
	b.Run("again", func(b *testing.B) {
		for b.Loop() {
			_, err := s.p.Put(taskA, outs, specs)
			require.NoError(b, err)
		}
	})
	s.reopen()
	b.Run("check", func(b *testing.B) {
		for b.Loop() {
			state, _ := s.p.Check(taskA, outs, specs)
			require.Equal(b, InPlace, state)
		}
	})
}

// TestStrangeRecord wants what lies in the place of the record of what was put to be no record, and to give way to one.
func TestStrangeRecord(t *testing.T) {
	for name, lay := range map[string]func(at string) error{
		"pipe":          func(at string) error { return unix.Mkfifo(at, 0o600) },
		"directory":     func(at string) error { return os.Mkdir(at, 0o700) },
		"endless link":  func(at string) error { return os.Symlink("/dev/zero", at) },
		"dangling link": func(at string) error { return os.Symlink("nowhere/x", at) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newStand(t)
			outs, specs := []cache.Output{s.file("f", "text", 0o644)}, []OutPath{{Name: "f", Path: "f"}}
			at := filepath.Join(s.root, ".ufbuild/placed")
			require.NoError(t, os.MkdirAll(filepath.Dir(at), 0o755))
			for _, before := range []string{"nothing", "edited"} {
				require.NoError(t, os.RemoveAll(at))
				require.NoError(t, lay(at))
				s.reopen()
				if before == "edited" {
					s.write("out/a/f", "edited")
				}
				_, err := s.p.Put(taskA, outs, specs)
				require.NoError(t, err, before)
				s.reopen()
				s.check(InPlace, taskA, outs, specs)
				info, err := os.Lstat(at)
				require.NoError(t, err)
				require.True(t, info.Mode().IsRegular())
			}
		})
	}
}
