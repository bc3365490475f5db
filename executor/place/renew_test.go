package place

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/effect"
	"github.com/ufbuild/ufbuild/lang"
)

// TestRemovedWhilePutting removes the output directory again and again while outputs of many instances are put into it. No Put
// fails for it, and what is put last is whole.
func TestRemovedWhilePutting(t *testing.T) {
	s := newStand(t)
	out := filepath.Join(s.root, "out")
	sets := make([][]cache.Output, 20)
	for i := range sets {
		sets[i] = []cache.Output{s.tree("t", s.entry("a/b/c", fmt.Sprint("c", i), 0o644), s.entry("a/d", fmt.Sprint("d", i), 0o755))}
	}
	for range 20 {
		require.NoError(t, os.RemoveAll(out))
		var wg sync.WaitGroup
		for i, set := range sets {
			wg.Go(func() {
				_, err := s.p.Put(lang.Address{Task: fmt.Sprint("t", i)}, set, nil)
				require.NoError(t, err)
			})
		}
		wg.Wait()
		for i, set := range sets {
			state, differ := s.p.Check(lang.Address{Task: fmt.Sprint("t", i)}, set, nil)
			require.Equal(t, InPlace, state, differ)
		}
	}
	require.True(t, s.p.Renewed())
}

// TestRemovedAtEveryStep removes the output directory, or what is being made in it, at every step of a Put.
func TestRemovedAtEveryStep(t *testing.T) {
	for _, what := range []string{"out", "out/.stage", "out/.stage/1"} {
		for at := 1; ; at++ {
			s := newStand(t)
			set := []cache.Output{s.tree("t", s.entry("a/b", "b", 0o644), cache.Entry{Path: "l", Kind: cache.Link, Target: "a"}), s.file("f", "f", 0o755)}
			specs := []OutPath{{Name: "f", Path: "f"}}
			steps := 0
			stepping(t, func() {
				if steps++; steps == at {
					require.NoError(t, os.RemoveAll(filepath.Join(s.root, what)))
				}
			})
			_, err := s.p.Put(lang.Address{Task: "x"}, set, specs)
			stepping(t, nil)
			require.NoError(t, err, "%s removed at step %d", what, at)
			if state, _ := s.p.Check(lang.Address{Task: "x"}, set, specs); state != InPlace { // after the exchange: the next build's
				_, err := s.p.Put(lang.Address{Task: "x"}, set, specs)
				require.NoError(t, err)
				state, differ := s.p.Check(lang.Address{Task: "x"}, set, specs)
				require.Equal(t, InPlace, state, "%s removed at step %d: %v", what, at, differ)
			}
			if steps < at {
				require.Greater(t, at, 8)
				break
			}
		}
	}
}

// stepping calls do before every change to the disk; nil ends that.
func stepping(t *testing.T, do func()) {
	if do == nil {
		effect.Intercept(nil)
		return
	}
	t.Cleanup(func() { effect.Intercept(nil) })
	effect.Intercept(func(effect.Effect) *effect.Fault { do(); return nil })
}
