package settings

import (
	"slices"
	"testing"
)

func TestParse(t *testing.T) {
	got, err := Parse(`a=1;b="x%22y";c=`)
	want := []Setting{{"a", "1"}, {"b", `x"y`}, {"c", ""}}
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("got %q, %v", got, err)
	}
	if _, err := Parse("=1"); err == nil {
		t.Fatal("a setting without a name is none")
	}
}

// FuzzParse asks that no line makes Parse panic, and that what it accepts survives a round.
func FuzzParse(f *testing.F) {
	f.Add("a=1")
	f.Fuzz(func(t *testing.T, line string) {
		list, err := Parse(line)
		if err != nil {
			return
		}
		again, err := Parse(Format(list))
		if err != nil || !slices.Equal(list, again) {
			t.Fatalf("%q became %q (%v)", list, again, err)
		}
	})
}

// FuzzFormat asks that every value survives a round.
func FuzzFormat(f *testing.F) {
	f.Add("value")
	f.Fuzz(func(t *testing.T, value string) {
		list := []Setting{{"a", value}, {"b", value}}
		again, err := Parse(Format(list))
		if err != nil || !slices.Equal(list, again) {
			t.Fatalf("%q became %q (%v)", list, again, err)
		}
	})
}
