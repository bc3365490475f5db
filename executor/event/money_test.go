package event

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDollars(t *testing.T) {
	for usd, want := range map[float64]string{
		0: "$0.00", 12.345: "$12.35", 1: "$1.00", 0.5: "$0.50", 0.04: "$0.04", 0.0375: "$0.0375", 0.125: "$0.125",
		0.0001: "$0.0001", 0.00004: "<$0.0001", -0.25: "$-0.25", 4e3: "$4000.00", 1e300: "$1e+300", math.Inf(1): "$+Inf",
	} {
		require.Equal(t, want, Dollars(usd))
	}
	require.Equal(t, "$NaN", Dollars(math.NaN()))
}
