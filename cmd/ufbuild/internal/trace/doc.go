// Package trace turns the events of a build into spans, and spans into files and messages that tools for
// looking at traces read: Chrome's trace event format, which Perfetto opens, and OTLP.
//
// A [Spans] folds events. Each attempt is a span with its phases as parts, on a lane that no other attempt
// has at that time; the wait before it is a span of its own. Times are those of the events.
package trace
