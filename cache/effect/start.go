package effect

import "syscall"

// ForkExec is syscall.ForkExec.
func ForkExec(path string, argv []string, attr *syscall.ProcAttr) (int, error) {
	if err := Before(OpStart, path); err != nil {
		return 0, err
	}
	return syscall.ForkExec(path, argv, attr)
}
