package lang

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/zclconf/go-cty/cty"
)

// TestWildNumbersAreRefused wants no text that a task may have written to keep a plan busy by being a number: writing 1e99999999 out takes
// hours. What can be computed with in no time is left alone.
func TestWildNumbersAreRefused(t *testing.T) {
	for _, number := range []string{"1e99999999", "-1E-99999999", "1.5e+99999999", "1e10000"} {
		vars := map[string]cty.Value{"n": cty.StringVal(number), "d": cty.StringVal(`{"s": "1e99999999", "a": [` + number + `]}`)}
		for _, text := range []string{
			"tonumber(n)", "jsondecode(d).a[0]", "jsondecode(d)", `format("%s %05d", "x", n)`, `formatlist("%d", [n])[0]`,
		} {
			_, err := evalText(t, text, vars)
			require.ErrorContains(t, err, "thousands of digits", text)
		}
		if number == "1e10000" {
			continue // here text is converted before it can be looked at, and this can be computed with
		}
		for _, text := range []string{
			"n + 1", "1 - n", "n * 2", "n / 2", "floor(n)", "abs(n)", "max(n, n)", "sum([n])", `yamldecode("a: ${n}").a + 0`,
		} {
			v, err := evalText(t, text, vars)
			if err == nil && v.Type() == cty.Number && !isWild(v) {
				continue // floor of next to nothing
			}
			require.Error(t, err, "%s of %s", text, number)
		}
		v, err := evalText(t, "try(tonumber(n), 7) == 7", vars)
		require.NoError(t, err)
		require.Equal(t, cty.True, v)
	}
	digits := strings.Repeat("7", maxNumberDigits+1)
	vars := map[string]cty.Value{"n": cty.StringVal(digits), "ok": cty.StringVal(digits[1:]), "e": cty.StringVal("1e9999")}
	for _, text := range []string{"tonumber(n)", "parseint(n, 10)", "jsondecode(n)"} {
		_, err := evalText(t, text, vars)
		require.ErrorContains(t, err, "thousands of digits", text)
	}
	for _, text := range []string{
		`length(tostring(tonumber(ok))) == 5000`, `length(tostring(parseint(ok, 10))) == 5000`, `length(tostring(jsondecode(ok))) == 5000`, `format("%s", n) == n`, `"${n}" == n`,
		`tonumber(e) > 1`, `jsondecode("{\"sha\": \"3e123456\", \"n\": 1.5e3}").n == 1500`, `format("%q", "1e99999999") != ""`, `7 % 4 == 3`, `"3" * "4" == 12`,
	} {
		v, err := evalText(t, text, vars)
		require.NoError(t, err, text)
		require.Equal(t, cty.True, v, text)
	}
}
