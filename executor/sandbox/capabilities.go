package sandbox

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// around are the capabilities of root by which the limits could be got around: to look into other processes, also at
// their environment, to mount, to reach devices and memory, and to change the kernel.
var around = []uintptr{
	unix.CAP_SYS_ADMIN, unix.CAP_SYS_PTRACE, unix.CAP_PERFMON, unix.CAP_BPF, unix.CAP_CHECKPOINT_RESTORE, unix.CAP_SYS_MODULE,
	unix.CAP_SYS_RAWIO, unix.CAP_SYS_BOOT, unix.CAP_SYSLOG, unix.CAP_MAC_ADMIN, unix.CAP_MAC_OVERRIDE, unix.CAP_MKNOD,
}

// dropCapabilities takes what is around from whatever the calling thread executes. It means something for root alone:
// a program of anybody else starts without any.
func dropCapabilities() error {
	for _, c := range around {
		has, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, c, 0, 0, 0)
		if errors.Is(err, unix.EINVAL) || err == nil && has == 0 {
			continue // this kernel does not know it, or it is gone already
		}
		if err != nil {
			return fmt.Errorf("read capabilities: %w", err)
		}
		if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_LOWER, c, 0, 0); err != nil && !errors.Is(err, unix.EINVAL) {
			return fmt.Errorf("drop capabilities: %w", err)
		}
		err = unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
		if err != nil && !(errors.Is(err, unix.EPERM) && unix.Geteuid() != 0) {
			return fmt.Errorf("drop capabilities: %w", err)
		}
	}
	return nil
}
