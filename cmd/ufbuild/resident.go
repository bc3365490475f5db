package main

import (
	"bufio"
	"fmt"
	"os"
	"reflect"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// dropProgram lets the kernel take away the pages of the program itself. Starting up touches nearly all of its 27 MB, and loading a
// campaign much of it; what is still needed comes back from the page cache within a millisecond. A page that was written to, as the
// loader does where a program lies at no fixed place, is no copy of the file: a mapping with one stays as it is. Whatever goes wrong
// costs memory and nothing else.
func dropProgram() {
	for _, p := range programParts() {
		_, _, _ = unix.Syscall(unix.SYS_MADVISE, uintptr(p.from), uintptr(p.to-p.from), unix.MADV_DONTNEED)
	}
}

// programParts are the mappings that can be dropped. Nothing writes to them once the program runs, and to be told takes the kernel 2 ms,
// so it is asked once.
var programParts = sync.OnceValue(func() (parts []programPart) {
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		return nil
	}
	defer f.Close()
	here := uint64(reflect.ValueOf(parsePart).Pointer())
	var all []programPart
	var program string
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := lines.Text()
		if p, ok := parsePart(line); ok {
			all = append(all, p)
			if p.from <= here && here < p.to {
				program = p.file
			}
			continue
		}
		if kb, ok := strings.CutPrefix(line, "Anonymous:"); ok && len(all) > 0 {
			all[len(all)-1].clean = strings.TrimSpace(kb) == "0 kB"
		}
	}
	for _, p := range all {
		if p.file == program && program != "" && p.clean && !p.written {
			parts = append(parts, p)
		}
	}
	return parts
})

// programPart is a mapping of a file into the memory of this process.
type programPart struct {
	from, to uint64
	file     string // its device and inode; those of memory without a file are the same for all of it
	written  bool   // it may be written to
	clean    bool   // nothing in it was
}

// parsePart reads the first line of a mapping in smaps.
func parsePart(line string) (p programPart, ok bool) {
	var mode, offset, device, inode string
	if n, _ := fmt.Sscanf(line, "%x-%x %s %s %s %s", &p.from, &p.to, &mode, &offset, &device, &inode); n < 6 {
		return p, false
	}
	p.file, p.written = device+" "+inode, strings.Contains(mode, "w")
	return p, inode != "0"
}
