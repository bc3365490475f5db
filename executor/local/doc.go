// Package local runs attempts as processes of this machine. [Runner] implements executor.Runner and
// executor.Salvager.
//
// # One attempt
//
// The workspace is laid out; the program starts in it as the leader of a process group of its own, with
// exactly the environment it was given; standard output and error go to one log as they come, secrets
// masked on the way. TMPDIR is made when it is <Dir>/tmp. At its end everything that is left of it is killed, then outputs, leftovers and log
// are captured. The attempt directory stays: whoever asked for the attempt removes it once the result
// is recorded.
//
// # Nothing survives
//
//   - A timeout, an idle timeout and a cancelled context stop the attempt: SIGINT to its group, after the grace
//     period SIGKILL to everything of it.
//   - This process adopts orphans (PR_SET_CHILD_SUBREAPER), so that a grandchild that left the group and the
//     session is still found when the program ends. Such a process belongs to an attempt when its environment,
//     working directory or standard output names the attempt's directory; one that hid all three is killed
//     as soon as no older attempt runs that it may belong to.
//   - When this process is killed, the kernel kills the programs it started (PR_SET_PDEATHSIG), and a
//     watchdog kills what they started (see [WatchdogMain]). [watchdog.KillStrays] does the same for a build whose
//     watchdog was killed too.
//
// Processes that outlive their builder are found by UF_ATTEMPT=<build id>:<ordinal> in their environment. The runner
// does not add it: who makes the invocation does.
//
// # Limits
//
// A program that is to be limited is started by way of this one, as ufbuild-sandbox: it sets the limits of package
// sandbox for itself and then executes the program. Nothing runs with less than was asked for, and what was enforced
// is in the result. Limits need a program whose main calls [WatchdogMain].
//
// # In place
//
// In lang.ModeInplace the program runs in the campaign root. Mounts and files lie in .uf below the root
// while it runs, so attempts that have any are run one at a time; afterwards what the program wrote to .uf
// is moved to the attempt directory. Sources are compared before and after.
//
// # Dangers
//
// Linux only. A process that needs uninterruptible sleep to end cannot be killed; after a second the
// attempt ends without it. A program on a file system that does not answer does not start before that does; others start
// meanwhile, its attempt can be stopped, and should it start after that it is killed.
package local
