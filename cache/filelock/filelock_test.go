package filelock

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTry(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	open := func() *os.File {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		require.NoError(t, err)
		t.Cleanup(func() { _ = f.Close() })
		return f
	}
	try := func(f *os.File, offset, length int64, want bool) {
		t.Helper()
		got, err := Try(f, offset, length)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	a, b, third := open(), open(), open()
	try(a, 1<<60, 1, true)
	try(b, 1<<60, 1, false)
	try(b, 1<<60+1, 1, true)
	require.NoError(t, third.Close()) // gives nothing up
	try(b, 1<<60, 1, false)
	require.NoError(t, Unlock(a, 1<<60, 1))
	try(b, 1<<60, 1, true)
	require.NoError(t, b.Close()) // gives everything up
	try(a, 0, 0, true)
}

func TestTryShared(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	open := func(flag int) *os.File {
		f, err := os.OpenFile(path, flag, 0)
		require.NoError(t, err)
		t.Cleanup(func() { _ = f.Close() })
		return f
	}
	want := func(ok bool, try func(*os.File, int64, int64) (bool, error), f *os.File) {
		t.Helper()
		got, err := try(f, 7, 1)
		require.NoError(t, err)
		require.Equal(t, ok, got)
	}
	alone, a, b := open(os.O_RDWR), open(os.O_RDONLY), open(os.O_RDONLY)
	want(true, Try, alone)
	want(false, TryShared, a)
	want(false, Free, a)
	want(true, TryShared, alone) // which gives half of it up
	want(true, TryShared, a)
	want(true, TryShared, b)
	want(false, Try, alone)
	want(false, Free, alone)
	require.NoError(t, Unlock(a, 7, 1))
	require.NoError(t, b.Close())
	want(true, Free, alone)
	want(true, Try, alone)
}

func TestTryNeedsAWritableFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	f, err := os.Open(path)
	require.NoError(t, err)
	defer func() { _ = f.Close() }()
	_, err = Try(f, 0, 0)
	require.Error(t, err)
}
