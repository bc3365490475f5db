package digest

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

// The sum of nothing is BLAKE3's published test vector.
const emptySum = "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"

func TestOf(t *testing.T) {
	require.Equal(t, "b3:"+emptySum+"/0", Of(nil).String())
	require.False(t, Of(nil).IsZero(), "the empty blob is content")
	for _, n := range []int{0, 1, 1024, 8193, 3 << 20} {
		b := bytes.Repeat([]byte{7}, n)
		d, err := FromReader(iotest.HalfReader(bytes.NewReader(b)))
		require.NoError(t, err)
		require.Equal(t, Of(b), d)
		h := NewHasher()
		_, _ = h.Write(b[:n/2])
		require.Equal(t, Of(b[:n/2]), h.Digest())
		_, _ = h.Write(b[n/2:])
		require.Equal(t, Of(b), h.Digest())
	}
	broken := errors.New("broken")
	_, err := FromReader(iotest.ErrReader(broken))
	require.ErrorIs(t, err, broken)
}

func TestParse(t *testing.T) {
	good := "b3:" + emptySum + "/12"
	d, err := Parse(good)
	require.NoError(t, err)
	require.Equal(t, int64(12), d.Size)
	require.Equal(t, emptySum, d.Hex())
	for _, bad := range []string{
		"", "none", emptySum, "b3:" + emptySum, "b3:" + emptySum + "/", "b3:" + emptySum + "/-1", "b3:" + emptySum + "/+1",
		"b3:" + emptySum + "/01", "b3:" + emptySum + "/1 ", "b3:" + emptySum + "/99999999999999999999", "b2:" + emptySum + "/1",
		strings.ToUpper(good), "b3:" + emptySum[1:] + "g/1", "b3:" + emptySum[2:] + "/100", "b3:" + strings.Repeat("0", 64) + "/0",
	} {
		_, err := Parse(bad)
		require.Error(t, err, bad)
	}
}

func TestText(t *testing.T) {
	type record struct {
		D Digest `json:"d"`
	}
	for _, want := range []record{{}, {Of([]byte("x"))}} {
		b, err := json.Marshal(want)
		require.NoError(t, err)
		have := record{Of([]byte("overwritten"))}
		require.NoError(t, json.Unmarshal(b, &have))
		require.Equal(t, want, have)
	}
	require.Equal(t, "none", Digest{}.String())
	require.Error(t, new(Digest).UnmarshalText([]byte("none")))
}

func FuzzParse(f *testing.F) {
	f.Add("b3:" + emptySum + "/0")
	f.Add("b3:/")
	f.Fuzz(func(t *testing.T, s string) {
		d, err := Parse(s)
		if err == nil && d.String() != s {
			t.Fatalf("%q parsed and printed as %q", s, d)
		}
	})
}
