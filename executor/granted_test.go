package executor

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestGranted(t *testing.T) {
	const m, h = time.Minute, time.Hour
	for name, c := range map[string]struct{ timeout, beside, most, program, all time.Duration }{
		"nothing is known":           {2 * h, 2 * m, 0, 2 * h, 2*h + 2*m},
		"both fit":                   {h, 2 * m, 2 * h, h, h + 2*m},
		"both fit just":              {2*h - 2*m, 2 * m, 2 * h, 2*h - 2*m, 2 * h},
		"the program has it all":     {2 * h, 2 * m, 2 * h, 2*h - 2*m, 2 * h},
		"a little more than fits":    {2*h - m, 2 * m, 2 * h, 2*h - 2*m, 2 * h},
		"most goes to the program":   {20 * m, 15 * m, 20 * m, 19 * m, 20 * m},
		"a program of far less time": {10 * m, 15 * m, 20 * m, 10 * m, 20 * m},
	} {
		program, all := Granted(c.timeout, c.beside, c.most)
		require.Equal(t, []time.Duration{c.program, c.all}, []time.Duration{program, all}, name)
	}
}
