package executor

import (
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestBareReasons proves that a reason that says anything but its kind is kept as it is, field by field.
func TestBareReasons(t *testing.T) {
	var r NodeResult
	r.setReason(Reason{Kind: FirstAttempt})
	require.Same(t, &firstAttempt, r.Reason)
	for i := range reflect.TypeFor[Reason]().NumField() {
		why := Reason{Kind: FirstAttempt}
		switch f := reflect.ValueOf(&why).Elem().Field(i); f.Interface().(type) {
		case ReasonKind:
			continue
		case time.Time:
			f.Set(reflect.ValueOf(time.Unix(1, 0)))
		default:
			switch f.Kind() {
			case reflect.String:
				f.SetString("x")
			case reflect.Int:
				f.SetInt(1)
			case reflect.Slice:
				f.Set(reflect.MakeSlice(f.Type(), 1, 1))
			default:
				t.Fatalf("a field of a new kind: %v", f.Type())
			}
		}
		r.setReason(why)
		require.Equal(t, why, *r.Reason, "field %d", i)
	}
}
