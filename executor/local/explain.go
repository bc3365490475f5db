package local

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache/effect"
	"github.com/ufbuild/ufbuild/executor/sandbox"
)

// explain tells the log and the result which refusals the limits are to blame for, as far as a program that failed
// printed what it was refused: the kernel keeps no list for us.
func (e *ending) explain(log *effect.File, output func([]byte), dir string, limits *sandbox.Limits) error {
	tail, err := logTail(log.Name(), explainedTail)
	if err != nil {
		return err
	}
	why := refusals(tail, dir, limits)
	e.problems = append(e.problems, why...)
	for _, line := range why {
		text := []byte("ufbuild: " + line + "\n")
		if _, err := log.Write(text); err != nil {
			e.tail = append(e.tail, text...) // the log is not worth the outputs
		}
		if output != nil {
			output(text)
		}
	}
	return nil
}

// explainedTail is how much of the end of a log is searched, and explainedMost how many refusals are told.
const (
	explainedTail = 64 << 10
	explainedMost = 5
)

// logTail reads the end of a log, of at most size bytes. It waits for nobody and follows no link: a
// program can put either in its place.
func logTail(path string, size int64) (string, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", fmt.Errorf("read log: %w", err)
	}
	f := os.NewFile(uintptr(fd), path)
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return "", fmt.Errorf("read log: %w", err)
	}
	b := make([]byte, min(st.Size(), size))
	n, err := readAt(f, b, st.Size()-int64(len(b)))
	return string(b[:n]), err
}

func readAt(f *os.File, b []byte, off int64) (int, error) {
	n, err := f.ReadAt(b, off)
	if err != nil && n < len(b) {
		return n, fmt.Errorf("read log: %w", err)
	}
	return n, nil
}

// deniedWords are how programs name a refusal of the kernel; offlineWords that there is no network.
var (
	deniedWords  = regexp.MustCompile(`(?i)permission denied|operation not permitted|access (is )?denied|EACCES|EPERM|cross-device|EXDEV`)
	offlineWords = regexp.MustCompile(`(?i)network is unreachable|ENETUNREACH|could not resolve|name resolution|name or service not known|EAI_AGAIN|no such host`)
	// pathWords are absolute paths and those that climb out of the workspace.
	pathWords = regexp.MustCompile("(?:\\.\\./|/)[^\\s'\"`:,;()<>\\[\\]]*")
)

// refusals names what was refused that the user could have done.
func refusals(text, dir string, l *sandbox.Limits) []string {
	var out []string
	add := func(line string) {
		if !slices.Contains(out, line) && len(out) < explainedMost {
			out = append(out, line)
		}
	}
	for line := range strings.Lines(text) {
		if l.NoNetwork && offlineWords.MatchString(line) {
			add("network = false: the task has no network")
		}
		if !deniedWords.MatchString(line) {
			continue
		}
		for _, p := range pathWords.FindAllString(line, -1) {
			if !filepath.IsAbs(p) {
				p = filepath.Join(dir, p)
			}
			if why := refused(filepath.Clean(p), l); why != "" {
				add(why)
			}
		}
	}
	return out
}

// refused says what the limits have against a path, if they alone do: what the user may not do either is not
// their doing.
func refused(path string, l *sandbox.Limits) string {
	if !reads(l, path) && unix.Access(path, unix.R_OK) == nil {
		return fmt.Sprintf("sandbox %q: %s was not declared; list it in workspace.readable", string(l.Level), path)
	}
	at := path
	if _, err := os.Lstat(at); err != nil {
		at = filepath.Dir(at)
	}
	if !writes(l, path) && unix.Access(at, unix.W_OK) == nil {
		return fmt.Sprintf("sandbox %q: %s may not be written; list it in workspace.writable", string(l.Level), path)
	}
	return ""
}
