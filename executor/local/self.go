package local

import (
	"os"
	"strings"

	"github.com/ufbuild/ufbuild/cache"
)

// Self names this process so that it is told apart from every other one that ever had its number, on
// this machine and after a reboot.
func Self() cache.Owner {
	o := cache.Owner{PID: os.Getpid(), BootID: bootID()}
	if st, ok := readStat(o.PID); ok {
		o.StartTime = st.start
	}
	return o
}

// Alive reports whether the process that o names still runs on this machine.
func Alive(o cache.Owner) bool {
	if o.BootID != bootID() {
		return false
	}
	st, ok := readStat(o.PID)
	return ok && st.start == o.StartTime && st.state != 'Z'
}

// bootID is the kernel's name for the time since it started.
func bootID() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}
