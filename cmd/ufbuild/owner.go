package main

import (
	"os"
	"strconv"
	"strings"

	"github.com/ufbuild/ufbuild/cache"
)

// self names this process, told apart from every other one that ever had its number. What /proc does
// not tell stays empty: it is for people to read, kernel locks are what counts.
func self() cache.Owner {
	o := cache.Owner{PID: os.Getpid()}
	if b, err := os.ReadFile("/proc/sys/kernel/random/boot_id"); err == nil {
		o.BootID = strings.TrimSpace(string(b))
	}
	b, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return o
	}
	// The name in field 2 may hold blanks; what follows its bracket does not.
	_, rest, _ := strings.Cut(string(b[strings.LastIndexByte(string(b), ')'):]), " ")
	const startTime = 22 - 3 // fields are numbered from 1, rest begins at field 3
	if f := strings.Fields(rest); len(f) > startTime {
		o.StartTime, _ = strconv.ParseUint(f[startTime], 10, 64)
	}
	return o
}
