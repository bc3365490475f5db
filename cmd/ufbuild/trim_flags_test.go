package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestAges wants no age to pass the end of numbers: it would lie in the future, and everything be older.
func TestAges(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"12h": 12 * time.Hour, "90d": 90 * 24 * time.Hour, "8w": 8 * 7 * 24 * time.Hour, "0d": 0, "15250w": 15250 * 7 * 24 * time.Hour,
	} {
		got, err := parseAge(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got)
	}
	for _, text := range []string{"", "d", "-1d", "1.5d", "15251w", "65535w", "106752d", "9999999999999999999d", "-1h", "90"} {
		_, err := parseAge(text)
		require.Error(t, err, text)
	}
}
