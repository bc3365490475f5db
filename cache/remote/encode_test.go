package remote_test

import (
	"slices"
	"testing"
	"time"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/remote"
)

func TestDirectories(t *testing.T) {
	e := remote.Encoder{Function: remote.SHA256}
	files := []remote.File{
		{Path: "src/a.go", Digest: e.Function.Of([]byte("a"))}, {Path: "src/sub/b.sh", Digest: e.Function.Of([]byte("b")), Exec: true},
		{Path: "link", Target: "src/a.go"}, {Path: "empty", Dir: true}, {Path: "src-x", Digest: e.Function.Of(nil)},
	}
	root, messages, err := e.Directory(files)
	require.NoError(t, err)
	require.Equal(t, root, messages[len(messages)-1].Digest)
	var d repb.Directory
	require.NoError(t, proto.Unmarshal(messages[len(messages)-1].Bytes, &d))
	require.Len(t, d.GetDirectories(), 2)
	require.Equal(t, "empty", d.GetDirectories()[0].GetName())
	require.Equal(t, "src/a.go", d.GetSymlinks()[0].GetTarget())
	slices.Reverse(files)
	other, _, err := e.Directory(files)
	require.NoError(t, err)
	require.Equal(t, root, other, "the order of a list means nothing")
	blob, err := e.Tree(files)
	require.NoError(t, err)
	var tree repb.Tree
	require.NoError(t, proto.Unmarshal(blob.Bytes, &tree))
	require.True(t, proto.Equal(&d, tree.GetRoot()))
	require.Len(t, tree.GetChildren(), 3)
	slices.Reverse(files)
	again, err := e.Tree(files)
	require.NoError(t, err)
	require.Equal(t, blob, again, "the order of a list means nothing")

	for _, bad := range [][]remote.File{
		{{Path: "../x"}}, {{Path: "/x"}}, {{Path: "a"}, {Path: "a"}}, {{Path: "a"}, {Path: "a/b"}}, {{Path: "\xff"}}, {{Path: "l", Target: "\xff"}},
	} {
		_, _, err := e.Directory(bad)
		require.Error(t, err, bad)
	}
}

func TestActionsAreDeterministic(t *testing.T) {
	e := remote.Encoder{Function: remote.BLAKE3}
	spec := remote.ActionSpec{
		Argv: []string{"sh", "-c", "x"}, Env: []remote.Property{{"B", "2"}, {"A", "1"}}, Secrets: []string{"TOKEN"},
		Outputs: []string{"b", "a"}, Platform: []remote.Property{{"pool", "big"}}, Root: e.Function.Of(nil), Timeout: time.Minute, Salt: []byte("s"),
	}
	action, command := e.Action(spec)
	turned := spec
	turned.Env = []remote.Property{{"A", "1"}, {"B", "2"}}
	turned.Outputs = []string{"a", "b"}
	again, _ := e.Action(turned)
	require.Equal(t, action, again)
	require.Equal(t, []string{"b", "a"}, spec.Outputs, "the caller's order is left alone")
	var c repb.Command
	require.NoError(t, proto.Unmarshal(command.Bytes, &c))
	require.Equal(t, "A", c.GetEnvironmentVariables()[0].GetName())
	platform := c.GetPlatform() //lint:ignore SA1019 where older servers read it
	require.Equal(t, remote.SecretProperty, platform.GetProperties()[1].GetName())
	require.Equal(t, "TOKEN", platform.GetProperties()[1].GetValue())
	one, _ := e.KeyAction(cache.KeyOf([]byte("one")))
	two, _ := e.KeyAction(cache.KeyOf([]byte("two")))
	require.NotEqual(t, one, two)
}

// TestKeyActionStays holds the action of a key to what it always was: another digest disowns everything that is shared.
func TestKeyActionStays(t *testing.T) {
	k := cache.KeyOf([]byte("manifest"))
	for f, want := range map[remote.Function]string{
		remote.BLAKE3: "8ddefe3eb53c507df92557da7e69b5dee7c02c051c4041e34ae46bf2c96b3fba/138",
		remote.SHA256: "8258ef7853d24166e1b465ddeb4bd65bfc70d01642e0a85938a7c0b396d60c82/138",
	} {
		have, _ := remote.Encoder{Function: f}.KeyAction(k)
		require.Equal(t, want, have.String())
	}
}
