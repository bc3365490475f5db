package edits

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// written is a script as text: an element with its mark.
func written(es []Edit[string]) string {
	var b strings.Builder
	for _, e := range es {
		b.WriteString(string(e.Op) + e.Item)
	}
	return b.String()
}

func TestBetween(t *testing.T) {
	split := func(s string) []string { return strings.Split(s, "") }
	require.Empty(t, Between[string](nil, nil))
	require.Equal(t, " a b", written(Between(split("ab"), split("ab"))))
	require.Equal(t, "+a+b", written(Between(nil, split("ab"))))
	require.Equal(t, "-a-b", written(Between(split("ab"), nil)))
	require.Equal(t, " a-b+c d", written(Between(split("abd"), split("acd"))))
}

// TestScriptsAreTrueAndShortest compares with the table of all longest common subsequences.
func TestScriptsAreTrueAndShortest(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 9))
	for range 3000 {
		a, b := make([]int, r.IntN(20)), make([]int, r.IntN(20))
		for _, s := range [][]int{a, b} {
			for i := range s {
				s[i] = r.IntN(4)
			}
		}
		from, to, kept := []int{}, []int{}, 0
		for _, e := range Between(a, b) {
			if e.Op != Added {
				from = append(from, e.Item)
			}
			if e.Op != Removed {
				to = append(to, e.Item)
			}
			if e.Op == Kept {
				kept++
			}
		}
		require.Equal(t, a, from)
		require.Equal(t, b, to)
		require.Equal(t, longest(a, b), kept, "%v %v", a, b)
	}
}

// longest is the length of the longest common subsequence.
func longest(a, b []int) int {
	t := make([][]int, len(a)+1)
	for i := range t {
		t[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			t[i][j] = max(t[i+1][j], t[i][j+1])
			if a[i] == b[j] {
				t[i][j] = t[i+1][j+1] + 1
			}
		}
	}
	return t[0][0]
}

func TestMuchThatDiffersIsReplacedWhole(t *testing.T) {
	a, b := make([]int, Most), make([]int, Most)
	for i := range a {
		a[i], b[i] = 2*i, 2*i+1
	}
	a[7], b[9] = -1, -1 // which the shortest script would keep
	es := Between(a, b)
	require.Len(t, es, 2*Most)
	for i, e := range es {
		require.Equal(t, i < Most, e.Op == Removed)
	}
}
