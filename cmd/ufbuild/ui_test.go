package main

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/web"
)

// livePages builds a campaign in which use reads made, and gate asks a person.
func livePages(t *testing.T) (p *pages, ufbuild func(args ...string) string) {
	t.Helper()
	dir, store := t.TempDir(), t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	write("in.txt", "one\n")
	write("campaign.hcl", `
task "made" {
  command = ["sh", "-c", "cat in.txt > m.txt; date +%N >> m.txt; echo talks"]
  input "in" { glob = ["in.txt"] }
  output "m" { path = "m.txt" }
}
task "use" { command = ["cat", task.made.outputs.m.path] }
contract "asked" {
  kind     = "text"
  approval = true
}
task "gate" {
  command = ["sh", "-c", "cat in.txt > g.txt"]
  input "in" { glob = ["in.txt"] }
  output "g" {
    path     = "g.txt"
    contract = contract.asked
  }
}
`)
	ufbuild = func(args ...string) string {
		var out bytes.Buffer
		run(&process{args: append([]string{"-C", dir, "--store", store}, args...), environ: os.Environ(), in: strings.NewReader(""), out: &out, err: &out})
		return out.String()
	}
	ufbuild("build", "--progress", "none")
	var words bytes.Buffer
	a := &app{process: &process{environ: os.Environ(), out: &words, err: &words}, stop: &stopping{}, dir: dir, store: store}
	p = &pages{app: a, flags: buildFlags{jobs: 2, logs: "none"}}
	t.Cleanup(p.close)
	return p, ufbuild
}

// look looks at the campaign anew.
func (p *pages) look(t *testing.T, address string) web.Node {
	t.Helper()
	doc, err := p.Document(t.Context())
	require.NoError(t, err)
	for _, n := range doc.Nodes {
		if n.Address == address {
			return n
		}
	}
	t.Fatalf("there is no %s", address)
	return web.Node{}
}

func TestPageRetriesOnlyWhatWasAgreedTo(t *testing.T) {
	p, ufbuild := livePages(t)
	require.Equal(t, "fresh", p.look(t, "made").State)
	price, err := p.Price(t.Context(), web.Retry{Targets: []string{"made"}})
	require.NoError(t, err)
	require.Len(t, price.Nodes, 2)
	require.Contains(t, price.Price, "2 tasks")

	_, err = p.Retry(t.Context(), web.Retry{Targets: []string{"made"}, Alone: true, Agreed: price.Agreed})
	require.ErrorContains(t, err, "not the one that was agreed to", "another list")
	_, err = p.Retry(t.Context(), web.Retry{Targets: []string{"made"}})
	require.Equal(t, http.StatusUnprocessableEntity, httpStatus(err), "no list at all")
	require.NotContains(t, ufbuild("show", "made", "--history"), "discarded", "nothing was done")

	done, err := p.Retry(t.Context(), web.Retry{Targets: []string{"made"}, Agreed: price.Agreed, Why: "odd", Build: true})
	require.NoError(t, err)
	require.Equal(t, "2 tasks discarded; the build starts", done.Words)
	p.builds.Wait()
	n := p.look(t, "made")
	require.Len(t, n.Attempts, 2)
	require.True(t, n.Attempts[0].Retried)
	require.True(t, n.Attempts[1].Selected)
	require.Contains(t, n.Attempts[1].Reason, "odd")
	require.Contains(t, n.Attempts[1].Has, textDiff)
	patch, err := p.Diff(t.Context(), "made", 1, 2)
	require.NoError(t, err)
	require.Contains(t, patch.Text, "diff --git")

	_, err = p.Retry(t.Context(), web.Retry{Targets: []string{"made"}, Agreed: price.Agreed})
	require.ErrorContains(t, err, "not the one that was agreed to", "the same list names other attempts now")

	doc, err := p.Document(t.Context())
	require.NoError(t, err)
	_, err = p.Decide(t.Context(), web.Decision{Verb: "undo", ID: "another"})
	require.ErrorContains(t, err, "another decision")
	_, err = p.Decide(t.Context(), web.Decision{Verb: "undo", ID: doc.Last})
	require.NoError(t, err)
	require.True(t, p.look(t, "made").Attempts[0].Selected)
}

func TestPageApprovesWhatWasSeen(t *testing.T) {
	p, ufbuild := livePages(t)
	seen := p.look(t, "gate")
	require.Equal(t, "waiting", seen.State)
	require.Equal(t, []string{"g"}, seen.AsksOutputs)
	text, err := p.Text(t.Context(), "gate", seen.AsksN, textOutput+"g")
	require.NoError(t, err)
	require.Equal(t, "one\n", text.Text)

	require.NoError(t, os.WriteFile(filepath.Join(p.app.dir, "in.txt"), []byte("two\n"), 0o644))
	ufbuild("build", "--progress", "none")
	_, err = p.Decide(t.Context(), web.Decision{Verb: "approve", Address: "gate", Asks: seen.Asks})
	require.ErrorContains(t, err, "other bytes of gate wait now")
	_, err = p.Decide(t.Context(), web.Decision{Verb: "approve", Address: "gate"})
	require.ErrorContains(t, err, "name the bytes")
	_, err = p.Decide(t.Context(), web.Decision{Verb: "approve", Address: "gate", Asks: p.look(t, "gate").Asks, Why: "read it"})
	require.NoError(t, err)
	require.Equal(t, "fresh", p.look(t, "gate").State)

	for _, verb := range []string{"pin", "unpin"} {
		_, err = p.Decide(t.Context(), web.Decision{Verb: verb, Address: "made"})
		require.NoError(t, err)
		require.Equal(t, verb == "pin", p.look(t, "made").Pinned)
	}
	for verb, address := range map[string]string{"store": "made", "pin": "nothing", "accept": "", "select": "made"} {
		_, err = p.Decide(t.Context(), web.Decision{Verb: verb, Address: address})
		require.Error(t, err, verb)
	}
}

// TestPageStaysUpToDate holds the mark to its promise.
func TestPageStaysUpToDate(t *testing.T) {
	p, ufbuild := livePages(t)
	p.look(t, "made")
	before, err := p.Mark(t.Context())
	require.NoError(t, err)
	ufbuild("retry", "use", "--no-build", "--yes")
	after, err := p.Mark(t.Context())
	require.NoError(t, err)
	require.NotEqual(t, before, after)
	require.Equal(t, "stale", p.look(t, "use").State)

	require.NoError(t, os.WriteFile(filepath.Join(p.app.dir, "campaign.hcl"), []byte("task {"), 0o644))
	_, err = p.Document(t.Context())
	require.ErrorContains(t, err, "campaign.hcl", "the page is told what is wrong with it")
	text, err := p.Text(t.Context(), "made", 1, textLog)
	require.NoError(t, err, "what was shown can still be read")
	require.Equal(t, "talks\n", text.Text)
	_, err = p.Text(t.Context(), "made", 7, textLog)
	require.Error(t, err)
}
