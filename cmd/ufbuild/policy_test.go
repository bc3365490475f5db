package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// room is a package or a tree of packages ("x/...") and the packages of ours it may import. The
// first line that fits a package counts. A package that no line fits fails the policy, so a new room
// is a decision.
type room struct {
	dir string
	may []string
}

// rooms are the one-way flow: campaign files -> lang -> graph -> executor -> cache, with cmd/ufbuild
// above everything.
var rooms = []room{
	{"lang", []string{"lang/late"}},
	{"lang/edits", nil},
	{"lang/late", nil}, // initialised before what it holds back
	{"lang/format", []string{"lang", "lang/edits"}},
	{"lang/prompt", nil},
	{"lang/importer", []string{"lang", "lang/format"}},
	{"lang/lsp", []string{"lang", "lang/format"}},

	{"graph", []string{"lang"}},
	{"graph/query", []string{"lang", "graph"}},
	{"graph/graphtest", nil}, // writes text; reads nothing of ours

	{"cache", []string{"cache/digest", "cache/jsonline"}},
	{"cache/digest", nil},
	{"cache/jsonline", nil},
	{"cache/raw", nil}, // read before the program starts: next to nothing
	{"cache/...", []string{"cache/..."}},

	{"executor", executorCore},
	{"executor/local", append([]string{"executor", "executor/watchdog", "cache/raw"}, executorCore...)},
	{"executor/remote/workertest", []string{"cache/remote", "cache/remote/remotetest"}},
	{"executor/remote/...", append([]string{"executor", "executor/submit", "cache/remote"}, executorCore...)},
	{"executor/submit", append([]string{"executor"}, executorCore...)},
	{"executor/runnertest", append([]string{"executor", "cache/mem"}, executorCore...)},
	{"executor/agent/...", []string{"lang", "cache", "cache/digest", "executor/agent", "executor/contract"}},
	{"executor/budget", []string{"lang", "cache", "executor/event"}},
	{"executor/compiled", []string{"lang", "cache", "cache/effect", "cache/raw"}},
	{"executor/contract", []string{"lang", "lang/late", "cache", "cache/digest", "cache/effect", "executor/source", "executor/watchdog"}},
	{"executor/event", nil},
	{"executor/stamp", []string{"cache/digest", "cache/effect", "executor/stamp/kept"}}, // read before the program starts: next to nothing
	{"executor/stamp/kept", []string{"cache/raw"}},                                      // the same, and before digests can be made
	{"executor/journal", []string{"lang", "cache", "cache/digest", "cache/effect", "cache/jsonline", "cache/recordlog", "cache/filelock", "executor/event"}},
	{"executor/ledger", []string{"lang", "cache", "cache/digest", "cache/effect", "cache/jsonline", "cache/recordlog", "cache/filelock"}},
	{"executor/pause", []string{"cache/effect"}},
	{"executor/place", []string{"lang", "cache", "cache/digest", "cache/effect", "cache/jsonline", "executor/source", "executor/workspace"}},
	{"executor/reference", []string{"lang", "cache", "cache/digest", "cache/effect", "executor/source"}},
	{"executor/surroundings", nil}, // of tests
	{"executor/sandbox", nil},      // runs before the program starts: next to nothing
	{"executor/source", []string{"lang", "cache", "cache/digest", "cache/effect", "executor/stamp"}},
	{"executor/watchdog", nil}, // runs before the program starts: next to nothing
	{"executor/workspace", []string{"lang", "cache", "cache/digest", "cache/effect", "cache/jsonline", "executor/source"}},

	{"cmd/ufbuild", []string{"..."}},
	{"cmd/ufbuild/internal/editor", []string{"lang", "lang/lsp"}},
	{"cmd/ufbuild/internal/bare", nil}, // imports nothing at all
	{"cmd/ufbuild/internal/release", []string{"cmd/ufbuild/internal/bare"}},
	{"cmd/ufbuild/internal/first", []string{"cache/disk/position", "cache/raw", "cmd/ufbuild/internal/bare", "executor/stamp/kept"}},
	{"cmd/ufbuild/internal/early", []string{"cmd/ufbuild/internal/bare", "cmd/ufbuild/internal/first", "executor/sandbox", "executor/stamp", "executor/watchdog"}},
	{"cmd/ufbuild/internal/...", []string{"lang", "lang/edits", "graph", "cache", "cache/digest", "executor/event", "cmd/ufbuild/internal/..."}},
	{"examples/...", nil}, // programs that examples run
}

// executorCore is what the executor is made of: data and leaves, never a back-end, a concrete store
// or a concrete agent driver.
var executorCore = []string{
	"lang", "lang/edits", "lang/prompt", "graph", "cache", "cache/digest", "cache/effect", "cache/filelock",
	"executor/agent", "executor/budget", "executor/contract", "executor/event", "executor/journal", "executor/ledger", "executor/pause",
	"executor/place", "executor/sandbox", "executor/source", "executor/stamp", "executor/workspace",
}

// outside says where modules and packages that shape a room may be imported.
var outside = []struct {
	prefix string
	only   []string
	why    string
}{
	{"github.com/hashicorp/hcl/", []string{"lang/..."}, "only lang reads HCL"},
	{"github.com/zclconf/go-cty", []string{"lang/..."}, "only lang has cty values"},
	{"google.golang.org/", []string{"cache/remote/...", "executor/remote/..."}, "gRPC lives with the remote API"},
	{"github.com/bazelbuild/remote-apis", []string{"cache/remote/...", "executor/remote/..."}, "the remote API has two homes"},
	{"github.com/spf13/", []string{"cmd/ufbuild"}, "only cmd/ufbuild reads flags"},
	{"golang.org/x/term", []string{"cmd/ufbuild/..."}, "only cmd/ufbuild knows the terminal"},
	{"github.com/stretchr/testify", testRooms, "a test library in a program"},
	{"github.com/rogpeppe/go-internal", nil, "a test library in a program"},
	{"github.com/chromedp/", nil, "a test library in a program"},
	{"testing", testRooms, "testing in a program"},
	{"flag", nil, "flags are cobra's"},
	{"log", nil, "errors are returned, events are emitted"},
}

// testRooms hold test code that other packages share, so the laws of reach mean them as little as
// test files.
var testRooms = []string{"executor/runnertest", "executor/surroundings", "executor/agent/agenttest", "cache/cachetest", "cache/jsonline/jsonlinetest", "cache/remote/remotetest", "executor/remote/workertest", "graph/graphtest"}

// reach names what only cmd/ufbuild may touch, by package and identifier.
var reach = map[string][]string{
	"os":   {"Args", "Clearenv", "Environ", "Exit", "ExpandEnv", "Getenv", "LookupEnv", "Setenv", "Stderr", "Stdin", "Stdout", "Unsetenv"},
	"fmt":  {"Print", "Printf", "Println", "Scan", "Scanf", "Scanln"},
	"time": {"Now", "Since", "Until"},
}

// stateRooms write what must survive a crash. They change the world through cache/effect only, so that a test can stop them at
// every step; a file can be opened for writing there alone.
var stateRooms = []string{
	"cache", "cache/disk", "cache/recordlog", "cmd/ufbuild", "executor", "executor/compiled", "executor/contract", "executor/journal", "executor/ledger",
	"executor/local", "executor/pause", "executor/place", "executor/reference", "executor/source", "executor/stamp", "executor/workspace",
}

// changes names what changes the world, by package and identifier.
var changes = map[string][]string{
	"os": {
		"Chmod", "Chtimes", "Create", "CreateTemp", "Link", "Mkdir", "MkdirAll", "MkdirTemp", "OpenFile", "Remove", "RemoveAll", "Rename",
		"StartProcess", "Symlink", "Truncate", "WriteFile",
	},
	"golang.org/x/sys/unix": {
		"Fchmod", "Fchmodat", "Fdatasync", "Fsync", "Ftruncate", "Linkat", "Mkdirat", "Pwrite", "Rename", "Renameat", "Renameat2", "Symlinkat",
		"Unlink", "Unlinkat", "Write",
	},
	"syscall": {"Exec", "ForkExec", "Fsync", "Rename", "Unlink", "Write"},
}

// exceptions are the places outside cmd/ufbuild that touch it all the same, with the reason. One
// that nothing needs any more fails the policy too.
var exceptions = map[string]string{
	"cmd/ufbuild/internal/early/early.go os.Args":    "it answers before main begins, so it sees what main would",
	"cmd/ufbuild/internal/early/early.go os.Environ": "the same",
	"cmd/ufbuild/internal/early/early.go os.Exit":    "main must not begin after the answer",

	"executor/local/watchdog.go os.Args":   "the watchdog recognises itself by its name; it runs before main reads anything",
	"executor/local/process.go time.Now":   "measures an attempt by the monotonic clock, as the deadline does",
	"executor/local/process.go time.Since": "the same measurement",
	"executor/local/stream.go time.Now":    "a read deadline of the operating system is a point in time",

	"executor/local/runner.go os.OpenFile":  "the null device",
	"executor/place/place.go os.OpenFile":   "opens for reading without following a link or waiting for a pipe",
	"executor/place/foreign.go os.OpenFile": "opens for reading without waiting for a pipe",
	"executor/unstored.go os.OpenFile":      "opens for reading without following a link or waiting for a pipe",
}

// The limits of the house. A longer function has two ideas in it.
const (
	maxFuncLines = 100
	maxFileLines = 700
)

func TestPolicy(t *testing.T) {
	sources := readSources(t, filepath.Join("..", ".."))
	require.Greater(t, len(sources), 50, "the sources were not found")
	for _, v := range policy(sources) {
		t.Error(v)
	}
}

// readSources reads the Go files of the repository.
func readSources(t *testing.T, root string) map[string]string {
	t.Helper()
	sources := map[string]string{}
	require.NoError(t, filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && file != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "out" || name == "bin") {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") {
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, file)
		sources[filepath.ToSlash(rel)] = string(text)
		return err
	}))
	return sources
}

// TestPolicyCanFail breaks each law once.
func TestPolicyCanFail(t *testing.T) {
	long := "package x\nfunc f() {\n" + strings.Repeat("\t_ = 1\n", maxFuncLines) + "}\n"
	for name, tc := range map[string]struct{ file, text, want string }{
		"lang imports graph":         {"lang/a.go", `package lang; import _ "github.com/ufbuild/ufbuild/graph"`, "lang may not import graph"},
		"graph imports cache":        {"graph/a.go", `package graph; import _ "github.com/ufbuild/ufbuild/cache"`, "graph may not import cache"},
		"cache imports lang":         {"cache/a.go", `package cache; import _ "github.com/ufbuild/ufbuild/lang"`, "cache may not import lang"},
		"executor imports local":     {"executor/a.go", `package executor; import _ "github.com/ufbuild/ufbuild/executor/local"`, "executor may not import executor/local"},
		"executor imports a driver":  {"executor/a.go", `package executor; import _ "github.com/ufbuild/ufbuild/executor/agent/exec"`, "executor may not import executor/agent/exec"},
		"executor imports a store":   {"executor/a.go", `package executor; import _ "github.com/ufbuild/ufbuild/cache/disk"`, "executor may not import cache/disk"},
		"anything imports cmd":       {"cache/disk/a.go", `package disk; import _ "github.com/ufbuild/ufbuild/cmd/ufbuild/internal/ui"`, "may not import cmd/ufbuild"},
		"HCL outside lang":           {"graph/a.go", `package graph; import _ "github.com/hashicorp/hcl/v2"`, "only lang reads HCL"},
		"cty outside lang":           {"executor/a.go", `package executor; import _ "github.com/zclconf/go-cty/cty"`, "only lang has cty"},
		"gRPC in the core":           {"executor/a.go", `package executor; import _ "google.golang.org/grpc"`, "gRPC lives"},
		"flags in a library":         {"lang/a.go", `package lang; import _ "flag"`, "flags are cobra's"},
		"HCL parameter":              {"lang/a.go", `package lang; import "github.com/hashicorp/hcl/v2"; func F(x []hcl.Range) {}`, "lang.F has hcl.Range"},
		"cty result":                 {"lang/a.go", `package lang; import "github.com/zclconf/go-cty/cty"; type T struct{}; func (t *T) F() cty.Value {return cty.NilVal}`, "lang.T.F has cty.Value"},
		"renamed import":             {"lang/a.go", `package lang; import h "github.com/hashicorp/hcl/v2"; type T struct { R h.Range }`, "lang.T has h.Range"},
		"interface method":           {"lang/a.go", `package lang; import "github.com/hashicorp/hcl/v2"; type T interface { R() hcl.Body }`, "lang.T has hcl.Body"},
		"exported variable":          {"lang/a.go", `package lang; import "github.com/hashicorp/hcl/v2"; var V hcl.Range`, "lang.V has hcl.Range"},
		"environment in a library":   {"cache/a.go", `package cache; import "os"; var x = os.Getenv("HOME")`, "cache/a.go:1 uses os.Getenv"},
		"terminal in a library":      {"graph/a.go", `package graph; import "fmt"; func f() { fmt.Println() }`, "uses fmt.Println"},
		"exit in a library":          {"executor/a.go", `package executor; import "os"; func f() { os.Exit(1) }`, "uses os.Exit"},
		"a write past the door":      {"cache/disk/a.go", `package disk; import "os"; func f() { _ = os.Rename("a", "b") }`, "uses os.Rename past cache/effect"},
		"a change through a root":    {"executor/contract/a.go", `package contract; import "os"; type t struct{ root *os.Root }; func (x t) f() { _ = x.root.Remove("a") }`, "uses root.Remove past cache/effect"},
		"a sync past the door":       {"executor/place/a.go", `package place; import "golang.org/x/sys/unix"; func f() { _ = unix.Fsync(1) }`, "unix.Fsync past cache/effect"},
		"clock in a library":         {"executor/a.go", `package executor; import "time"; var now = time.Now`, "uses time.Now"},
		"a room nobody decided on":   {"util/a.go", `package util`, "package util has no line in the policy"},
		"test package without line":  {"helpers/a_test.go", `package helpers`, "package helpers has no line"},
		"a long function":            {"lang/a.go", long, "function f has 102 lines"},
		"a long file":                {"lang/a.go", "package lang\n" + strings.Repeat("\n", maxFileLines), "lang/a.go has 701 lines"},
		"a file that does not parse": {"lang/a.go", "package", "lang/a.go:1"},
	} {
		found := strings.Join(policy(map[string]string{tc.file: tc.text}), "\n")
		require.Contains(t, found, tc.want, name)
	}
}

// TestPolicyLetsGoodCodePass keeps the laws from forbidding what they do not mean.
func TestPolicyLetsGoodCodePass(t *testing.T) {
	for file, text := range map[string]string{
		"lang/a.go":             `package lang; import "github.com/hashicorp/hcl/v2"; type T struct { r hcl.Range }; func f(hcl.Body) {}; type u struct { R hcl.Range }`,
		"graph/a.go":            `package graph; import _ "github.com/ufbuild/ufbuild/lang"`,
		"graph/a_test.go":       `package graph; import ("os"; "flag"; "time"); var x, y = os.Getenv("X"), time.Now; var z = flag.Bool`,
		"executor/local/a.go":   `package local; import (_ "github.com/ufbuild/ufbuild/executor"; _ "github.com/ufbuild/ufbuild/cache")`,
		"cache/disk/a.go":       `package disk; import _ "github.com/ufbuild/ufbuild/cache/recordlog"`,
		"cmd/ufbuild/a.go":      `package main; import ("os"; "time"); var x, y = os.Args, time.Now`,
		"graph/zz_generated.go": "// Code generated by x. DO NOT EDIT.\npackage graph\n" + strings.Repeat("\n", maxFileLines),
		"cache/a.go":            `package cache; type os struct{ Getenv int }; func f(os os) int { return os.Getenv }`,
	} {
		found := policy(map[string]string{file: text})
		found = withoutUnused(found)
		require.Empty(t, found, file)
	}
}

// withoutUnused drops what a policy over one file says of all exceptions.
func withoutUnused(found []string) []string {
	var out []string
	for _, f := range found {
		if !strings.Contains(f, "is not needed") {
			out = append(out, f)
		}
	}
	return out
}

func TestPolicyDropsExceptionsNobodyNeeds(t *testing.T) {
	found := strings.Join(policy(map[string]string{"lang/a.go": "package lang"}), "\n")
	for e := range exceptions {
		require.Contains(t, found, e)
	}
}
