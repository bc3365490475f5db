// Package importer turns ultrafuzz projects into campaigns.
//
// # The nouns
//
// A project is a directory with a topology (.ultrafuzz/topology.yml, versions 1 and 2), prompts beside
// it, and perhaps references.yml, audit-profiles.yml and ultrafuzz.toml. [Import] reads it and returns a
// [Result]: the files of a campaign and a list of notes. A [Note] says, with file and line, what could
// not be carried over or is not what it was.
//
// # The promises
//
// Nothing is dropped in silence: every field of every file is carried over, or there is a note about it.
// The campaign is in canonical format, and what [Import] made of sound projects passes ufbuild check.
// The same project gives the same files and notes in the same order. Nothing is written and nothing
// outside of the project is read.
//
// # The dangers
//
// A topology does not say what its contracts mean: their schemas are stubs to be completed by a person.
// Dependencies that a prompt refers to are no longer listed in depends_on: the prompt makes them.
package importer
