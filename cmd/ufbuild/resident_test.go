package main

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestProgramGoesAndComesBack proves that pages of the program leave the process, and that it runs on without noticing.
func TestProgramGoesAndComesBack(t *testing.T) {
	held := func() (kb int) {
		b, err := os.ReadFile("/proc/self/status")
		require.NoError(t, err)
		for _, name := range []string{"RssFile:", "RssShmem:"} { // of a program on disk, and of one in memory
			_, rest, _ := strings.Cut(string(b), name)
			n, err := strconv.Atoi(strings.Fields(rest)[0])
			require.NoError(t, err)
			kb += n
		}
		return kb
	}
	before := held() // and what else a test touches meanwhile is little
	dropProgram()
	require.Less(t, held(), before)
}

func TestParsePart(t *testing.T) {
	p, ok := parsePart("00400000-01112000 r-xp 00001000 00:1b 1410587                            /usr/bin/uf build")
	require.True(t, ok)
	require.Equal(t, programPart{from: 0x400000, to: 0x1112000, file: "00:1b 1410587"}, p)
	p, ok = parsePart("01e21000-01eda000 rw-p 01a21000 00:1b 1410587                            /usr/bin/ufbuild")
	require.True(t, ok)
	require.True(t, p.written)
	for _, line := range []string{"Rss:                 676 kB", "7f1b841f6000-7f1b8459c000 rw-p 00000000 00:00 0 ", ""} {
		_, ok = parsePart(line)
		require.False(t, ok, line)
	}
}
