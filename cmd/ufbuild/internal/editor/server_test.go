package editor_test

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sourcegraph/jsonrpc2"
	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/editor"
	"github.com/ufbuild/ufbuild/lang/lsp"
)

const campaign = `task "first" {
  command = ["sh", "-c", "echo x > x"]
  output "x" { path = "x" }
}
task "second" {
  command = ["cat", task.first.outputs.x.path]
}
`

// client is an editor at the other end.
type client struct {
	t     testing.TB
	rest  chan time.Time // what the server takes for the end of a rest
	conn  *jsonrpc2.Conn
	told  chan *jsonrpc2.Request // what the server says on its own
	ended chan bool              // what Serve returned
}

type pipes struct {
	io.Reader
	io.WriteCloser
}

func (c client) Handle(_ context.Context, _ *jsonrpc2.Conn, req *jsonrpc2.Request) { c.told <- req }

func connect(t testing.TB) *client {
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	c := &client{t: t, rest: make(chan time.Time, 1), told: make(chan *jsonrpc2.Request, 64), ended: make(chan bool, 1)}
	go func() {
		s := editor.Server{Session: &lsp.Session{}, Version: "1.2.3", After: func(time.Duration) <-chan time.Time { return c.rest }}
		c.ended <- s.Serve(context.Background(), in, out)
		_ = out.Close()
	}()
	c.conn = jsonrpc2.NewConn(context.Background(), jsonrpc2.NewBufferedStream(pipes{fromServer, toServer}, jsonrpc2.VSCodeObjectCodec{}), *c)
	t.Cleanup(func() { _ = c.conn.Close() })
	return c
}

func (c *client) call(method string, params any) json.RawMessage {
	c.t.Helper()
	var result json.RawMessage
	require.NoError(c.t, c.conn.Call(context.Background(), method, params, &result))
	return result
}

func (c *client) notify(method string, params any) {
	c.t.Helper()
	require.NoError(c.t, c.conn.Notify(context.Background(), method, params))
}

// next waits for the next diagnostics and returns their file and messages.
func (c *client) next() (file string, messages []string) {
	c.t.Helper()
	for req := range c.told {
		if req.Method != "textDocument/publishDiagnostics" {
			continue
		}
		var p struct {
			URI         string `json:"uri"`
			Diagnostics []struct{ Code, Message string }
		}
		require.NoError(c.t, json.Unmarshal(*req.Params, &p))
		for _, d := range p.Diagnostics {
			messages = append(messages, d.Code+" "+d.Message)
		}
		return p.URI, messages
	}
	return "", nil
}

// object is a JSON object.
type object = map[string]any

// TestServer is a session of an editor: open, break, mend, ask everything, leave.
func TestServer(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "campaign.hcl")
	require.NoError(t, os.WriteFile(file, []byte(campaign), 0o644))
	uri := "file://" + file
	c := connect(t)
	hello := c.call("initialize", object{"capabilities": object{
		"workspace":    object{"didChangeWatchedFiles": object{"dynamicRegistration": true}},
		"textDocument": object{"completion": object{"completionItem": object{"snippetSupport": true}}},
	}})
	require.Contains(t, string(hello), `"version":"1.2.3"`)
	c.notify("initialized", object{})
	require.Equal(t, "client/registerCapability", (<-c.told).Method)

	c.notify("textDocument/didOpen", object{"textDocument": object{"uri": uri, "text": campaign, "languageId": "ufbuild", "version": 1}})
	where, found := c.next()
	require.Equal(t, uri, where)
	require.Empty(t, found)

	at := object{"line": 5, "character": 26} // in first
	edit := func(text string, from, to int) {
		c.notify("textDocument/didChange", object{"textDocument": object{"uri": uri, "version": 2}, "contentChanges": []object{
			{"range": object{"start": object{"line": 5, "character": from}, "end": object{"line": 5, "character": to}}, "text": text},
		}})
	}
	edit("furst", 25, 30)
	_, found = c.next()
	require.Len(t, found, 1)
	require.Contains(t, found[0], `UF2002 No task named "furst" is declared. Did you mean "first"?`)
	here := object{"textDocument": object{"uri": uri}, "position": at}
	actions := c.call("textDocument/codeAction", object{"textDocument": object{"uri": uri}, "range": object{"start": at, "end": at}})
	require.Contains(t, string(actions), `"newText":"first"`)
	edit("first", 25, 30)
	_, found = c.next()
	require.Empty(t, found)

	require.Contains(t, string(c.call("textDocument/completion", here)), `"label":"second"`)
	require.Contains(t, string(c.call("textDocument/hover", here)), "command task")
	require.Contains(t, string(c.call("textDocument/definition", here)), `"line":0,"character":6`)
	require.Equal(t, 2, strings.Count(string(c.call("textDocument/references", object{
		"textDocument": object{"uri": uri}, "position": at, "context": object{"includeDeclaration": true}})), "uri"))
	require.Contains(t, string(c.call("textDocument/prepareRename", here)), `"character":25`)
	require.Equal(t, 2, strings.Count(string(c.call("textDocument/rename", object{
		"textDocument": object{"uri": uri}, "position": at, "newName": "one"})), `"newText":"one"`))
	require.Contains(t, string(c.call("textDocument/formatting", object{"textDocument": object{"uri": uri}})), "newText")
	require.Contains(t, string(c.call("textDocument/documentSymbol", object{"textDocument": object{"uri": uri}})), `"name":"second"`)
	require.Contains(t, string(c.call("textDocument/semanticTokens/full", object{"textDocument": object{"uri": uri}})), "[0,0,4,8,0")
	require.Contains(t, string(c.call("workspace/symbol", object{"query": "sec"})), "second")
	require.Contains(t, string(c.call("textDocument/documentHighlight", here)), "range")

	c.notify("textDocument/didClose", object{"textDocument": object{"uri": uri}})
	c.call("shutdown", nil)
	c.notify("exit", nil)
	require.True(t, <-c.ended)
}

// TestServerTellsInTwoSteps breaks a name that another block refers to: what the edited block says comes at once,
// what the other one says when nobody types any more.
func TestServerTellsInTwoSteps(t *testing.T) {
	file := filepath.Join(t.TempDir(), "campaign.hcl")
	require.NoError(t, os.WriteFile(file, []byte(campaign), 0o644))
	doc := object{"uri": "file://" + file, "text": campaign, "languageId": "ufbuild", "version": 1}
	c := connect(t)
	c.call("initialize", object{"capabilities": object{}})
	c.notify("textDocument/didOpen", object{"textDocument": doc})
	_, found := c.next()
	require.Empty(t, found)
	c.notify("textDocument/didChange", object{"textDocument": doc, "contentChanges": []object{
		{"range": object{"start": object{"line": 0, "character": 6}, "end": object{"line": 0, "character": 11}}, "text": "furst"},
	}})
	_, found = c.next()
	require.Empty(t, found, "the block is sound")
	c.rest <- time.Time{}
	_, found = c.next()
	require.Len(t, found, 1)
	require.Contains(t, found[0], `UF2002 No task named "first" is declared`)
}

// TestServerSignature asks for the parameters of a function, by their names and, of a newer editor, by their places.
func TestServerSignature(t *testing.T) {
	const text = "locals {\n  a = lookup({}, \n}\n"
	for support, want := range map[bool]string{false: `{"label":"key"}`, true: `{"label":[17,20]}`} {
		file := filepath.Join(t.TempDir(), "campaign.hcl")
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
		doc := object{"uri": "file://" + file, "text": text, "languageId": "ufbuild", "version": 1}
		c := connect(t)
		hello := c.call("initialize", object{"capabilities": object{"textDocument": object{"signatureHelp": object{
			"signatureInformation": object{"parameterInformation": object{"labelOffsetSupport": support}}}}}})
		require.Contains(t, string(hello), `"signatureHelpProvider":{"triggerCharacters":["(",","]}`)
		c.notify("textDocument/didOpen", object{"textDocument": doc})
		help := string(c.call("textDocument/signatureHelp", object{"textDocument": doc, "position": object{"line": 1, "character": 17}}))
		require.Contains(t, help, `"label":"lookup(inputMap, key, default)"`)
		require.Contains(t, help, `"activeParameter":1`)
		require.Contains(t, help, want)
		require.Equal(t, "null", string(c.call("textDocument/signatureHelp", object{"textDocument": doc, "position": object{"line": 0, "character": 2}})))
	}
}

// TestServerTriesTests tells of a test that fails, and of a value that no variable takes.
func TestServerTriesTests(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "campaign.hcl"), []byte(campaign), 0o644))
	c := connect(t)
	c.call("initialize", object{"capabilities": object{}})
	for name, text := range map[string]string{
		"campaign.test.hcl": "test \"t\" {\n  assert {\n    condition     = status(\"second\") == \"failed\"\n    error_message = \"it would run\"\n  }\n}\n",
		"more.vars.hcl":     "depth = 3\n",
	} {
		c.notify("textDocument/didOpen", object{"textDocument": object{"uri": "file://" + filepath.Join(dir, name), "text": text, "languageId": "ufbuild", "version": 1}})
		_, found := c.next()
		require.Len(t, found, 1, name)
		require.Regexp(t, "UF9301 it would run|UF9001 No variable named \"depth\"", found[0])
		c.notify("textDocument/didClose", object{"textDocument": object{"uri": "file://" + filepath.Join(dir, name)}})
		_, found = c.next()
		require.Empty(t, found, "it is closed")
	}
}

// TestServerKeepsGoing is told what it does not know: each gets its error, and the next is answered.
func TestServerKeepsGoing(t *testing.T) {
	c := connect(t)
	var result json.RawMessage
	var broken *jsonrpc2.Error
	require.ErrorAs(t, c.conn.Call(context.Background(), "textDocument/unheardOf", object{}, &result), &broken)
	require.Equal(t, int64(jsonrpc2.CodeMethodNotFound), broken.Code)
	require.ErrorAs(t, c.conn.Call(context.Background(), "textDocument/hover", []int{1}, &result), &broken)
	require.Equal(t, int64(jsonrpc2.CodeInvalidParams), broken.Code)
	elsewhere := object{"textDocument": object{"uri": "untitled:1"}, "position": object{"line": 0, "character": 0}}
	require.Equal(t, "null", string(c.call("textDocument/hover", elsewhere)))
	require.ErrorAs(t, c.conn.Call(context.Background(), "textDocument/rename", object{
		"textDocument": object{"uri": "file:///nowhere/campaign.hcl"}, "position": object{"line": 0, "character": 0}, "newName": "x"}, &result), &broken)
	require.Contains(t, broken.Message, "nothing here that can be renamed")
	require.NoError(t, c.conn.Close())
	require.False(t, <-c.ended, "it left without a word")
}
