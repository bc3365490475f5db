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
// Values that exist only during a build (what a dependency wrote) are asked for through [Results]
// by [Campaign.Render], which is deterministic too.
//
// # How a campaign is loaded
//
// load.go runs the steps, and each step reports all it finds: files are parsed in parallel (parse.go,
// jsonfile.go), blocks are held against the one table (schema.go, node.go) and declared (declare.go),
// variables and locals get their values, tasks are merged with the defaults of their groups
// (decode_tasks.go) and expanded into instances (instances.go, foreach.go, matrix.go), prompts are
// parsed (prompts.go), and references become dependencies (deps.go, needs.go). The checker (check_*.go)
// walks the syntax tree of every expression with types from the contracts' schemas, since HCL's own
// evaluator looks at nothing behind an unknown value. At run time render_eval.go evaluates, and
// flows.go tells by the marks on the values which outputs flowed in.
//
// # The dangers
//
// A Campaign returned together with errors may be looked at and drawn, never built.
package lang
