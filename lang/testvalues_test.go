package lang

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAFailedConditionShowsWhatItCameTo asks for the values behind a condition: those of the part that does not hold, and
// none that can be read in the condition itself.
func TestAFailedConditionShowsWhatItCameTo(t *testing.T) {
	for condition, want := range map[string]string{
		`length(instances("a")) == var.n + 1`:                         "length(instances(\"a\")) is 2.\nvar.n + 1 is 3.",
		`status("a#0") == "ok" && command("a#0")[1] == "z"`:           `command("a#0")[1] is "x  y".`,
		`status("a#0") == "no" && command("a#0")[1] == "z"`:           `status("a#0") is "ok".`,
		`(status("a#0") == "no") || !(var.n == 2)`:                    "status(\"a#0\") is \"ok\".\nvar.n is 2.",
		`strcontains(command("a#0")[1], "z")`:                         `command("a#0")[1] is "x  y".`,
		`alltrue([for i in instances("a") : status(i) == "skipped"])`: `[for i in instances("a") : status(i) == "skipped"] is [false, false].`,
		`var.token == "x"`: "",
		`false`:            "",
	} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "campaign.hcl"), []byte(`
variable "n" { default = 2 }
variable "token" {
  default   = "hush"
  sensitive = true
}
task "a" {
  loops   = var.n
  command = ["echo", "x  y"]
  secrets = { T = var.token }
}
`), 0o644))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "a.test.hcl"), []byte("test \"t\" {\n assert {\n  condition = "+condition+"\n  error_message = \"no\"\n }\n}\n"), 0o644))
		c, ds := Load(Options{Dir: dir})
		require.Empty(t, ds)
		tests, _, ds := ReadTests(dir, nil)
		require.Empty(t, ds)
		found := c.RunTest(tests[0])
		require.Len(t, found, 1, condition)
		require.Equal(t, "UF9301", found[0].Code)
		require.Equal(t, want, found[0].Detail, condition)
	}
}
