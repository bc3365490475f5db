package reference

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/effect"
	"github.com/ufbuild/ufbuild/lang"
)

// repository fetches the paths of a commit as a tree.
func (f *Fetcher) repository(ctx context.Context, r *lang.Reference, p *Pin) error {
	dir, err := effect.MkdirTemp(f.Temp, "reference-")
	if err != nil {
		return err
	}
	defer func() { _ = effect.RemoveAll(dir) }()
	g := git{ctx: ctx, dir: dir, root: f.Root, env: f.Env}
	if err := g.fetch(r.Repo, r.Commit); err != nil {
		return err
	}
	entries, err := g.list(r.Commit, r.Paths)
	if err != nil {
		return err
	}
	t, err := g.store(f.CAS, entries)
	if err != nil {
		return err
	}
	text, err := t.Encode()
	if err != nil {
		return err
	}
	d, err := cache.PutBytes(f.CAS, text)
	if err != nil {
		return err
	}
	p.Tree = &d
	for _, e := range t.Entries {
		if e.Kind == cache.File {
			p.Files = append(p.Files, File{e.Path, e.Digest})
		}
	}
	return nil
}

// git runs git over a bare repository of its own.
type git struct {
	ctx  context.Context
	dir  string // the repository
	root string // where relative addresses start
	env  []string
}

// ofRepository are the variables by which git's hooks speak of the caller's own repository, as git rev-parse --local-env-vars
// lists them, without those of its settings.
var ofRepository = []string{
	"GIT_DIR", "GIT_COMMON_DIR", "GIT_WORK_TREE", "GIT_IMPLICIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_NAMESPACE", "GIT_SHALLOW_FILE",
	"GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_GRAFT_FILE", "GIT_REPLACE_REF_BASE",
}

// command prepares a run of git. No hook, no prompt, and none of what the caller's own repository says.
func (g *git) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(g.ctx, "git", append([]string{"-c", "core.hooksPath=/dev/null"}, args...)...)
	cmd.Dir = g.root
	cmd.Env = slices.DeleteFunc(slices.Clone(g.env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains(ofRepository, name)
	})
	cmd.Env = append(cmd.Env, "GIT_DIR="+g.dir, "GIT_TERMINAL_PROMPT=0", "GIT_LITERAL_PATHSPECS=1", "LC_ALL=C")
	return cmd
}

// run runs git and returns what it printed.
func (g *git) run(args ...string) ([]byte, error) {
	cmd := g.command(args...)
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := effect.Do(effect.OpStart, "git", cmd.Run); err != nil {
		return nil, gitError(args[0], err, problems.String())
	}
	return out.Bytes(), nil
}

// gitError puts what git said into an error.
func gitError(verb string, err error, said string) error {
	if errors.Is(err, exec.ErrNotFound) {
		return errors.New("run git: it is not on PATH\nhint: install git")
	}
	lines := strings.Split(strings.TrimSpace(said), "\n")
	if lines[0] == "" {
		return fmt.Errorf("git %s: %w", verb, err)
	}
	return fmt.Errorf("git %s: %s", verb, strings.Join(lines, "; "))
}

// fetch brings a commit, alone where the server lets us ask for one.
func (g *git) fetch(repo, commit string) error {
	if _, err := g.run("init", "-q", "--bare", g.dir); err != nil {
		return err
	}
	_, one := g.run("fetch", "-q", "--depth=1", "--no-tags", "--", repo, commit)
	if one != nil {
		if _, all := g.run("fetch", "-q", "--", repo, "+refs/*:refs/fetched/*"); all != nil {
			return one
		}
	}
	if _, err := g.run("cat-file", "-e", commit+"^{commit}"); err != nil {
		return fmt.Errorf("%s has no commit %s", repo, commit)
	}
	return nil
}

// object is one path of a commit.
type object struct {
	path string
	mode string
	name string // of the object
}

// list lists what a commit has below paths; without paths, everything.
func (g *git) list(commit string, paths []string) ([]object, error) {
	out, err := g.run(append([]string{"ls-tree", "-r", "-z", "--full-tree", commit, "--"}, paths...)...)
	if err != nil {
		return nil, err
	}
	var objects []object
	for line := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		meta, name, ok := strings.Cut(line, "\t")
		fields := strings.Fields(meta)
		if !ok || len(fields) != 3 {
			continue // the commit is empty
		}
		if fields[1] == "commit" {
			return nil, fmt.Errorf("%s is a submodule, which has no bytes of its own\nhint: list paths without it, or make a reference of its repository", name)
		}
		objects = append(objects, object{path: name, mode: fields[0], name: fields[2]})
	}
	for _, p := range paths {
		below := func(o object) bool { return o.path == p || strings.HasPrefix(o.path, p+"/") }
		if !slices.ContainsFunc(objects, below) {
			return nil, fmt.Errorf("the commit has no %s", p)
		}
	}
	return objects, nil
}

// linkMode is how git spells a symbolic link, execMode an executable file.
const (
	linkMode = "120000"
	execMode = "100755"
)

// store puts the bytes of objects into the CAS and returns their tree.
func (g *git) store(cas cache.CAS, objects []object) (cache.Tree, error) {
	var t cache.Tree
	cmd := g.command("cat-file", "--batch")
	var names, problems bytes.Buffer
	for _, o := range objects {
		names.WriteString(o.name + "\n")
	}
	cmd.Stdin, cmd.Stderr = &names, &problems
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return t, err
	}
	if err := effect.Do(effect.OpStart, "git", cmd.Start); err != nil {
		return t, gitError("cat-file", err, "")
	}
	out := bufio.NewReader(pipe)
	for _, o := range objects {
		e, err := readObject(out, cas, o)
		if err != nil {
			_ = cmd.Process.Kill() // nobody reads what it still writes
			_ = cmd.Wait()
			return t, fmt.Errorf("read %s: %w", o.path, err)
		}
		t.Entries = append(t.Entries, e)
	}
	if err := cmd.Wait(); err != nil {
		return t, gitError("cat-file", err, problems.String())
	}
	return t, nil
}

// readObject reads one answer of cat-file: a line "name type size", the bytes, and a line end.
func readObject(out *bufio.Reader, cas cache.CAS, o object) (cache.Entry, error) {
	if err := cache.CleanPath(o.path); err != nil {
		return cache.Entry{}, err
	}
	header, err := out.ReadString('\n')
	if err != nil {
		return cache.Entry{}, err
	}
	fields := strings.Fields(header)
	if len(fields) != 3 {
		return cache.Entry{}, fmt.Errorf("git says %q", strings.TrimSpace(header))
	}
	size, err := strconv.ParseInt(fields[2], 10, 64)
	if err != nil {
		return cache.Entry{}, err
	}
	e, err := storeObject(io.LimitReader(out, size), cas, o, size)
	if err != nil {
		return e, err
	}
	_, err = out.Discard(1)
	return e, err
}

func storeObject(from io.Reader, cas cache.CAS, o object, size int64) (cache.Entry, error) {
	if o.mode == linkMode {
		target, err := io.ReadAll(from)
		if err == nil && !cache.LinkInside(o.path, string(target)) {
			err = fmt.Errorf("the link leads to %s, which is outside of the reference", path.Clean(string(target)))
		}
		return cache.Entry{Path: o.path, Kind: cache.Link, Target: string(target)}, err
	}
	e := cache.Entry{Path: o.path, Kind: cache.File, Mode: 0o644}
	if o.mode == execMode {
		e.Mode = 0o755
	}
	var err error
	if e.Digest, err = cas.Put(from); err != nil {
		return e, err
	}
	if e.Digest.Size != size {
		return e, io.ErrUnexpectedEOF
	}
	return e, nil
}
