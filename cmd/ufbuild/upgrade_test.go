package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache/recordlog"
)

var writeRelease = flag.String("write-release", "", "write campaign and store as `VERSION` leaves them into testdata/release")

// releaseFiles are the campaign whose states are kept for each release: every kind of record is in them.
func releaseFiles() map[string]string {
	files := map[string]string{}
	for name, text := range pointFiles {
		files[name] = text
	}
	files["extra.campaign.hcl"] = `
contract "seen" {
  kind     = "text"
  approval = true
}
task "signed" {
  command = ["sh", "-c", "echo signed > s"]
  output "s" {
    path     = "s"
    contract = contract.seen
  }
}
task "edited" {
  command = ["sh", "-c", "echo edited > e"]
  output "e" { path = "e" }
}
`
	return files
}

// writeStateOf makes the archive of the present version: campaign and store after builds and decisions of every kind.
func writeStateOf(t *testing.T, version string) {
	h := newHome(t, releaseFiles())
	said, code := h.run("build")
	require.Equal(t, exitWaiting, code, said)
	h.must("approve", "signed", "--yes")
	h.must("build")
	h.must("retry", "part/one", "--yes", "--why", "thin")
	h.must("retry", "report", "--yes", "--no-build")
	h.must("undo")
	edited := strings.Replace(releaseFiles()["extra.campaign.hcl"], "echo edited", "echo  edited", 1)
	h.write(map[string]string{"extra.campaign.hcl": edited})
	h.must("accept", "edited", "--why", "a blank")
	h.must("pin", "grow", "--why", "it is quoted")
	h.must("build")
	var b bytes.Buffer
	zip := gzip.NewWriter(&b)
	out := tar.NewWriter(zip)
	base := filepath.Dir(h.dir)
	for _, name := range h.tree(base) {
		addToArchive(t, out, base, name)
	}
	require.NoError(t, errors.Join(out.Close(), zip.Close()))
	file := filepath.Join("testdata", "release", version+".tar.gz")
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(t, os.WriteFile(file, b.Bytes(), 0o644))
}

func addToArchive(t *testing.T, out *tar.Writer, base, name string) {
	info, err := os.Lstat(filepath.Join(base, name))
	require.NoError(t, err)
	if top, _, _ := strings.Cut(name, "/"); top != "campaign" && top != "store" || strings.HasSuffix(name, "/fresh") || strings.HasSuffix(name, "/stat") {
		return // the stamp and the stat cache are of inodes that are not there
	}
	link := ""
	if info.Mode()&fs.ModeSymlink != 0 {
		link, err = os.Readlink(filepath.Join(base, name))
		require.NoError(t, err)
	}
	head, err := tar.FileInfoHeader(info, link)
	require.NoError(t, err)
	head.Name, head.Uname, head.Gname, head.Uid, head.Gid, head.ModTime = name, "", "", 0, 0, time.Unix(0, 0)
	require.NoError(t, out.WriteHeader(head))
	if info.Mode().IsRegular() {
		b, err := os.ReadFile(filepath.Join(base, name))
		require.NoError(t, err)
		_, err = out.Write(b)
		require.NoError(t, err)
	}
}

// unpack lays an archive out below base, with the permissions of the files.
func unpack(t *testing.T, file, base string) {
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	zip, err := gzip.NewReader(bytes.NewReader(b))
	require.NoError(t, err)
	for in := tar.NewReader(zip); ; {
		head, err := in.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		require.NoError(t, err)
		at := filepath.Join(base, head.Name)
		require.NoError(t, os.MkdirAll(filepath.Dir(at), 0o755))
		switch head.Typeflag {
		case tar.TypeDir:
			require.NoError(t, os.MkdirAll(at, head.FileInfo().Mode().Perm()))
		case tar.TypeSymlink:
			require.NoError(t, os.Symlink(head.Linkname, at))
		default:
			text, err := io.ReadAll(in)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(at, text, head.FileInfo().Mode().Perm()))
		}
	}
}

// What any release left builds with zero runs, in another directory than it was made in, and its history and decisions are
// there; so do a campaign whose journal is gone and a store whose hints are.
func TestStateOfEveryRelease(t *testing.T) {
	if *writeRelease != "" {
		writeStateOf(t, *writeRelease)
	}
	archives, err := filepath.Glob("testdata/release/*.tar.gz")
	require.NoError(t, err)
	require.NotEmpty(t, archives)
	for _, file := range archives {
		for what, spoil := range map[string]func(*home){
			"whole": func(*home) {},
			"no journal": func(h *home) { // what a person decided is lost with it, and nothing that was paid for
				h.remove(h.dir, ".ufbuild/journal.log")
				h.must("approve", "signed", "--yes")
				h.write(map[string]string{"extra.campaign.hcl": releaseFiles()["extra.campaign.hcl"]})
			},
			"no hints": func(h *home) {
				h.remove(h.dir, ".ufbuild/placed")
				h.remove(h.store, "pack/*.idx")
				h.remove(h.store, "trimmed")
			},
			"no outputs": func(h *home) { h.remove(h.dir, "out") },
		} {
			t.Run(filepath.Base(file)+"/"+what, func(t *testing.T) {
				h := newHome(t, nil)
				unpack(t, file, filepath.Dir(h.dir))
				spoil(h)
				said := h.must("build")
				require.Regexp(t, `9 tasks: 9 fresh`, said)
				require.Empty(t, h.traced(), "hint: a released format stays readable; of a version that is not released, make it anew with: make release-state")
				require.FileExists(t, filepath.Join(h.dir, "out", "report", "t.txt"))
				h.sound()
				if what == "whole" {
					require.Contains(t, h.must("show", "part/one", "--history"), "thin")
					require.Contains(t, h.must("show", "edited", "--history"), "a blank")
					require.Regexp(t, `\$7\.50`, h.must("cost"))
				}
			})
		}
	}
}

// remove removes what a pattern names below a directory.
func (h *home) remove(dir, pattern string) {
	h.t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, pattern))
	require.NoError(h.t, err)
	for _, name := range names {
		require.NoError(h.t, os.RemoveAll(name))
	}
}

// Fields and kinds of records that a later release has are left alone: what is there counts, and nothing is written over them.
func TestStateOfALaterRelease(t *testing.T) {
	h := newHome(t, releaseFiles())
	said, code := h.run("build")
	require.Equal(t, exitWaiting, code, said)
	h.must("approve", "signed", "--yes")
	h.must("build")
	before := h.traced()
	journal := filepath.Join(h.dir, ".ufbuild", "journal.log")
	logs, err := filepath.Glob(filepath.Join(h.store, "log", "*.log"))
	require.NoError(t, err)
	for _, file := range append(logs, journal) {
		addLaterFields(t, file)
	}
	later, err := os.ReadFile(journal)
	require.NoError(t, err)
	h.must("build")
	require.Equal(t, before, h.traced())
	h.must("retry", "part/two", "--yes")
	after, err := os.ReadFile(journal)
	require.NoError(t, err)
	require.True(t, bytes.HasPrefix(after, later), "what a later release wrote is there as it was")
	h.sound()
	require.NoError(t, os.WriteFile(filepath.Join(h.store, "format"), []byte("ufbuild store 2\n"), 0o600))
	sizes := h.tree(h.store)
	said, code = h.run("build")
	require.Equal(t, exitWorld, code)
	require.Contains(t, said, "newer than this version reads")
	require.Contains(t, said, "hint:")
	require.True(t, slices.Equal(sizes, h.tree(h.store)), "nothing is written into it")
}

// addLaterFields gives every record of a log a field that nobody knows, and the log a kind of record that nobody knows.
func addLaterFields(t *testing.T, file string) {
	t.Helper()
	var records [][]byte
	_, err := recordlog.ReadFile(file, func(payload []byte) error {
		records = append(records, append(bytes.Clone(payload[:len(payload)-1]), `,"later":{"a":[1]}}`...))
		return nil
	})
	require.NoError(t, err)
	require.NotEmpty(t, records)
	strange := regexp.MustCompile(`"kind":"[^"]*"`).ReplaceAll(records[0], []byte(`"kind":"prophecy"`))
	require.NoError(t, os.Remove(file))
	w, err := recordlog.OpenWriter(file)
	require.NoError(t, err)
	for _, r := range append(records, strange) {
		_, _, err := w.Append(r)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
}
