package executor

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/mem"
	"github.com/ufbuild/ufbuild/executor/journal"
	"github.com/ufbuild/ufbuild/executor/source"
	"github.com/ufbuild/ufbuild/lang"
)

// broken is a store whose disk fails under it.
type broken struct {
	cache.Store
	workdir string
}

func (broken) Attempts(cache.Key) ([]cache.Attempt, error) {
	return nil, errors.New("the disk is gone")
}

func (b broken) Workdir() string { return b.workdir }

// What a person pinned and nobody can read now is not run, and paid, once more.
func TestPinThatCannotBeReadIsNotPassedOver(t *testing.T) {
	root := t.TempDir()
	a, old, now := lang.Address{Task: "a"}, cache.KeyOf([]byte("old")), cache.KeyOf([]byte("now"))
	j, err := journal.Open(root)
	require.NoError(t, err)
	require.NoError(t, j.Append(journal.Ruled(journal.Ruling{
		Attempt: journal.Attempt{Key: old, Ordinal: 1}, ID: "p", Address: a, Word: journal.Pin, For: now,
	})))
	require.NoError(t, j.Close())
	view, _, err := journal.Read(root)
	require.NoError(t, err)
	d := &Decider{Store: broken{Store: mem.New("")}, View: view}
	dec := Decision{Action: &Action{Address: a}, Key: now}
	require.True(t, d.tryRuling(context.Background(), &dec))
	require.Equal(t, Broken, dec.Answer)
	require.ErrorContains(t, dec.Err, "the disk is gone")
}

func TestAttemptsUnderWayThatCannotBeListed(t *testing.T) {
	store := broken{mem.New(""), filepath.Join(t.TempDir(), "work")}
	found, err := AttemptsUnderWay(store, "/c")
	require.NoError(t, err)
	require.Empty(t, found)
	require.NoError(t, os.WriteFile(store.workdir, nil, 0o600))
	_, err = AttemptsUnderWay(store, "/c")
	require.ErrorContains(t, err, "read work directory", "nobody may think that nothing runs")
}

func TestEndOfALongLog(t *testing.T) {
	d := &Decider{Store: mem.New(t.TempDir())}
	for _, n := range []int{0, 5, maxLog, maxLog + 7} {
		text := strings.Repeat("x", max(n-4, 0)) + "end\n"
		log, err := cache.PutBytes(d.Store, []byte(text))
		require.NoError(t, err)
		got := d.logTail(log)
		require.Len(t, got, min(len(text), maxLog))
		require.True(t, strings.HasSuffix(string(got), "end\n"))
	}
}

func TestWhatIsExportedIsNoSource(t *testing.T) {
	c := &lang.Campaign{Tasks: []*lang.Task{{Instances: []*lang.Instance{{Exports: []lang.Export{{To: "reports/"}, {To: "docs/gen"}}}}}}}
	found := map[string]source.File{}
	for _, p := range []string{"reports/a", "reports/deep/b", "docs/gen/c", "docs/general", "docs/d", "reports.md", "x/reports/e"} {
		found[p] = source.File{Path: p}
	}
	dropExported(found, c)
	var left []string
	for _, f := range sortedFiles(found) {
		left = append(left, f.Path)
	}
	require.Equal(t, []string{"docs/d", "docs/general", "reports.md", "x/reports/e"}, left)
}
