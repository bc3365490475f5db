package main

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/editor"
	"github.com/ufbuild/ufbuild/graph"
	"github.com/ufbuild/ufbuild/lang"
	"github.com/ufbuild/ufbuild/lang/lsp"
)

// editorGC lets the server's heap grow to five times what is alive before it is collected: a load after
// each key makes much garbage, and a person waits for it.
const editorGC = 400

func (a *app) lspCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "lsp",
		Short: "Serve editors: problems as you type, completion, hover, rename",
		Long: `Speaks the Language Server Protocol over standard input and output, for the editor that
starts it: problems as you type (also in prompts), completion, hover, definition and
references across files and prompts, rename, formatting, fixes, symbols and colours.
It runs nothing and writes nothing.

docs/editors says how to set up VS Code, Neovim, Helix and JetBrains.`,
		Example: "  ufbuild lsp\n  ufbuild lsp --preset thorough   # values of variables as with this preset",
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return a.runLSP() },
	}
}

func (a *app) runLSP() error {
	o, _, err := a.options()
	if err != nil {
		return err
	}
	o.Dir, o.File = "", "" // each document says which campaign it belongs to
	leaveHeap()
	defer debug.SetGCPercent(debug.SetGCPercent(editorGC))
	server := editor.Server{Version: version().Version, Session: &lsp.Session{
		Options: o,
		Check: func(c *lang.Campaign) lang.Diagnostics {
			_, ds := graph.Build(c)
			return c.Unignored(ds, "")
		},
	}}
	ctx := a.context()
	orderly := server.Serve(ctx, a.in, a.rawOut)
	if ctx.Err() != nil {
		return exit(a.signalCode())
	}
	if !orderly {
		fmt.Fprintln(a.err, "ufbuild: lsp: the input ended without the shutdown that the protocol asks for")
		fmt.Fprintln(a.err, "hint: an editor starts this verb; docs/editors says how to set yours up")
		return exit(exitFailed) // as the protocol wants it of a server that was not shut down first
	}
	return nil
}
