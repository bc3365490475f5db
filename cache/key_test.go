package cache

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache/digest"
)

// Keys are in stores: a change here orphans everything that was paid for.
func TestKeysAreFixed(t *testing.T) {
	for range 2 { // hashers are reused
		require.Equal(t, "k:e46171801c1b14e1e3c3702d39fd0f6bd00586078da05048cbccd09d188b059d", KeyOf([]byte("manifest")).String())
		require.Equal(t, "v:6f5b3f0110418ddc332fe2ab08f62924eaf338a077eea657222d8b122468a81d", VerdictKeyOf([]byte("contract"), []digest.Digest{digest.Of([]byte("out")), {}}).String())
	}
}

func TestKeysDiffer(t *testing.T) {
	a, b := digest.Of([]byte("a")), digest.Of([]byte("b"))
	seen := map[string]string{}
	for name, sum := range map[string][32]byte{
		"manifest":       KeyOf([]byte("m")),
		"no manifest":    KeyOf(nil),
		"verdict":        VerdictKeyOf([]byte("m"), nil),
		"absent output":  VerdictKeyOf([]byte("m"), []digest.Digest{{}}),
		"one output":     VerdictKeyOf([]byte("m"), []digest.Digest{a}),
		"two outputs":    VerdictKeyOf([]byte("m"), []digest.Digest{a, b}),
		"in other order": VerdictKeyOf([]byte("m"), []digest.Digest{b, a}),
		"bare digest":    digest.Of([]byte("m")).Sum,
		"output in text": VerdictKeyOf(append([]byte("m"), a.Sum[:]...), nil),
	} {
		text := Key(sum).String()
		require.Empty(t, seen[text], name)
		seen[text] = name
	}
}

func TestKeyText(t *testing.T) {
	k, v := KeyOf([]byte("m")), VerdictKeyOf([]byte("m"), nil)
	parsed, err := ParseKey(k.String())
	require.NoError(t, err)
	require.Equal(t, k, parsed)
	var verdict VerdictKey
	require.NoError(t, verdict.UnmarshalText([]byte(v.String())))
	require.Equal(t, v, verdict)
	require.Equal(t, k.String()[2:14], k.Short())
	require.Equal(t, v.String()[2:14], v.Short())
	for _, bad := range []string{"", "k:", v.String(), k.String() + "0", k.String()[2:], "k:" + k.Short(), "K:" + k.String()[2:]} {
		_, err := ParseKey(bad)
		require.Error(t, err, bad)
	}
	require.Error(t, verdict.UnmarshalText([]byte(k.String())))
	text, err := Key{}.MarshalText()
	require.NoError(t, err)
	require.Empty(t, text)
	require.NoError(t, k.UnmarshalText(text))
	require.True(t, k.IsZero())
	require.NoError(t, v.UnmarshalText(nil))
	require.True(t, v.IsZero())
}

func FuzzParseKey(f *testing.F) {
	f.Add(KeyOf(nil).String())
	f.Fuzz(func(t *testing.T, s string) {
		if k, err := ParseKey(s); err == nil && k.String() != s {
			t.Fatalf("%q parsed and printed as %q", s, k)
		}
	})
}
