package main

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestVersionOfAProgramThatLeavesAnother asks a program that starts another one, which holds its output and goes on.
func TestVersionOfAProgramThatLeavesAnother(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "agent")
	require.NoError(t, writeProgram(program, "#!/bin/sh\nsleep 600 & echo $! > "+dir+"/pid\necho agent 1.2.3\n"))
	ctx, cancel := context.WithTimeout(t.Context(), endless)
	defer cancel()
	begun := time.Now()
	said, err := askVersion(ctx, program)
	pid, readErr := os.ReadFile(filepath.Join(dir, "pid"))
	require.NoError(t, readErr)
	n, convErr := strconv.Atoi(strings.TrimSpace(string(pid)))
	require.NoError(t, convErr)
	require.NoError(t, syscall.Kill(n, syscall.SIGKILL))
	require.NoError(t, err)
	require.Equal(t, "agent 1.2.3", said)
	require.Less(t, time.Since(begun), versionTimeout)
}
