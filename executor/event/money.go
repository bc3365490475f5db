package event

import (
	"fmt"
	"math"
	"strings"
)

// plainest bounds what is written in digits: nobody spends more, and an absurd price must not fill a screen.
const plainest = 1e12

// Dollars writes an amount of money, the same way everywhere. Below a dollar it keeps up to four digits, since an
// attempt of a cheap model costs less than a cent.
func Dollars(usd float64) string {
	switch abs := math.Abs(usd); {
	case math.IsNaN(usd) || abs >= plainest:
		return fmt.Sprintf("$%.3g", usd)
	case abs >= 1 || abs == 0:
		return fmt.Sprintf("$%.2f", usd)
	case usd > 0 && usd < 0.00005:
		return "<$0.0001"
	}
	s := fmt.Sprintf("$%.4f", usd)
	for range 2 {
		s = strings.TrimSuffix(s, "0")
	}
	return s
}
