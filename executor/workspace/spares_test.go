package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/cache/mem"
	"github.com/ufbuild/ufbuild/executor/source"
)

// dump says of everything below dir what it is.
func dump(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text := info.Mode().String()
		if info.Mode().IsRegular() {
			b, err := os.ReadFile(at)
			if err != nil {
				return err
			}
			text += " " + string(b)
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			to, _ := os.Readlink(at)
			text += " " + to
		}
		rel, err := filepath.Rel(dir, at)
		out[rel] = text
		return err
	}))
	return out
}

// begin does what is done before the program of an attempt starts, which prints something.
func begin(t testing.TB, attempt string, laid *Laid, words string) {
	log, err := OpenLog(attempt, laid)
	require.NoError(t, err)
	flags, err := unix.FcntlInt(log.Fd(), unix.F_GETFL, 0)
	require.NoError(t, err)
	require.Equal(t, unix.O_WRONLY|unix.O_APPEND, flags&^0o100000, "a program that writes to it sees nothing else")
	_, err = log.WriteString(words)
	require.NoError(t, errors.Join(err, log.Close()))
	if !laid.HasTmp() {
		require.NoError(t, os.Mkdir(filepath.Join(attempt, Tmp), 0o700))
	}
}

// spareGround makes random specs over a few names, with sources in root.
type spareGround struct {
	t    *testing.T
	r    *rand.Rand
	root string
	cas  *mem.Store
}

func (g *spareGround) spec() Spec {
	s := Spec{Root: g.root}
	for i := range g.r.IntN(6) {
		p := fmt.Sprintf("%s/%d", []string{"src", "lib/deep", "lib"}[g.r.IntN(3)], g.r.IntN(4))
		if i == 0 {
			p = "top" + strconv.Itoa(g.r.IntN(2))
		}
		b, err := os.ReadFile(filepath.Join(g.root, p))
		if err != nil {
			b = []byte(fmt.Sprintf("%s %0*d", p, g.r.IntN(60)+1, 0))
			write(g.t, filepath.Join(g.root, p), string(b))
		}
		s.Sources = append(s.Sources, source.File{Path: p, Digest: digest.Of(b), Mode: []uint32{0o644, 0o755}[g.r.IntN(2)]})
	}
	for range g.r.IntN(4) {
		name := fmt.Sprintf("m%d", g.r.IntN(4))
		s.Mounts = append(s.Mounts, Mount{Path: ".uf/in/" + name + "/o", Digest: put(g.t, g.cas, name+fmt.Sprint(g.r.IntN(1000))), Mode: 0o644})
	}
	return s
}

// hurt does to a workspace what tasks do, and worse. It returns what has to be undone.
func (g *spareGround) hurt(attempt string) (undo func()) {
	undo = func() {}
	ws := filepath.Join(attempt, Dir)
	for range g.r.IntN(4) {
		var all []string
		for p := range dump(g.t, ws) {
			all = append(all, filepath.Join(ws, p))
		}
		slices.Sort(all)
		at := all[g.r.IntN(len(all))]
		info, err := os.Lstat(at)
		require.NoError(g.t, err)
		is, plain := info.IsDir(), info.Mode().IsRegular()
		switch n := g.r.IntN(12); {
		case n == 0 && plain:
			_ = os.WriteFile(at, []byte("other"), 0o644)
		case n == 1:
			_ = os.Chmod(at, 0o700)
		case n == 2 && is:
			_ = os.WriteFile(filepath.Join(at, "extra"), []byte("x"), 0o644)
		case n == 3 && at != ws:
			_ = os.RemoveAll(at)
		case n == 4 && at != ws:
			_ = os.Rename(at, at+"-moved")
		case n == 5 && at != ws:
			_ = os.RemoveAll(at)
			_ = os.Symlink(g.root, at)
		case n == 6 && plain:
			_ = os.Link(at, filepath.Join(g.root, fmt.Sprintf("hard%d", g.r.Int())))
		case n == 7 && is:
			_ = syscall.Mkfifo(filepath.Join(at, "pipe"), 0o600)
		case n == 8:
			_ = os.WriteFile(filepath.Join(attempt, Tmp, "t"), nil, 0o600)
		case n == 9:
			_ = os.WriteFile(filepath.Join(attempt, "beside"), nil, 0o600)
		case n == 10 && plain:
			if f, err := os.OpenFile(at, os.O_RDWR, 0); err == nil {
				before := undo
				undo = func() {
					_, _ = f.WriteAt([]byte("late"), 0)
					require.NoError(g.t, f.Close())
					before()
				}
			}
		}
	}
	return undo
}

// TestSparesAreAsNew lays random workspaces into directories that others were in, whatever was done to them there, and wants
// what a new directory would hold. Who kept a file of the old one open writes into nothing that counts.
func TestSparesAreAsNew(t *testing.T) {
	taken := 0
	for seed := range uint64(60) {
		g := &spareGround{t: t, r: rand.New(rand.NewPCG(seed, 0)), root: t.TempDir(), cas: mem.New("")}
		var spares Spares
		spares.humble.Store(seed%2 == 0)
		if seed%3 == 0 { // as where stamps tell less
			spares.asked.Do(func() {})
		}
		work := t.TempDir()
		undo := func() {}
		for n := range 6 {
			attempt, fresh := filepath.Join(work, strconv.Itoa(n)), filepath.Join(work, "fresh"+strconv.Itoa(n))
			spec := g.spec()
			laid, err := spares.Materialize(attempt, g.cas, spec)
			require.NoError(t, err, "seed %d", seed)
			undo()
			_, err = Materialize(fresh, g.cas, spec)
			require.NoError(t, err)
			require.Equal(t, dump(t, filepath.Join(fresh, Dir)), dump(t, filepath.Join(attempt, Dir)), "seed %d, attempt %d", seed, n)
			require.NoError(t, Remove(fresh))
			begin(t, attempt, laid, "words")
			entries, err := os.ReadDir(filepath.Join(attempt, Tmp))
			require.NoError(t, err)
			require.Empty(t, entries)
			write(t, filepath.Join(attempt, Dir, "made"), "m")
			undo = g.hurt(attempt)
			if spares.Offer(attempt, laid) {
				taken++
			} else {
				require.NoError(t, Remove(attempt))
			}
		}
		undo()
		spares.Close()
		entries, err := os.ReadDir(work)
		require.NoError(t, err)
		require.Empty(t, entries, "seed %d", seed)
	}
	require.Greater(t, taken, 60)
}

// TestSparesSpareInodes wants what nobody touched to be used again, and nothing else.
func TestSparesSpareInodes(t *testing.T) {
	root, cas := t.TempDir(), mem.New("")
	write(t, filepath.Join(root, "src/a"), "aa")
	spec := Spec{Root: root, Sources: []source.File{{Path: "src/a", Digest: digest.Of([]byte("aa")), Mode: 0o644}},
		Mounts: []Mount{{Path: ".uf/in/x/o", Digest: put(t, cas, "long enough"), Mode: 0o644}}}
	next := Spec{Root: root, Sources: spec.Sources, Mounts: []Mount{{Path: ".uf/in/y/o", Digest: put(t, cas, "short"), Mode: 0o755}}}
	ino := func(at ...string) uint64 {
		var st unix.Stat_t
		require.NoError(t, unix.Lstat(filepath.Join(at...), &st))
		return st.Ino
	}
	type testCase struct {
		do             func(ws string) (undo func())
		source, mounts bool // used again
	}
	cases := map[string]testCase{
		"nothing": {func(string) func() { return nil }, true, true},
		"the source is open": {func(ws string) func() {
			f, err := os.Open(filepath.Join(ws, "src/a"))
			require.NoError(t, err)
			return func() { require.NoError(t, f.Close()) }
		}, false, true},
		"the source has another name": {func(ws string) func() {
			require.NoError(t, os.Link(filepath.Join(ws, "src/a"), filepath.Join(root, "hard")))
			return func() { require.NoError(t, os.Remove(filepath.Join(root, "hard"))) }
		}, false, true},
		"the source was written": {func(ws string) func() {
			require.NoError(t, os.WriteFile(filepath.Join(ws, "src/a"), []byte("ab"), 0o644))
			return nil
		}, false, true},
		"beside the source is a file": {func(ws string) func() {
			write(t, filepath.Join(ws, "src/b"), "b")
			return nil
		}, true, true},
		"the mounts were opened to all": {func(ws string) func() {
			require.NoError(t, os.Chmod(filepath.Join(ws, ".uf/in"), 0o777))
			return nil
		}, true, false},
	}
	run := func(name string, tc testCase, exact, humble bool) {
		t.Run(fmt.Sprintf("%s, exact %v, humble %v", name, exact, humble), func(t *testing.T) {
			var spares Spares
			defer spares.Close()
			spares.humble.Store(humble)
			if !exact {
				spares.asked.Do(func() {})
			}
			work := t.TempDir()
			one, two := filepath.Join(work, "1"), filepath.Join(work, "2")
			laid, err := spares.Materialize(one, cas, spec)
			require.NoError(t, err)
			a, src, o, ws := ino(one, Dir, "src/a"), ino(one, Dir, "src"), ino(one, Dir, ".uf/in/x/o"), ino(one, Dir)
			for _, p := range []string{".", "src", "src/a", ".uf/in/x/o"} { // so that no number is given out twice
				fd, err := unix.Open(filepath.Join(one, Dir, p), unix.O_PATH|unix.O_CLOEXEC, 0)
				require.NoError(t, err)
				defer unix.Close(fd)
			}
			undo := tc.do(filepath.Join(one, Dir))
			require.True(t, spares.Offer(one, laid))
			_, err = spares.Materialize(two, cas, next)
			require.NoError(t, err)
			if undo != nil {
				undo()
			}
			require.NotEqual(t, ws, ino(two, Dir), "directories are always new")
			require.NotEqual(t, src, ino(two, Dir, "src"))
			require.Equal(t, tc.source, a == ino(two, Dir, "src/a"))
			require.Equal(t, tc.mounts, o == ino(two, Dir, ".uf/in/y/o"))
			b, err := os.ReadFile(filepath.Join(two, Dir, ".uf/in/y/o"))
			require.NoError(t, err)
			require.Equal(t, "short", string(b))
			info, err := os.Stat(filepath.Join(two, Dir, ".uf/in/y/o"))
			require.NoError(t, err)
			require.Equal(t, fs.FileMode(0o555), info.Mode())
			require.NoError(t, Remove(two))
		})
	}
	for name, tc := range cases {
		run(name, tc, true, false)
		run(name, tc, false, false)
		run(name, tc, true, true)
	}
}

// TestSparesGiveAwayNoDirectory wants who kept a directory of the old attempt open, as a container does that mounts it, to have
// what is gone: nothing it does is in the new one.
func TestSparesGiveAwayNoDirectory(t *testing.T) {
	root, cas := t.TempDir(), mem.New("")
	write(t, filepath.Join(root, "src/deep/a"), "aa")
	spec := Spec{Root: root, Sources: []source.File{{Path: "src/deep/a", Digest: digest.Of([]byte("aa")), Mode: 0o644}}}
	var spares Spares
	defer spares.Close()
	work := t.TempDir()
	one, two := filepath.Join(work, "1"), filepath.Join(work, "2")
	laid, err := spares.Materialize(one, cas, spec)
	require.NoError(t, err)
	var kept []int
	for _, p := range []string{".", "src", "src/deep"} {
		fd, err := unix.Open(filepath.Join(one, Dir, p), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		require.NoError(t, err)
		defer unix.Close(fd)
		kept = append(kept, fd)
	}
	require.True(t, spares.Offer(one, laid))
	_, err = spares.Materialize(two, cas, spec)
	require.NoError(t, err)
	want := dump(t, filepath.Join(two, Dir))
	for _, fd := range kept {
		require.ErrorIs(t, unix.Mkdirat(fd, "strange", 0o755), unix.ENOENT)
	}
	require.Equal(t, want, dump(t, filepath.Join(two, Dir)))
}

// TestSparesStayInTheirPlace wants the directory of an attempt left alone that is not in its place any more, and what is there to go.
func TestSparesStayInTheirPlace(t *testing.T) {
	cas := mem.New("")
	for name, do := range map[string]func(was, away string) error{
		"gone":    func(was, away string) error { return os.Rename(was, away) },
		"a link":  func(was, away string) error { return errors.Join(os.Rename(was, away), os.Symlink(away, was)) },
		"another": func(was, away string) error { return errors.Join(os.Rename(was, away), os.MkdirAll(was+"/ws", 0o700)) },
	} {
		var spares Spares
		work := t.TempDir()
		was, now, away := filepath.Join(work, "0"), filepath.Join(work, "1"), filepath.Join(t.TempDir(), "away")
		laid, err := spares.Materialize(was, cas, Spec{})
		require.NoError(t, err)
		begin(t, was, laid, "")
		write(t, filepath.Join(was, Dir, "mine"), "mine")
		require.NoError(t, do(was, away))
		taken, err := Capture(t.Context(), was, cas, laid, []Output{{Name: "o", Path: "mine"}}, nil)
		if name == "gone" {
			require.Error(t, err)
		} else {
			require.NoError(t, err)
			require.Equal(t, name == "a link", taken.Outputs[0].Exists, "%s: what is there counts", name)
		}
		require.True(t, spares.Offer(was, laid))
		laid, err = spares.Materialize(now, cas, Spec{})
		require.NoError(t, err)
		laid.Close()
		require.FileExists(t, filepath.Join(away, Dir, "mine"), name)
		entries, err := os.ReadDir(work)
		require.NoError(t, err)
		require.Len(t, entries, 1, name)
		require.NoFileExists(t, filepath.Join(now, Dir, "mine"), name)
		spares.Close()
	}
}

// TestSparesUseAnEmptyLogAgain wants the log of an attempt that printed nothing to be the next one's, unless somebody touched it or has it
// open.
func TestSparesUseAnEmptyLogAgain(t *testing.T) {
	root, cas := t.TempDir(), mem.New("")
	spec := Spec{Root: root, Sources: []source.File{src(t, root, "src/a", "aa", 0o644)}}
	var held []*os.File
	for name, tc := range map[string]struct {
		do   func(log string) error
		kept bool
	}{
		"nothing": {func(string) error { return nil }, true},
		"it was read": {func(log string) error {
			_, err := os.ReadFile(log)
			return err
		}, true},
		"it was written and cut": {func(log string) error {
			return errors.Join(os.WriteFile(log, []byte("x"), 0), os.Truncate(log, 0))
		}, false},
		"its mode": {func(log string) error { return errors.Join(os.Chmod(log, 0o644), os.Chmod(log, 0o600)) }, false},
		"it is open": {func(log string) error {
			f, err := os.Open(log)
			held = append(held, f)
			return err
		}, false},
		"another":        {func(log string) error { return errors.Join(os.Remove(log), os.WriteFile(log, nil, 0o600)) }, false},
		"another name":   {func(log string) error { return os.Link(log, filepath.Join(root, "hard")) }, false},
		"a link":         {func(log string) error { return errors.Join(os.Remove(log), os.Symlink("ws/made", log)) }, false},
		"gone":           {os.Remove, false},
		"there and back": {func(log string) error { return errors.Join(os.Rename(log, log+"2"), os.Rename(log+"2", log)) }, false},
	} {
		var spares Spares
		dir := t.TempDir()
		at := func(n int) string { return filepath.Join(dir, itoa(n)) }
		var before stamp // the number of a file's inode alone would not do: some file systems give it to the next one
		for n := range 4 {
			laid, err := spares.Materialize(at(n), cas, spec)
			require.NoError(t, err)
			if !spares.exact && n > 0 {
				t.Skip("the log is always made anew where stamps tell less")
			}
			begin(t, at(n), laid, "")
			s, err := stampAt(unix.AT_FDCWD, at(n)+"/"+Log)
			require.NoError(t, err)
			require.Equal(t, stamp{size: 0, mode: unix.S_IFREG | 0o600}, stamp{size: s.size, mode: s.mode})
			if n == 3 {
				require.Equal(t, tc.kept, s == before, name)
			} else if n > 1 {
				require.Equal(t, before, s)
			}
			before = s
			write(t, filepath.Join(at(n), Dir, "made"), "m")
			laid.KeepLog()
			if n == 2 {
				require.NoError(t, tc.do(at(n)+"/"+Log))
			}
			require.True(t, spares.Offer(at(n), laid))
		}
		spares.Close()
	}
	for _, f := range held {
		require.NoError(t, f.Close())
	}
}

// TestGuessesWithALogThatIsUsedAgain wants who finds the directory of a dead attempt to know what was laid there although its log is
// older, and to take all for left when names came or went since.
func TestGuessesWithALogThatIsUsedAgain(t *testing.T) {
	for name, tc := range map[string]struct {
		do    func(at string) error
		knows bool
	}{
		"the program made a file": {func(at string) error { return os.WriteFile(at+"/ws/made", nil, 0o644) }, true},
		"it printed":              {func(at string) error { return os.WriteFile(at+"/log", []byte("x"), 0) }, true},
		"it made a file beside":   {func(at string) error { return os.WriteFile(at+"/x", nil, 0o644) }, false},
	} {
		work := t.TempDir()
		old, at := filepath.Join(work, "old"), filepath.Join(work, "now")
		write(t, filepath.Join(old, Log), "")
		tick()
		write(t, filepath.Join(old, Dir, "laid"), "")
		tick()
		require.NoError(t, os.Mkdir(filepath.Join(old, worn), 0o700))
		require.NoError(t, os.Remove(filepath.Join(old, worn)))
		tick()
		require.NoError(t, os.Rename(old, at))
		tick()
		require.NoError(t, tc.do(at))
		laid, err := stampAt(unix.AT_FDCWD, at+"/ws/laid")
		require.NoError(t, err)
		l := guessLaid(at)
		require.Equal(t, tc.knows, laid.ctime < l.before, name)
		if made, err := stampAt(unix.AT_FDCWD, at+"/ws/made"); err == nil {
			require.GreaterOrEqual(t, made.ctime, l.before, name)
		}
	}
}

// TestSparesCloseWhatTheyOpen wants no descriptor of an attempt that became another one's, or was given up, to stay open.
func TestSparesCloseWhatTheyOpen(t *testing.T) {
	open := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		require.NoError(t, err)
		return len(entries)
	}
	cas, work := mem.New(""), t.TempDir()
	before := open()
	var spares Spares
	for n := range 20 {
		at := filepath.Join(work, itoa(n))
		laid, err := spares.Materialize(at, cas, Spec{})
		require.NoError(t, err)
		begin(t, at, laid, "")
		if n%5 == 4 {
			write(t, filepath.Join(at, "beside"), "")
		}
		if n%7 == 6 {
			laid.Close()
			require.False(t, spares.Offer(at, laid), "it is closed")
			continue
		}
		require.True(t, spares.Offer(at, laid))
	}
	spares.Close()
	require.Equal(t, before, open())
}

// TestSparesNoticeWhatIsSoon wants a change noticed that comes right after a workspace was laid and hides behind its times: within
// a tick of the clock that stamps files they are the same.
func TestSparesNoticeWhatIsSoon(t *testing.T) {
	cas := mem.New("")
	d := put(t, cas, "text")
	spec := Spec{Mounts: []Mount{{Path: ".uf/in/x/o", Digest: d, Mode: 0o644}}}
	for _, exact := range []bool{true, false} {
		var spares Spares
		if !exact {
			spares.asked.Do(func() {})
		}
		work := t.TempDir()
		laid, err := spares.Materialize(filepath.Join(work, "0"), cas, spec)
		require.NoError(t, err)
		for n := 1; n < 30; n++ {
			was, now := filepath.Join(work, itoa(n-1)), filepath.Join(work, itoa(n))
			dir := filepath.Join(was, Dir, ".uf/in/x")
			var st unix.Stat_t
			require.NoError(t, unix.Stat(dir, &st))
			require.NoError(t, os.Chmod(dir, 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(dir, "extra"), nil, 0o644))
			require.NoError(t, os.Chmod(dir, 0o555))
			require.NoError(t, unix.UtimesNanoAt(unix.AT_FDCWD, dir, []unix.Timespec{st.Atim, st.Mtim}, 0))
			require.True(t, spares.Offer(was, laid))
			laid, err = spares.Materialize(now, cas, spec)
			require.NoError(t, err)
			require.NoFileExists(t, filepath.Join(now, Dir, ".uf/in/x/extra"))
			require.NoDirExists(t, was)
		}
		require.NoError(t, Remove(filepath.Join(work, "29")))
		spares.Close()
	}
}

// TestSparesHaveACleanTmp wants the directory for temporary files to be used again when nobody used it, to be gone else, and what it is
// about to go with it.
func TestSparesHaveACleanTmp(t *testing.T) {
	cas := mem.New("")
	for name, tc := range map[string]struct {
		do   func(tmp string) error
		kept bool // the directory
	}{
		"nothing":  {func(string) error { return nil }, true},
		"a mode":   {func(tmp string) error { return os.Chmod(tmp, 0o777) }, false},
		"a link":   {func(tmp string) error { return errors.Join(os.Remove(tmp), os.Symlink("ws", tmp)) }, false},
		"no more":  {os.Remove, false},
		"a change": {func(tmp string) error { return os.Chtimes(tmp, time.Time{}, time.Unix(1, 0)) }, false},
	} {
		for _, exact := range []bool{true, false} {
			var spares Spares
			if !exact {
				spares.asked.Do(func() {})
			}
			work := t.TempDir()
			laid, err := spares.Materialize(filepath.Join(work, "0"), cas, Spec{})
			require.NoError(t, err)
			require.NoError(t, os.Mkdir(filepath.Join(work, "0", Tmp), 0o700))
			for n := 1; n < 4; n++ {
				was, now := filepath.Join(work, itoa(n-1)), filepath.Join(work, itoa(n))
				if n == 3 {
					require.NoError(t, tc.do(filepath.Join(was, Tmp)))
				}
				require.True(t, spares.Offer(was, laid))
				laid, err = spares.Materialize(now, cas, Spec{})
				require.NoError(t, err)
				require.NoDirExists(t, was, "%s: it became the other one", name)
				if tc.kept || n < 3 {
					info, err := os.Stat(filepath.Join(now, Tmp))
					require.NoError(t, err)
					require.Equal(t, fs.ModeDir|0o700, info.Mode())
				} else {
					_, err := os.Lstat(filepath.Join(now, Tmp))
					require.ErrorIs(t, err, fs.ErrNotExist, name)
				}
			}
			require.NoError(t, Remove(filepath.Join(work, "3")))
			spares.Close()
		}
	}
}

// TestSparesTakeUpLittleRoom wants what could be large to be removed at once, not to wait for the next attempt.
func TestSparesTakeUpLittleRoom(t *testing.T) {
	cas := mem.New("")
	for name, tc := range map[string]struct {
		do    func(attempt string) error
		taken bool
	}{
		"nothing": {func(string) error { return nil }, true},
		"a file that was temporary": {func(at string) error {
			return errors.Join(os.WriteFile(at+"/tmp/f", nil, 0o600), os.Chtimes(at+"/tmp", time.Time{}, time.Unix(1, 0)), os.Remove(at+"/tmp/f"))
		}, true},
		"a temporary file": {func(at string) error {
			return errors.Join(os.WriteFile(at+"/tmp/f", nil, 0o600), os.Chtimes(at+"/tmp", time.Time{}, time.Unix(1, 0)))
		}, false},
		"a small file": {func(at string) error { return os.WriteFile(at+"/ws/o", []byte("o"), 0o600) }, true},
		"a large file": {func(at string) error {
			return errors.Join(os.WriteFile(at+"/ws/o", nil, 0o600), os.Truncate(at+"/ws/o", maxSpareLeft+1))
		}, false},
	} {
		var spares Spares
		attempt := filepath.Join(t.TempDir(), "0")
		laid, err := spares.Materialize(attempt, cas, Spec{})
		require.NoError(t, err)
		require.NoError(t, os.Mkdir(filepath.Join(attempt, Tmp), 0o700))
		require.NoError(t, tc.do(attempt))
		_, err = Capture(t.Context(), attempt, cas, laid, nil, nil)
		require.NoError(t, err)
		require.Equal(t, tc.taken, spares.Offer(attempt, laid), name)
		spares.Close()
	}
}
