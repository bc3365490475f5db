module github.com/ufbuild/ufbuild

go 1.26.8

require (
	github.com/agext/levenshtein v1.2.3 // distance of names for "did you mean"; HCL brings it along
	github.com/apparentlymart/go-textseg/v15 v15.0.0 // grapheme clusters: the columns of diagnostics; HCL counts the same way
	github.com/bmatcuk/doublestar/v4 v4.10.4 // globs with **, checked patterns
	github.com/fsnotify/fsnotify v1.10.1 // changes below the root, for watch
	github.com/hashicorp/hcl/v2 v2.25.0 // the language: syntax trees, templates, JSON form, canonical tokens
	github.com/pelletier/go-toml/v2 v2.4.3 // settings of imported projects, with line numbers
	github.com/rogpeppe/go-internal v1.16.0 // testscript: what a user types, as scripts
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3 // JSON Schema 2020-12; reports all errors with pointers, never fetches
	github.com/sourcegraph/jsonrpc2 v0.2.3 // JSON-RPC over the framing of editors; no further dependency is compiled in
	github.com/spf13/cobra v1.10.2 // verbs, help, completion; manual pages, in a test
	github.com/spf13/pflag v1.0.9 // flag values of our own for cobra
	github.com/stretchr/testify v1.12.1 // assertions of tests
	github.com/zclconf/go-cty v1.20.0 // values with unknowns and marks; what HCL evaluates to
	github.com/zclconf/go-cty-yaml v1.2.0 // yamldecode
	github.com/zeebo/blake3 v0.2.4 // BLAKE3 in assembly: keys and digests
	go.yaml.in/yaml/v4 v4.0.0 // front matter and imported topologies, with lines
	golang.org/x/mod v0.42.0 // versions in campaign.requires
	golang.org/x/sys v0.50.0 // openat2, OFD locks, renameat2, reflink, subreaper
	golang.org/x/term v0.48.0 // whether there is a terminal, and how wide
	golang.org/x/text v0.44.0 // NFC, and the width of characters
	golang.org/x/tools v0.52.0 // txtar archives in templates and tests
)

require (
	github.com/chromedp/cdproto v0.159.0 // the events of that browser; tests only
	github.com/chromedp/chromedp v0.23.0 // drives a browser in tests of the page; in no program
)

require (
	cloud.google.com/go/longrunning v0.8.0 // the messages of an execution under way
	github.com/bazelbuild/remote-apis v0.0.0-20260331222004-becdd8f9ff81 // the messages and services of the Remote Execution API; not remote-apis-sdks, which executes again by itself
	github.com/klauspost/compress v1.20.4 // zstd in pure Go, for blobs on the wire
	google.golang.org/genproto/googleapis/bytestream v0.0.0-20260526163538-3dc84a4a5aaa // the service that large blobs travel by
	google.golang.org/genproto/googleapis/rpc v0.0.0-20260817212433-ac3dfec99bb1 // the message that says how a call ended
	google.golang.org/grpc v1.85.0 // what the Remote Execution API is spoken over
	google.golang.org/protobuf v1.36.12 // its messages, encoded deterministically
)

require (
	github.com/apparentlymart/go-textseg/v17 v17.0.1 // indirect
	github.com/cpuguy83/go-md2man/v2 v2.0.6 // indirect
	github.com/go-json-experiment/json v0.0.0-20260213210345-44df1a37e875 // indirect
	github.com/google/go-cmp v0.7.0 // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/klauspost/cpuid/v2 v2.0.12 // indirect
	github.com/mitchellh/go-wordwrap v1.0.1 // indirect
	github.com/russross/blackfriday/v2 v2.1.0 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/net v0.61.0 // indirect
	golang.org/x/sync v0.25.0 // indirect
	google.golang.org/genproto/googleapis/api v0.0.0-20260817212433-ac3dfec99bb1 // indirect
)
