// Package workertest is a server of the Remote Execution API that executes, for tests. It runs real processes on this machine, as a
// stranger would: it knows the API and nothing of ufbuild. It misbehaves on demand: a [Behaviour] bends one execution, the faults
// of remotetest bend the store behind it, and [Worker.Crash] takes down the server with what runs there.
package workertest
