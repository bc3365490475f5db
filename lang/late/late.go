// Package late holds the library for JSON Schema back until a schema is to be compiled.
//
// When that library comes up it compiles the meta schemas of five drafts: 2.5 ms and 1.7 MB in each start of the program, of which
// few compile a schema. So its record of what is to be initialised is linked to by name, and says that it is done until [Up] is called.
// This package imports next to nothing, for it has to be initialised before that one.
//
// The promise: after [Up] the library is as it would be without this package. Where the record is not what it is known to be, with
// another toolchain or another version of the library, nothing is held back. Danger: who compiles a schema without [Up] finds no drafts.
package late

import (
	"runtime"
	"sync"
	_ "unsafe" // for go:linkname
)

// record begins as the runtime's initTask does: functions follow it.
type record struct {
	state     uint32
	functions uint32
}

// What a record says of itself.
const (
	waiting = 0
	done    = 2

	expected = 2 // functions: one for its variables, and one of its own
)

//go:linkname schemas github.com/santhosh-tekuri/jsonschema/v6..inittask
var schemas record

//go:linkname initialise runtime.doInit
func initialise(records []*record)

var held bool // whether the library was held back when the program started

// known is the release of Go of which it is known what such a record says. Of later ones nobody knows.
const known = "go1.26"

func init() {
	v := runtime.Version()
	if held = v[:min(len(v), len(known))] == known && schemas == (record{waiting, expected}); held {
		schemas.state = done
	}
}

// Up returns when the library has come up. Any goroutine may call it, any number of times.
func Up() {
	once.Do(func() {
		if held {
			schemas.state = waiting
			initialise([]*record{&schemas})
		}
	})
}

var once sync.Once
