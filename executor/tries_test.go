package executor

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/lang"
)

// A declared back-off is waited for, however long it is; what doubling makes of a short one is bounded.
func TestBackOff(t *testing.T) {
	b := &Builder{Jitter: func() float64 { return 0.5 }} // in the middle of the spread
	s := &scheduler{b: b}
	waits := func(declared time.Duration) (out []time.Duration) {
		for tries := 1; tries <= 4; tries++ {
			out = append(out, s.pause(&nodeState{tries: tries}, &lang.Instance{Settings: &lang.Settings{Retry: lang.Retry{Backoff: declared}}}))
		}
		return out
	}
	m := time.Minute
	require.Equal(t, []time.Duration{3 * m, 6 * m, 10 * m, 10 * m}, waits(3*m))
	require.Equal(t, []time.Duration{30 * m, 30 * m, 30 * m, 30 * m}, waits(30*m))
	require.Zero(t, waits(0)[3])
}
