// Package lang turns campaign files into a checked, plain-data Campaign.
//
// # The nouns
//
// A [Campaign] is everything declared by the campaign files of one directory. A [Task] is one
// declared block; its [Instance] values are the concrete units that for_each, matrix and loops make
// of it. A [Diagnostic] is a problem in the text, with a range, a stable code and a way out.
//
// # The promises
//
// [Load] is pure: the same files and variables give the same campaign in the same order. It reports
// every problem at once and returns what could be understood even when there are errors. Everything
// it hands out is plain data with source ranges; no HCL or cty type is in an exported signature.
// Values that exist only during a build (what a dependency wrote) are asked for through [Upstream]
// by [Campaign.Render], which is deterministic too.
//
// # The dangers
//
// A Campaign returned together with errors may be looked at and drawn, never built.
package lang
