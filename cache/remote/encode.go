package remote

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/ufbuild/ufbuild/cache"
)

// Encoder makes the messages of REAPI in one digest function. Equal values have equal bytes: lists are sorted where their order
// means nothing, and messages are encoded deterministically.
type Encoder struct{ Function Function }

// Message returns m as a blob.
func (e Encoder) Message(m proto.Message) Blob {
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		panic(fmt.Sprintf("BUG: encode %T: %v", m, err)) // text that is not UTF-8 was refused before
	}
	return e.Bytes(b)
}

// Bytes returns b as a blob.
func (e Encoder) Bytes(b []byte) Blob { return Blob{Digest: e.Function.Of(b), Bytes: b} }

// File is one path of a directory that is to be encoded.
type File struct {
	Path   string // slash path that satisfies cache.CleanPath, in UTF-8
	Digest Digest // of a file
	Exec   bool   // of a file
	Target string // of a symbolic link; a File with it is one
	Dir    bool   // an (empty) directory; those on the way to other paths need no entry
}

// Directory returns the digest of the root of a tree of Directory messages, and the messages. It fails for what REAPI cannot
// say: a path that is not UTF-8, one that is listed twice or lies below a file.
func (e Encoder) Directory(files []File) (root Digest, messages []Blob, err error) {
	top, err := grow(files)
	if err != nil {
		return Digest{}, nil, err
	}
	var all []Blob
	take := func(d *repb.Directory) Digest {
		b := e.Message(d)
		all = append(all, b)
		return b.Digest
	}
	d, err := top.encode(take)
	if err != nil {
		return Digest{}, nil, err
	}
	return take(d), all, nil
}

// Tree returns a Tree message: a whole tree in one blob, as outputs are listed.
func (e Encoder) Tree(files []File) (Blob, error) {
	top, err := grow(files)
	if err != nil {
		return Blob{}, err
	}
	t := &repb.Tree{}
	seen := map[Digest]bool{}
	t.Root, err = top.encode(func(d *repb.Directory) Digest {
		digest := e.Message(d).Digest
		if !seen[digest] {
			seen[digest] = true
			t.Children = append(t.Children, d)
		}
		return digest
	})
	return e.Message(t), err
}

// branch is a directory on the way from a list of paths to messages.
type branch struct {
	dirs  map[string]*branch
	files []leaf
}

// leaf is a file or a link in a branch.
type leaf struct {
	name string
	*File
}

func grow(files []File) (*branch, error) {
	top := &branch{}
	for i := range files {
		f := &files[i]
		if err := cache.CleanPath(f.Path); err != nil {
			return nil, fmt.Errorf("encode directory: %w", err)
		}
		if !utf8.ValidString(f.Path) || !utf8.ValidString(f.Target) {
			return nil, fmt.Errorf("encode directory: path %q is not UTF-8, which a remote cannot take", f.Path)
		}
		at, rest := top, f.Path
		for {
			name, below, deeper := strings.Cut(rest, "/")
			if !deeper {
				break
			}
			at, rest = at.sub(name), below
		}
		if f.Dir {
			at.sub(rest)
			continue
		}
		at.files = append(at.files, leaf{rest, f})
	}
	return top, nil
}

func (b *branch) sub(name string) *branch {
	if b.dirs == nil {
		b.dirs = map[string]*branch{}
	}
	if b.dirs[name] == nil {
		b.dirs[name] = &branch{}
	}
	return b.dirs[name]
}

// encode returns the message of b, and hands those of the directories below it to take, which returns their digests.
func (b *branch) encode(take func(*repb.Directory) Digest) (*repb.Directory, error) {
	slices.SortFunc(b.files, func(x, y leaf) int { return cmp.Compare(x.name, y.name) })
	d := &repb.Directory{Files: make([]*repb.FileNode, 0, len(b.files))}
	for i, f := range b.files {
		switch {
		case i > 0 && b.files[i-1].name == f.name:
			return nil, fmt.Errorf("encode directory: path %q is listed twice", f.Path)
		case b.dirs[f.name] != nil:
			return nil, fmt.Errorf("encode directory: %q is a file and a directory", f.name)
		case f.Target != "":
			d.Symlinks = append(d.Symlinks, &repb.SymlinkNode{Name: f.name, Target: f.Target})
		default:
			d.Files = append(d.Files, &repb.FileNode{Name: f.name, Digest: f.Digest.Proto(), IsExecutable: f.Exec})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b.dirs)) {
		below, err := b.dirs[name].encode(take)
		if err != nil {
			return nil, err
		}
		d.Directories = append(d.Directories, &repb.DirectoryNode{Name: name, Digest: take(below).Proto()})
	}
	return d, nil
}

// Property is a name with a value.
type Property struct{ Name, Value string }

// ActionSpec is what an Action and its Command say. There is no place for the value of a secret: only names.
type ActionSpec struct {
	Argv    []string
	Env     []Property // in clear: the command lies readable in the CAS
	Secrets []string   // names of variables that a worker gives the process itself; sent as platform properties
	Outputs []string   // paths, relative to Dir
	// OutputDirs are outputs that are directories. With them outputs are named in the words of REAPI 2.0 too, whose servers
	// want to know which is which.
	OutputDirs []string
	Dir        string // working directory in the input root; "" is the root
	// Platform chooses the worker.
	Platform   []Property
	Root       Digest        // of the input root, as Directory returns it
	Timeout    time.Duration // 0: none is sent
	DoNotCache bool
	Salt       []byte
}

// SecretProperty is the platform property that names a secret; its value is the name of the variable.
const SecretProperty = "ufbuild-secret"

// Action returns the blob of an action and that of its command.
func (e Encoder) Action(s ActionSpec) (action, command Blob) {
	platform := platformOf(s)
	cmd := &repb.Command{
		Arguments: s.Argv, WorkingDirectory: s.Dir, OutputPaths: slices.Sorted(slices.Values(slices.Concat(s.Outputs, s.OutputDirs))),
	}
	cmd.Platform = platform //lint:ignore SA1019 older servers read it here, newer ones in the action
	if len(s.OutputDirs) > 0 {
		//lint:ignore SA1019 older servers tell files from directories by them
		cmd.OutputFiles, cmd.OutputDirectories = slices.Sorted(slices.Values(s.Outputs)), slices.Sorted(slices.Values(s.OutputDirs))
	}
	for _, v := range sortedProperties(s.Env) {
		cmd.EnvironmentVariables = append(cmd.EnvironmentVariables, &repb.Command_EnvironmentVariable{Name: v.Name, Value: v.Value})
	}
	command = e.Message(cmd)
	a := &repb.Action{
		CommandDigest: command.Digest.Proto(), InputRootDigest: s.Root.Proto(), DoNotCache: s.DoNotCache, Salt: s.Salt, Platform: platform,
	}
	if s.Timeout > 0 {
		a.Timeout = durationpb.New(s.Timeout)
	}
	return e.Message(a), command
}

func platformOf(s ActionSpec) *repb.Platform {
	all := slices.Clone(s.Platform)
	for _, name := range s.Secrets {
		all = append(all, Property{SecretProperty, name})
	}
	if len(all) == 0 {
		return nil
	}
	p := &repb.Platform{}
	for _, x := range sortedProperties(all) {
		p.Properties = append(p.Properties, &repb.Platform_Property{Name: x.Name, Value: x.Value})
	}
	return p
}

func sortedProperties(all []Property) []Property {
	return slices.SortedFunc(slices.Values(all), func(a, b Property) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Value, b.Value))
	})
}

// KeyAction returns the action under which a cache keeps what was made for a local key, and all its messages. Nothing but the
// key is in it, so timeouts, wording and versions of ufbuild do not split what is shared.
func (e Encoder) KeyAction(k cache.Key) (action Digest, messages []Blob) {
	root, messages, err := e.Directory(nil)
	if err != nil {
		panic("BUG: encode the empty directory: " + err.Error())
	}
	a, c := e.Action(ActionSpec{Argv: []string{"ufbuild", "attempt", k.String()}, Outputs: []string{attemptFile}, Root: root})
	return a.Digest, append(messages, a, c)
}

// attemptFile is the output that holds what an attempt was.
const attemptFile = "attempt.json"
