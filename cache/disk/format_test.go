package disk

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
)

// The stores below testdata were written once, each by the version that had its format first, and are never written again:
// whatever a later version does, it reads them. The flag makes the store of a new format where there is none yet.
var writeStore = flag.Bool("write-store", false, "write the store of the present format into testdata")

// storedRecords are those of the stored stores.
func storedRecords() []cache.Record {
	k, tokens, cost := cache.KeyOf([]byte("manifest\n")), int64(1200), 0.42
	report := digest.Of([]byte("# Findings\n"))
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	return []cache.Record{
		cache.StartedRecord(cache.Attempt{Key: k, Ordinal: 1, Address: "task.lint", Campaign: "/home/user/campaign", Build: "b1",
			Manifest: digest.Of([]byte("manifest\n")), Reason: "first attempt", Rung: "large", StartedAt: at,
			Owner: cache.Owner{PID: 4711, BootID: "01234567-89ab-cdef-0123-456789abcdef", StartTime: 42}, Workspace: "/w/1"}),
		cache.CapturedRecord(k, 1, cache.Captured{Exit: 1, Outputs: []cache.Output{{Name: "report", Exists: true, Digest: report, Mode: 0o644}},
			Usage: cache.Usage{InputTokens: &tokens, CostUSD: &cost}, Duration: time.Minute, Where: "local"}),
		cache.VerdictRecord(k, 1, cache.Verdict{Key: cache.VerdictKeyOf([]byte("contract\n"), []digest.Digest{report}), Messages: []string{"too short"}}),
		cache.EndedRecord(k, 1, cache.Rejected, "too short", at.Add(time.Minute)),
		cache.DiscardRecord(k, 1, cache.Discard{ID: "r1", Who: "user", Why: "again", Campaign: "/home/user/campaign", When: at}),
		cache.StartedRecord(cache.Attempt{Key: k, Ordinal: 2, Address: "task.lint"}),
		cache.DiscardRecord(k, 2, cache.Discard{ID: "r2"}),
		cache.RestoreRecord(k, 2, cache.Discard{ID: "r2"}),
	}
}

func TestStoresOfEveryFormatAreRead(t *testing.T) {
	if *writeStore {
		dir, err := filepath.Abs("testdata/format1")
		require.NoError(t, err)
		require.NoFileExists(t, dir, "it is never written again")
		s := open(t, dir)
		for _, b := range []string{"manifest\n", "# Findings\n", string(make([]byte, smallBlob+1))} {
			_, err := cache.PutBytes(s, []byte(b))
			require.NoError(t, err)
		}
		for _, r := range storedRecords() {
			require.NoError(t, s.Append(r))
		}
		require.NoError(t, s.RegisterCampaign("/home/user/campaign"))
		require.NoError(t, s.Close())
	}
	stores, err := filepath.Glob("testdata/format*")
	require.NoError(t, err)
	require.NotEmpty(t, stores)
	for _, dir := range stores {
		writable := filepath.Join(t.TempDir(), "store")
		require.NoError(t, os.CopyFS(writable, os.DirFS(dir)))
		abs, err := filepath.Abs(dir)
		require.NoError(t, err)
		for at, o := range map[string]Options{abs: {ReadOnly: true}, writable: {}} {
			s, err := Open(at, o)
			require.NoError(t, err)
			k := cache.KeyOf([]byte("manifest\n"))
			all, err := s.Attempts(k)
			require.NoError(t, err)
			require.Equal(t, cache.Fold(k, storedRecords()), all)
			b, err := cache.ReadAll(s, all[0].Captured.Outputs[0].Digest, -1)
			require.NoError(t, err)
			require.Equal(t, "# Findings\n", string(b))
			_, err = cache.ReadAll(s, digest.Of(make([]byte, 64<<10+1)), -1)
			require.NoError(t, err)
			roots, err := s.Campaigns()
			require.NoError(t, err)
			require.Equal(t, []string{"/home/user/campaign"}, roots)
			problems, err := s.Verify(t.Context())
			require.NoError(t, err)
			require.Empty(t, problems)
			if !o.ReadOnly {
				require.NoError(t, s.Append(cache.EndedRecord(k, 2, cache.OK, "", time0)))
			}
			require.NoError(t, s.Close())
		}
	}
}
