package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/ufbuild/ufbuild/cache/effect"
)

// Want is what a person wants of a running build.
type Want string

// The wants.
const (
	WantHold Want = "pause"  // start nothing new
	WantGo   Want = "resume" // start again
	WantStop Want = "cancel" // end, as after a first Ctrl-C
	WantKill Want = "kill"   // end at once, as after a second one
)

// Order tells the build that runs in a campaign what a person wants. It names the build, so that one that was not heard, since
// its build died, means nothing to the next.
type Order struct {
	ID    string    `json:"id"`
	Build string    `json:"build"`
	Want  Want      `json:"want"`
	Who   string    `json:"who"`
	Why   string    `json:"why,omitempty"`
	Time  time.Time `json:"time"`
}

// orderName is a file below Dir. There is one order at a time: a later one replaces one that was not heard.
const orderName = "order"

// Give leaves an order for a running build. It does not wait; that it was heard is in the Holder that Held returns.
func Give(root string, o Order) error {
	b, err := json.Marshal(o)
	if err != nil {
		panic("BUG: encode order: " + err.Error())
	}
	if err := effect.Replace(filepath.Join(root, Dir, orderName), append(b, '\n')); err != nil {
		return fmt.Errorf("tell the build: %w", err)
	}
	return nil
}

// Given returns the order that lies there for a build. What cannot be read, or is for another build, is none.
func Given(root, build string) (Order, bool) {
	var o Order
	b, err := effect.ReadRegular(filepath.Join(root, Dir, orderName))
	if err != nil || json.Unmarshal(b, &o) != nil || o.Build != build || o.ID == "" {
		return Order{}, false
	}
	return o, true
}

// DropOrder removes an order, if one is there. The caller holds the campaign, or gave the order.
func DropOrder(root string) error {
	err := effect.Remove(filepath.Join(root, Dir, orderName))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("clear an order: %w", err)
	}
	return nil
}
