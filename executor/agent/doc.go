// Package agent knows how programs that carry out prompts are started and how their end is read.
//
// # The nouns
//
// A [Driver] is the knowledge about one adapter (claude, codex, …): the [Command] that hands a prompt
// to it, and what its stream says after it ended. [End] is that reading: usage, session, last words
// and a [Class]. A [Registry] finds the driver for an adapter's name; the command line wires it, so
// that neither this package nor the executor imports a concrete driver.
//
// [Compose] makes the full text that is sent: the rendered prompt, then a section on the declared
// outputs, then what the contract said of the try before. Only the rendered prompt is hashed, so a
// better wording of the rest re-runs nothing.
//
// # The promises
//
// Drivers are pure: they read no file, clock or environment, but for the zone of a time of day that a
// program names. Exit 0 is never proof: a reading may say failed, rate limited or account whatever the
// exit code. Text that is not known is never guessed to be one of the conditions of an account, since
// those pause a whole pool. Usage that a program does not report is unknown (nil), never zero.
//
// # The dangers
//
// Classification reads text that other programs may reword in any release. Every pattern has a test
// line; a new wording falls back to failed, which costs a try but never a wrong pause.
package agent
