package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache/remote/remotetest"
	"github.com/ufbuild/ufbuild/executor/submit"
)

// ground is what the scripts of a page need around them, and what they must have done.
type ground struct {
	env      []string           // NAME=VALUE
	compiles bool               // so its scripts take their time
	here     []string           // pairs: an address of the page, and what has it in the test
	setup    string             // shell, before the first script
	after    func(t *testing.T) // nil: what the page prints says enough
}

// grounds are those of the pages that need one. A program that stands in for another is below ~/bin.
var grounds = map[string]func(t *testing.T, home string) ground{
	"README.md":                          builtClone,
	"docs/five-minutes.md":               builtClone,
	"docs/scaling.md":                    compiling,
	"docs/editors/vscode/README.md":      editorGround,
	"docs/how-to/come-from-ultrafuzz.md": func(*testing.T, string) ground { return ground{setup: codexStandIn} },
	"docs/how-to/remote.md":              serversGround,
	"docs/how-to/watch-a-build.md":       collectorGround,
	"examples/audit/README.md":           compiling,
	"examples/gofuzz/README.md": func(t *testing.T, home string) ground {
		g := compiling(t, home)
		g.env = append(g.env, "UF_VAR_fuzz_time=200x") // in place of 20 s
		g.after = func(t *testing.T) {
			report, err := os.ReadFile(filepath.Join(home, "work", "examples", "gofuzz", "out", "report", "report.md"))
			require.NoError(t, err)
			require.Contains(t, string(report), "2 fuzz functions")
		}
		return g
	},
}

// compiling lets scripts compile with what Go has downloaded and compiled before, and install below their home.
func compiling(t *testing.T, home string) ground {
	t.Helper()
	if testing.Short() {
		t.Skip("it compiles programs")
	}
	out, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE").Output()
	require.NoError(t, err)
	where := strings.Fields(string(out))
	require.Len(t, where, 2)
	return ground{compiles: true, env: []string{
		"GOCACHE=" + where[0], "GOMODCACHE=" + where[1], "GOPATH=" + filepath.Join(home, "go"), "GOFLAGS=-trimpath -modcacherw",
	}}
}

// builtClone wants what the pages build in a clone to start.
func builtClone(t *testing.T, home string) ground {
	g := compiling(t, home)
	g.after = func(t *testing.T) {
		out, err := exec.Command(filepath.Join(home, "clone", "bin", programName), "version").CombinedOutput()
		require.NoError(t, err, string(out))
	}
	return g
}

// clone is a copy of what a clone of this repository has: not what was built in it.
func (p *pageRun) clone() string {
	clone := filepath.Join(p.home, "clone")
	if _, err := os.Stat(clone); err == nil {
		return clone
	}
	root := filepath.Join("..", "..")
	made := []string{".git", ".ufbuild", ".peers", "node_modules", "bin", "out"}
	require.NoError(p.t, filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		to := filepath.Join(clone, rel)
		switch {
		case d.IsDir() && slices.Contains(made, d.Name()):
			return fs.SkipDir
		case d.IsDir():
			return os.MkdirAll(to, 0o755)
		case !d.Type().IsRegular():
			return nil
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		return os.WriteFile(to, data, 0o644)
	}))
	return clone
}

// editorGround has an npm that puts nothing but what package.json asks for in place. The extension has to be where the editor finds it.
func editorGround(_ *testing.T, home string) ground {
	return ground{
		setup: `mkdir -p ~/bin ~/.vscode/extensions
cat > ~/bin/npm <<'END'
#!/bin/sh -e
test "$*" = install
for name in $(sed -n 's/.*"dependencies": { "\([^"]*\)".*/\1/p' package.json); do mkdir -p "node_modules/$name"; done
END
chmod +x ~/bin/npm`,
		after: func(t *testing.T) {
			var manifest struct {
				Publisher, Name, Version string
				Dependencies             map[string]string
			}
			installed, err := filepath.Glob(filepath.Join(home, ".vscode", "extensions", "*"))
			require.NoError(t, err)
			require.Len(t, installed, 1)
			data, err := os.ReadFile(filepath.Join(installed[0], "package.json"))
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(data, &manifest))
			require.Equal(t, manifest.Publisher+"."+manifest.Name+"-"+manifest.Version, filepath.Base(installed[0]))
			require.NotEmpty(t, manifest.Dependencies)
			for name := range manifest.Dependencies {
				require.DirExists(t, filepath.Join(installed[0], "node_modules", name))
			}
		},
	}
}

// codexStandIn writes what the prompts of the page ask for and prints what Codex would.
const codexStandIn = `mkdir -p ~/bin
cat > ~/bin/codex <<'END'
#!/bin/sh -e
case $1 in --version) echo codex-cli 1.2.3; exit ;; esac
case $(cat) in *"Look at src/"*) file=notes.md ;; *"You are hunter"*) file=hunt.md ;; *) file=report.md ;; esac
echo "# Done" > $file
echo '{"type":"turn.started"}'
echo '{"type":"item.completed","item":{"type":"agent_message","text":"done"}}'
echo '{"type":"turn.completed","usage":{"input_tokens":10,"cached_input_tokens":0,"output_tokens":5}}'
END
chmod +x ~/bin/codex`

// serversGround has a server for every kind that the page names: each takes what that kind takes and nothing else.
func serversGround(t *testing.T, home string) ground {
	authority := remotetest.NewAuthority(home)
	cert, key := authority.Issue("server", "127.0.0.1")
	var all []*remotetest.Server
	server := func(o remotetest.Options) *remotetest.Server {
		all = append(all, remotetest.Start(t, o))
		return all[len(all)-1]
	}
	guarded := server(remotetest.Options{TLS: remotetest.Serving(cert, key, nil)})
	files := remotetest.StartHTTP(t)
	servers := map[string]string{
		"grpc://HOST:9092":             server(remotetest.Options{}).URL(),
		"grpc://HOST:8980/main":        server(remotetest.Options{Instance: "main"}).URL() + "/main",
		"grpcs://remote.buildbuddy.io": guarded.URL(),
		"grpc://HOST:50051/main":       server(remotetest.Options{Instance: "main"}).URL() + "/main",
		"grpc://HOST:8980":             server(remotetest.Options{}).URL(),
		"http://HOST/cache":            files.URL + "/cache",
	}
	g := ground{env: []string{"SSL_CERT_FILE=" + authority.File}, after: func(t *testing.T) {
		for _, s := range all { // a build goes on without its server, so its end says nothing
			require.Positive(t, s.Results(), "%s has no result", s.URL())
		}
		require.Contains(t, string(guarded.Heard()), "x-buildbuddy-api-key: KEY")
		require.Contains(t, string(files.Heard()), "PUT /cache/cas/")
	}}
	for said, url := range servers {
		g.here = append(g.here, said+"\n", url+"\n") // at the end of a line: one begins like another
	}
	return g
}

// collectorGround has a collector, and a build for the verbs that look at one.
func collectorGround(t *testing.T, _ string) ground {
	var traces, metrics atomic.Int64
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/v1/traces":
			traces.Add(1)
		case "/v1/metrics":
			metrics.Add(1)
		}
	}))
	t.Cleanup(collector.Close)
	return ground{
		here: []string{"http://localhost:4318", collector.URL},
		after: func(t *testing.T) {
			require.Positive(t, traces.Load())
			require.Positive(t, metrics.Load())
		},
	}
}

// besideABuild runs the lines of a script beside a build of two reviews that last until all lines were run. Those that follow it are
// started first, are heard to say something, and have to end with the build.
func besideABuild(script string) string {
	var before, during, after strings.Builder
	n := 3
	for line := range strings.Lines(script) {
		command, _, _ := strings.Cut(strings.TrimSpace(line), "#")
		if !strings.Contains(command, " -f") {
			during.WriteString(line)
			continue
		}
		fmt.Fprintf(&before, "mkfifo $UP/said%[1]d; %[2]s > $UP/said%[1]d & pid%[1]d=$!; exec %[1]d< $UP/said%[1]d; read -r first <&%[1]d\n", n, command)
		fmt.Fprintf(&after, "echo \"$first\" | grep looking; cat <&%[1]d; wait $pid%[1]d\n", n)
		n++
	}
	return `export UP=$HOME/up && mkdir "$UP" beside && cd beside
cat > campaign.hcl <<'END'
task "review" {
  for_each = toset(["a", "b"])
  command  = ["sh", "-c", "echo looking at ${each.key}; echo > $UP/${each.key}; cat $UP/${each.key}"]
  pass_env = ["UP"]
}
END
mkfifo $UP/a $UP/b
ufbuild build > $UP/build 2>&1 & build=$!
read -r a < $UP/a; read -r b < $UP/b
` + before.String() + during.String() + "echo > $UP/a; echo > $UP/b\n" + after.String() + "wait $build; cat $UP/build; cd ..\n"
}

// TestSlurmCommandsOfThePage holds the page to the commands that are run.
func TestSlurmCommandsOfThePage(t *testing.T) {
	slurm := submit.Engines["slurm"]
	handIn := strings.Replace(strings.Join(slurm.Submit, " "), "{options}", "--partition=long --cpus-per-task=4", 1)
	require.Equal(t, "#!/bin/sh\nexec {command}\n", slurm.Input)
	want := handIn + "   # script: exec ufbuild exec-action …\n" + strings.Join(slurm.State, " ") + "\n" + strings.Join(slurm.Cancel, " ") + "\n"
	for _, b := range docBlocks(docPages(t)["docs/how-to/run-elsewhere.md"]) {
		if strings.HasPrefix(b.text, "sbatch ") {
			require.Equal(t, want, strings.ReplaceAll(b.text, "\\\n  ", ""))
			return
		}
	}
	t.Fatal("the page shows no commands of Slurm")
}
