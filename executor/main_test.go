package executor

import (
	"os"
	"testing"

	"github.com/ufbuild/ufbuild/executor/surroundings"
)

func TestMain(m *testing.M) {
	surroundings.Settle()
	os.Exit(m.Run())
}
