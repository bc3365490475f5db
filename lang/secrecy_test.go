package lang

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

const secret = "hunter2-s3cr3t"

// mistakes with a secret.
var mistakes = []string{
	`parseint(var.token, 10)`, `index(["a"], var.token)`, `tonumber(var.token)`, `jsondecode(var.token)`,
	`var.token + 1`, `{ a = 1 }[var.token]`, `regex("(", var.token)`, `file(var.token)`, `toset([var.token])`,
	`[for x in var.token : x]`, `duration(var.token)`, `var.token.x`, `{ "${var.token}" = 1 }.b`, `format("%d", var.token)`,
}

// TestSecretsAreNeverPrinted makes every kind of mistake with a secret and looks for it in all that
// comes out.
func TestSecretsAreNeverPrinted(t *testing.T) {
	places := []string{
		"locals {\n  x = %s\n}\n",
		"task \"t\" {\n  command = [\"echo\", %s]\n}\n",
		"task \"t\" {\n  command = [\"true\"]\n  secrets = { A = %s }\n}\n",
		"task \"t\" {\n  command = [\"true\"]\n  timeout = %s\n}\n",
		"task \"t\" {\n  command  = [\"true\"]\n  for_each = %s\n}\n",
		"locals {\n  y = var.token\n}\ntask \"t\" {\n  command = [\"true\"]\n  env = { A = %s, B = local.y }\n}\n",
		"variable \"v\" {\n  default = \"hunter2-s3cr3t\"\n  sensitive = true\n  validation {\n    condition = %[1]s == 1\n    error_message = \"bad ${var.v}\"\n  }\n}\n",
	}
	declared := "variable \"token\" {\n  type      = string\n  sensitive = true\n}\n"
	for _, e := range mistakes {
		for _, p := range places {
			dir := writeTree(t, map[string]string{"campaign.hcl": declared + fmt.Sprintf(p, e)})
			c, ds := Load(Options{Dir: dir, Environ: []string{"UF_VAR_token=" + secret}})
			for _, d := range ds {
				require.NotContains(t, d.Summary+d.Detail+d.Hint, secret, e)
			}
			for _, v := range c.Variables {
				require.NotContains(t, v.Value, secret)
			}
			for _, l := range c.Locals {
				require.NotContains(t, l.Value(), secret)
			}
			if ds.HasErrors() {
				continue
			}
			for _, task := range c.Tasks {
				for _, i := range task.Instances {
					r, ds := c.Render(i, fakeResults{})
					require.NotContains(t, fmt.Sprint(ds, r.Argv, r.Prompt, r.Vars, r.Env, r.Flows), secret)
				}
			}
		}
	}
}

func TestWriteTextOfSensitiveComposite(t *testing.T) {
	dir := writeTree(t, map[string]string{"campaign.hcl": `
variable "keys" {
  type      = list(string)
  sensitive = true
}
task "a" {
  command = ["true"]
  secrets = { K = var.keys[0] }
}
`})
	c, ds := Load(Options{Dir: dir, Vars: []VarInput{{Name: "keys", Value: `[hunter2]`, Origin: "--var"}}})
	var b bytes.Buffer
	require.NoError(t, WriteText(&b, ds, c.Source, TextOptions{}))
	require.Contains(t, b.String(), "UF9003")
	require.NotContains(t, b.String(), "hunter2")
}

// TestTestsNeverPrintSecrets makes every kind of mistake in each place of a test.
func TestTestsNeverPrintSecrets(t *testing.T) {
	places := []string{
		"assert {\n  condition = %s == 1\n  error_message = \"no\"\n}\n",
		"assert {\n  condition = %s\n  error_message = \"no\"\n}\n",
		"assert {\n  condition = false\n  error_message = \"${%s}\"\n}\n",
		"mock \"a\" {\n  status = %s\n}\n",
		"mock \"a\" {\n  output \"o\" { content = %s }\n}\n",
	}
	for _, e := range append(mistakes, "var.token", "local.token", `"is ${local.token}"`) {
		for _, p := range places {
			dir := writeTree(t, map[string]string{
				"campaign.hcl": `
variable "token" {
  type      = string
  sensitive = true
}
locals { token = var.token }
task "a" {
  command = ["true"]
  secrets = { A = local.token }
  output "o" { path = "o" }
}
`,
				"a.test.hcl": "test \"t\" {\nassert {\n  condition = true\n  error_message = \"\"\n}\n" + fmt.Sprintf(p, e) + "}\n",
			})
			c, ds := Load(Options{Dir: dir, Environ: []string{"UF_VAR_token=" + secret}})
			require.Empty(t, ds)
			tests, _, ds := ReadTests(dir, nil)
			require.Empty(t, ds)
			for _, d := range c.RunTest(tests[0]) {
				require.NotContains(t, d.Summary+d.Detail+d.Hint, secret, "%s in %s", e, p)
			}
		}
	}
}
