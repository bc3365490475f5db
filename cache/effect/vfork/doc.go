// Package vfork starts programs as syscall.ForkExec does, and holds up nobody while one on a file system that does not answer does not start.
//
// Between the birth of a process and its program the thread that made it stands still, since they share their memory. Package syscall
// keeps a processor of Go's scheduler waiting with it. For a program on a file system that does not answer that is for ever, and
// everything in this process stops as soon as the collector wants to run. Here the scheduler is told, as of every system call
// that may take long.
//
// What the process does until it is the program is a list of system calls (list in vfork_amd64.go), written before it is born and gone through by
// assembly that uses no stack: nothing of Go runs in it. An error comes back through the memory they share, where package syscall
// takes a pipe, and the kernel resets the handlers of signals, which takes package syscall a call for each. What a list cannot do, and
// kernels that do not know clone3, are left to package syscall.
package vfork
