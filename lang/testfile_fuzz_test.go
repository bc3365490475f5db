package lang

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzTestFile proves that no test file breaks its reader or a run of its tests.
func FuzzTestFile(f *testing.F) {
	for _, c := range testCodeDocs {
		for _, file := range append(c.Files(c.Bad), c.Files(c.Good)...) {
			if filepath.Ext(file.Path) == ".hcl" && file.Path != mainFile {
				f.Add(string(file.Bytes))
			}
		}
	}
	f.Add(`test "x" { mock "list" { output "names" { file = "/etc/passwd" } }` + "\n" + `assert { condition = instances("list") == [] }}`)
	dir := f.TempDir()
	require.NoError(f, os.WriteFile(filepath.Join(dir, mainFile), []byte(testExample), 0o644))
	f.Fuzz(func(t *testing.T, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "x.test.hcl"), []byte(text), 0o644))
		tests, _, _ := ReadTests(dir, nil)
		for _, one := range tests {
			c, ds := Load(Options{Dir: dir, Vars: one.Vars, Preset: one.Preset})
			if !ds.HasErrors() {
				c.RunTest(one)
			}
		}
	})
}
