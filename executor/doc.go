// Package executor brings wanted nodes up to date: it decides, admits, runs, judges and records.
//
// # One build, one flow
//
// A node becomes an [Action] when its dependencies are done. The action's canonical text is the
// manifest; the manifest's digest is the key. [Decider.Decide] looks the key up and answers fresh or
// stale with a [Reason]. A stale node gets an attempt: started, run by a [Runner], captured, judged
// by contract, ended, selected, put in place. Every step is a record in the store or the campaign's
// journal before the next one relies on it.
//
// # The promises
//
// [Builder.Plan] and [Builder.Run] decide with the same function, so they never disagree. One scheduler goroutine
// owns all node state and changes it through one method with a table of legal transitions; workers
// get plain data and send back one message. Nothing is ordered by a clock.
//
// # The dangers
//
// Nothing in here may believe an exit code: success is a verdict over captured bytes.
package executor
