// Package live draws a running build on a terminal.
//
// A [Model] folds the events of a build into what a person wants to see: what runs and for how long, what
// waits and for what, what is paused, what was spent. Its [Model.View] is a pure function of that, a size and
// a time. A [Screen] keeps the view at the bottom of the terminal and lets other text scroll by above it. A
// [Display] drives both and reads the keys.
//
// Nothing here decides anything about a build; what a key asks for is done by functions of the caller. What
// tasks print is shown without its control characters, so a task cannot garble the terminal.
package live
