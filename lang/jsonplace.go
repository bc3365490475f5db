package lang

import (
	"bytes"
	"encoding/json"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// placeInJSON finds the byte at which the value of a JSON pointer, given as its steps, begins in a document.
func placeInJSON(doc []byte, steps []string) (offset int, ok bool) {
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.UseNumber()
	for _, s := range steps {
		if !enterJSON(dec, s) {
			return 0, false
		}
	}
	at := int(dec.InputOffset())
	for at < len(doc) && strings.ContainsRune(" \t\r\n:,", rune(doc[at])) {
		at++
	}
	return at, at < len(doc)
}

// keyInJSON finds where the name of a property stands, with its quotes, in the object that steps lead to.
func keyInJSON(doc []byte, steps []string, name string) (start, end int, ok bool) {
	dec := json.NewDecoder(bytes.NewReader(doc))
	for _, s := range steps {
		if !enterJSON(dec, s) {
			return 0, 0, false
		}
	}
	if !enterJSON(dec, name) {
		return 0, 0, false
	}
	end = int(dec.InputOffset())
	before := bytes.TrimRight(doc[:end], " \t\r\n:") // the decoder may have read on to the value
	end = len(before)
	written, err := json.Marshal(name)
	if err != nil || !bytes.HasSuffix(before, written) {
		return 0, 0, false // spelt with escapes
	}
	return end - len(written), end, true
}

// enterJSON moves before the value of a property, or before an element, of the value that comes next.
func enterJSON(dec *json.Decoder, step string) bool {
	open, err := dec.Token()
	if err != nil || open != json.Delim('{') && open != json.Delim('[') {
		return false
	}
	for n := 0; dec.More(); n++ {
		name := strconv.Itoa(n)
		if open == json.Delim('{') {
			key, err := dec.Token()
			if err != nil {
				return false
			}
			name, _ = key.(string)
		}
		if name == step {
			return true
		}
		var passed json.RawMessage
		if dec.Decode(&passed) != nil {
			return false
		}
	}
	return false
}

// maxDigits bounds the spelling of a number; a double has 17 digits.
const maxDigits = 1000

// FitsDouble reports whether a double holds a JSON number, up to rounding. Exact arithmetic on 1e999999 or its inverse
// would take a megabyte and seconds, and no reader could use it.
func FitsDouble(number string) bool {
	f, err := strconv.ParseFloat(number, 64)
	if err != nil || math.IsInf(f, 0) || len(number) > maxDigits {
		return false
	}
	if f != 0 {
		return true
	}
	digits, _, _ := strings.Cut(strings.ToLower(number), "e")
	_, exact := new(big.Rat).SetString(number) // of an exponent beyond an int64 there is none, and who asks for it gets nil
	return exact && !strings.ContainsAny(digits, "123456789")
}

// WildNumber finds the first number in a decoded document that no double holds, as the steps to it: members by name, items by
// number.
func WildNumber(v any) (steps []string, found bool) {
	switch v := v.(type) {
	case json.Number:
		return nil, !FitsDouble(string(v))
	case []any:
		for i := range v {
			if steps, found := WildNumber(v[i]); found {
				return append([]string{strconv.Itoa(i)}, steps...), true
			}
		}
	case map[string]any:
		for _, k := range sortedKeys(v) {
			if steps, found := WildNumber(v[k]); found {
				return append([]string{k}, steps...), true
			}
		}
	}
	return nil, false
}
