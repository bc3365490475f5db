// Package submit has attempts run by the engine for jobs that a site has: Slurm, Kubernetes, Nomad, or any other that three
// commands can speak to.
//
// # One attempt
//
// [Runner] implements executor.Runner. What the attempt needs goes to a store that this machine and the job's both reach (a
// [Courier] carries it); the engine is handed a job that runs `ufbuild exec-action DIGEST --remote ADDRESS`; the job's state
// is asked for until the result is in the store; the result is taken from there as if it had been made here.
//
// # Promises
//
//   - The name of the job is recorded before the job is handed in, and follows from the attempt. A build that finds an
//     attempt of a dead one waits for the job of that name and hands in no other.
//   - A job that has begun is not begun again: exec-action leaves word in the store before it starts the task. An engine that
//     runs a job twice runs the task once; if that run is lost, the attempt is *executor.Lost.
//   - A stopped attempt cancels its job. What the job saves of it is taken all the same.
//   - An engine that cannot be asked is asked again. It never fails an attempt.
//
// # Dangers
//
// At least once is what engines promise, and between the word in the store and the start of the task lies an instant. The
// values of secrets are in no message of this package; a job has them from its engine, or from its machine.
package submit
