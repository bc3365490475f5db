package lang

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTasksShareTheOutputsTheyDeclareAlike(t *testing.T) {
	var p packs
	c := new(Contract)
	lists := map[string]func() []Output{
		"two": func() []Output {
			return []Output{{Name: "a", Path: "a", Contract: c}, {Name: "b", Tree: []string{"**"}}}
		},
		"one":   func() []Output { return []Output{{Name: "a", Path: "a"}} },
		"other": func() []Output { return []Output{{Name: "a", Path: "b"}} },
	}
	for name, list := range lists {
		first := p.sharedOutputs(list())
		assert.Equal(t, list(), first, name)
		assert.Same(t, &first[0], &p.sharedOutputs(list())[0], name)
	}
	assert.Nil(t, p.sharedOutputs(nil))
}

// A field of an output that nobody compares would be that of another task.
func TestOutputsAreComparedToTheLastField(t *testing.T) {
	for i := range reflect.TypeFor[Output]().NumField() {
		var o Output
		f := reflect.ValueOf(&o).Elem().Field(i)
		switch f.Kind() {
		case reflect.String:
			f.SetString("x")
		case reflect.Bool:
			f.SetBool(true)
		case reflect.Slice:
			f.Set(reflect.ValueOf([]string{"x"}))
		case reflect.Pointer:
			f.Set(reflect.ValueOf(new(Contract)))
		default:
			require.Fail(t, "a field of a kind that this test does not set", reflect.TypeFor[Output]().Field(i).Name)
		}
		assert.False(t, o.equal(Output{}), reflect.TypeFor[Output]().Field(i).Name)
		assert.True(t, o.equal(o))
	}
}
