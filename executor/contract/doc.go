// Package contract judges captured outputs: it says whether bytes keep the promises their task made.
//
// # The nouns
//
// A [Subject] is one declared output with the bytes that were captured for it. [Judge] looks at all
// subjects of an attempt and gives a cache.Verdict. A [Document] is JSON outside the attempt that a
// rule compares with. [Manifest] is the canonical text of everything in the contracts that can
// change a verdict; together with the digests that were judged it makes the verdict key, so an
// edited contract judges stored bytes again and an edited description does not.
//
// # The rules
//
// An output that is not optional must exist. By kind: json and jsonl must be syntactically right,
// UTF-8, at most [MaxJSON] bytes and [MaxDepth] deep; markdown and text must be UTF-8, and markdown
// must not be blank; a tree must hold at least one file; binary is not looked into. Beside that min_bytes,
// max_bytes, the JSON Schema (2020-12, no reference leaves the campaign), min_items, unique, count,
// join, preserve, and last the validate command. Every broken rule is reported, at most
// [MaxMessages] messages an output. A contract with severity "warn" reports the same messages as
// warnings; a missing output is an error all the same, since that is a promise of the task.
//
// # The paths
//
// Rules name values by a small subset of JSONPath: "$", ".name", "['name']", "[0]", "[*]". A name
// that meets an array applies to each of its items, so "$.id" names the id of every finding in
// "[{…}, {…}]". join and preserve name another document before the "$": "properties:$.id" is output
// "properties" of the same attempt, or a [Document] of that name.
//
// # The promises
//
// Judging is pure but for validate commands: the same contracts and bytes give the same verdict.
// No bytes make it panic or recurse without bound. Nothing here reads a workspace.
//
// # The dangers
//
// A JSON document is held in memory while it is judged, with about ten times its size. A schema refers
// to files of the campaign only, which are in the verdict key; what the network says is in no key.
package contract
