package source

import (
	"os"
	"testing"

	"github.com/ufbuild/ufbuild/executor/surroundings"
)

func TestMain(m *testing.M) {
	surroundings.Settle()
	_ = os.Setenv("HOME", "/no-home") // what git ignores is said there, too
	os.Exit(m.Run())
}
