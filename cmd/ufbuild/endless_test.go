package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/sourcegraph/jsonrpc2"
	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/web"
)

// Some verbs go on until somebody has what they want. The examples and the pages that show them are run with such a client.

// clients are those of the verbs that go on.
var clients = map[string]func(*talk){"lsp": (*talk).edit, "ui": (*talk).browse, "watch": (*talk).change}

// talk is with a verb that goes on.
type talk struct {
	t    *testing.T
	line string // of shell, that started it
	cmd  *exec.Cmd
	in   io.WriteCloser
	said *bufio.Reader // standard output and error, as they come
	seen bytes.Buffer  // what was read of said
}

// clientOf returns the client of a line of shell, nil when its command ends by itself.
func clientOf(line string) func(*talk) {
	words := strings.Fields(line)
	if len(words) < 2 || words[0] != programName {
		return nil
	}
	return clients[words[1]]
}

// runEndless starts a line of shell and lets its client talk to it until it has ended.
func runEndless(t *testing.T, cmd *exec.Cmd, line string) (said string, code int) {
	t.Helper()
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, w, err := os.Pipe()
	require.NoError(t, err)
	defer func() { _ = out.Close() }()
	cmd.Stdout, cmd.Stderr = w, w
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	require.NoError(t, cmd.Start())
	require.NoError(t, w.Close())
	k := &talk{t: t, line: line, cmd: cmd, in: in}
	k.said = bufio.NewReader(io.TeeReader(out, &k.seen))
	defer func() {
		_ = cmd.Cancel() // it is gone, unless the client gave up
		_ = cmd.Wait()
	}()
	clientOf(line)(k)
	_, err = io.Copy(io.Discard, k.said)
	require.NoError(t, err)
	_ = cmd.Wait() // its code says how
	return k.seen.String(), cmd.ProcessState.ExitCode()
}

// until reads lines until one has a text in it, and returns that.
func (k *talk) until(text string) string {
	k.t.Helper()
	for {
		line, err := k.said.ReadString('\n')
		if strings.Contains(line, text) {
			return strings.TrimSpace(line)
		}
		require.NoError(k.t, err, "%s: it said no %q, but:\n%s", k.line, text, &k.seen)
	}
}

// ctrlC is what a terminal does at Ctrl-C.
func (k *talk) ctrlC() { require.NoError(k.t, syscall.Kill(-k.cmd.Process.Pid, syscall.SIGINT)) }

// environment returns the value of a variable of the command.
func (k *talk) environment(name string) string {
	for _, kv := range k.cmd.Env {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value
		}
	}
	return ""
}

// browse opens the page as a browser does, with the token and without.
func (k *talk) browse() {
	link := k.until("http://127.0.0.1:")
	base, token, _ := strings.Cut(link, "/#token=")
	require.NotEmpty(k.t, token, link)
	if _, port, ok := strings.Cut(k.line, "--port "); ok {
		require.Equal(k.t, strings.Fields(port)[0], base[strings.LastIndex(base, ":")+1:])
	}
	if strings.Contains(k.line, "--open") {
		opened, err := os.ReadFile(k.environment("UP")) // a pipe: the stand-in for the browser says what it was handed
		require.NoError(k.t, err)
		require.Equal(k.t, link, strings.TrimSpace(string(opened)))
	}
	status, page := k.get(base+"/", "")
	require.Equal(k.t, http.StatusOK, status)
	require.Contains(k.t, page, "<title>")
	status, _ = k.get(base+"/api/document", "")
	require.Equal(k.t, http.StatusForbidden, status)
	status, text := k.get(base+"/api/document", token)
	require.Equal(k.t, http.StatusOK, status, text)
	var doc web.Document
	require.NoError(k.t, json.Unmarshal([]byte(text), &doc))
	require.NotEmpty(k.t, doc.Nodes)
	k.ctrlC()
}

func (k *talk) get(url, token string) (status int, body string) {
	k.t.Helper()
	request, err := http.NewRequestWithContext(k.t.Context(), http.MethodGet, url, nil)
	require.NoError(k.t, err)
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := http.DefaultClient.Do(request)
	require.NoError(k.t, err)
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	require.NoError(k.t, err)
	return answer.StatusCode, string(text)
}

// change waits for the first build, in which the prompt that the setup changed runs if that may cost money, and changes a file.
func (k *talk) change() {
	k.until("watching ")
	if strings.Contains(k.line, "--paid") {
		require.Contains(k.t, k.seen.String(), "ok discovery")
	} else {
		require.Contains(k.t, k.seen.String(), unpaidWords)
	}
	vault, err := os.OpenFile(filepath.Join(k.cmd.Dir, "src", "Vault.sol"), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(k.t, err)
	_, err = vault.WriteString("// changed\n")
	require.NoError(k.t, err)
	require.NoError(k.t, vault.Close())
	k.until("src/Vault.sol changed")
	k.until("watching ")
	k.ctrlC()
}

// edit is an editor: it opens a campaign file, asks for the value of a variable and shuts the server down.
func (k *talk) edit() {
	ctx, cancel := context.WithCancel(k.t.Context())
	defer cancel()
	told := make(chan *jsonrpc2.Request, 16)
	stream := struct {
		io.Reader
		io.WriteCloser
	}{k.said, k.in}
	conn := jsonrpc2.NewConn(ctx, jsonrpc2.NewBufferedStream(stream, jsonrpc2.VSCodeObjectCodec{}), heard(told))
	call := func(method string, params any) string {
		var result json.RawMessage
		require.NoError(k.t, conn.Call(ctx, method, params, &result), method)
		return string(result)
	}
	file := filepath.Join(k.cmd.Dir, "tasks.campaign.hcl")
	text, err := os.ReadFile(file)
	require.NoError(k.t, err)
	before, _, found := strings.Cut(string(text), "var.passes")
	require.True(k.t, found)
	document := map[string]any{"uri": "file://" + file}
	call("initialize", map[string]any{"rootUri": "file://" + k.cmd.Dir, "capabilities": map[string]any{}})
	require.NoError(k.t, conn.Notify(ctx, "initialized", map[string]any{}))
	require.NoError(k.t, conn.Notify(ctx, "textDocument/didOpen", map[string]any{
		"textDocument": map[string]any{"uri": "file://" + file, "languageId": "hcl", "version": 1, "text": strings.ReplaceAll(string(text), "discovery.outputs", "discovry.outputs")},
	}))
	for request := range told {
		if request.Method == "textDocument/publishDiagnostics" && strings.Contains(string(*request.Params), "discovry") {
			break
		}
	}
	passes := map[string]any{"line": strings.Count(before, "\n"), "character": len(before) - strings.LastIndex(before, "\n") + len("var.")}
	hover := call("textDocument/hover", map[string]any{"textDocument": document, "position": passes})
	want := "2"
	if strings.Contains(k.line, "--preset thorough") {
		want = "4"
	}
	require.Contains(k.t, hover, want, k.line)
	call("shutdown", nil)
	require.NoError(k.t, conn.Notify(ctx, "exit", nil))
}

// heard passes on what a server says on its own.
type heard chan<- *jsonrpc2.Request

// Handle implements jsonrpc2.Handler.
func (h heard) Handle(_ context.Context, _ *jsonrpc2.Conn, request *jsonrpc2.Request) { h <- request }
