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
	p = &pages{app: a, flags: buildFlags{jobs: 2, logs: "none", remote: remoteFlags{mode: remoteOff}}}
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
	require.Len(t, n.Attempts, 2, p.note)
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

// TestPageBuildsOnlyWhatWasAgreedTo builds from the page, provided that the plan is the one that was shown.
func TestPageBuildsOnlyWhatWasAgreedTo(t *testing.T) {
	p, ufbuild := livePages(t)
	edit := func(text string) {
		require.NoError(t, os.WriteFile(filepath.Join(p.app.dir, "in.txt"), []byte(text), 0o644))
	}
	edit("two\n")
	plan, err := p.Plan(t.Context(), web.Work{Targets: []string{"use"}})
	require.NoError(t, err)
	require.Len(t, plan.Nodes, 2)
	require.Equal(t, "stale", plan.Nodes[0].State)
	require.Zero(t, plan.Paid)
	require.Contains(t, plan.Price, "last time")
	_, err = p.Build(t.Context(), web.Work{Targets: []string{"use"}})
	require.Equal(t, http.StatusUnprocessableEntity, httpStatus(err), "no plan at all")
	edit("three\n")
	_, err = p.Build(t.Context(), web.Work{Targets: []string{"use"}, Agreed: plan.Agreed})
	require.ErrorContains(t, err, "not the one that was agreed to", "in.txt is another one")
	require.NotContains(t, ufbuild("show", "made", "--history"), "in.txt changed", "nothing ran")
	plan, err = p.Plan(t.Context(), web.Work{Targets: []string{"use"}})
	require.NoError(t, err)
	done, err := p.Build(t.Context(), web.Work{Targets: []string{"use"}, Agreed: plan.Agreed})
	require.NoError(t, err)
	require.Equal(t, "the build of 2 tasks starts", done.Words)
	p.builds.Wait()
	require.Equal(t, "fresh", p.look(t, "use").State)
}

// TestPageOrdersItsBuildAlone pauses a build that the page started, lets it go on, and cancels it: the server stays.
func TestPageOrdersItsBuildAlone(t *testing.T) {
	p, _ := livePages(t)
	more, err := os.ReadFile(filepath.Join(p.app.dir, "campaign.hcl"))
	require.NoError(t, err)
	more = append(more, "task \"long\" { command = [\"sleep\", \"300\"] }\n"...)
	require.NoError(t, os.WriteFile(filepath.Join(p.app.dir, "campaign.hcl"), more, 0o644))
	plan, err := p.Plan(t.Context(), web.Work{Targets: []string{"long"}})
	require.NoError(t, err)
	_, err = p.Build(t.Context(), web.Work{Targets: []string{"long"}, Agreed: plan.Agreed})
	require.NoError(t, err)
	building := func() *web.Building {
		doc, err := p.Document(t.Context())
		require.NoError(t, err)
		return doc.Building
	}
	order := func(want string) web.Done {
		done, err := p.Order(t.Context(), web.Order{Build: building().Build, Want: want, Why: "tried"})
		require.NoError(t, err)
		return done
	}
	_, err = p.Order(t.Context(), web.Order{Build: "another", Want: "pause"})
	require.ErrorContains(t, err, "another build runs now")
	_, err = p.Order(t.Context(), web.Order{Build: building().Build, Want: "kill"})
	require.ErrorContains(t, err, "no order")
	require.Contains(t, order("pause").Words, "starts nothing new")
	require.Contains(t, building().Paused, "tried")
	require.Contains(t, order("resume").Words, "goes on")
	require.Empty(t, building().Paused)
	require.Contains(t, order("cancel").Words, "the build of")
	p.builds.Wait()
	require.NoError(t, p.app.context().Err(), "the order was to the build")
	require.Nil(t, building())
	_, err = p.Order(t.Context(), web.Order{Want: "pause"})
	require.ErrorContains(t, err, "no build runs here")
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
