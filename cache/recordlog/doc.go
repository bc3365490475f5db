// Package recordlog is an append-only log of text records that survives crashes.
//
// A record is one line, readable with any pager:
//
//	<crc32c of the payload, 8 hex digits> <payload>\n
//
// The payload is any text without a newline; ufbuild writes JSON.
//
// The promises: [Writer.Append] is one write, visible to every reader when it returns, and durable after [Writer.Sync]. A
// log has at most one writer, held by a kernel lock on the file. Opening a writer cuts a last line that was never finished.
// [Scan] yields the records that can be proved and says where it found damage; it never yields what was not appended,
// and never stops at damage. A reader needs no lock and may follow a log that is being written: [Tail.End] is where to go on.
//
// The dangers: a record that was appended and not synced may be gone after a power failure, and a checksum of 32 bits
// stands against accidents, not against malice.
package recordlog
