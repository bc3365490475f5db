// Package remote runs attempts by the Remote Execution API (REAPI), and carries those that an engine for jobs runs.
//
// The nouns:
//
//   - A [Courier] lays an attempt out here as ever, sends what lies there as a real Action with its Command and input root,
//     and lays what comes back over it. Capture, contracts and usage then work as they do for an attempt of this machine.
//   - [Runner] has a server execute the action (Execute and WaitExecution).
//   - [Served] is the other end for engines: `ufbuild exec-action` executes one action out of the store and puts the result
//     there.
//
// What an action holds: the workspace below "in", a script "run" that copies it to "ws", sets what depends on the place, and
// runs the program with both streams as one log; "ws" and what the script notes are the outputs. The action is of one attempt:
// its salt names it, so no result of another attempt is ever taken for it, and no retry meets what was retried.
//
// Promises:
//
//   - Values of secrets and passed variables are in no message: a worker gives them to the script itself, and where it does not
//     the program is not started.
//   - The operation is recorded before it is waited for. A broken stream is taken up again at once; an operation that the
//     server does not know any more is looked up in the action cache, and is *executor.Lost if it is not there. Nothing is
//     executed again behind the back of who pays.
//   - Whatever a server sends is verified, and laid below a root handle.
//
// Dangers: a server may execute an action twice by itself when a worker dies. It shows in the stages that the server reports and
// in what the script noted, and is said; it cannot be prevented from here. Nobody but the server can end what outlives the
// program over there.
package remote
