// Package remote speaks the Remote Execution API v2 (REAPI): the content-addressable storage and the action cache of
// servers such as Buildbarn, BuildBuddy, NativeLink, Buildfarm and bazel-remote. It maps REAPI's words to ours; no other
// package but executor/remote, which builds on it, knows them.
//
// The nouns:
//
//   - A [Client] is a connection to one endpoint, "grpc://host:port/instance" or "grpcs://…". [Dial] asks what the server
//     offers, once, and settles on one digest function: BLAKE3 where the server knows it, else SHA256.
//   - A [Digest] names a blob in the function of a client. It is a value, and can be compared only with digests of the same
//     client. [Client.Of] hashes bytes; [Client.Wire] translates a digest of the local store, for which a SHA256 client needs
//     the bytes once and remembers the pair in [Sums].
//   - A [Blob] is what is uploaded: a digest and a way to its bytes.
//   - An [Encoder] makes REAPI's messages: [Encoder.Directory] a tree of Directory messages, [Encoder.Tree] a Tree,
//     [Encoder.Action] an Action with its Command. They are deterministic: equal specifications have equal digests. Secrets
//     go in by name only, as platform properties; [ActionSpec] has no field that could take a value.
//
// The calls: [Client.FindMissing], [Client.Upload], [Client.Read], [Client.Download], [Client.GetActionResult] and
// [Client.UpdateActionResult]. For services that this package does not use, [Client.Conn] is the connection with the same
// headers, metadata and retries, [Client.Instance] the instance name and [Client.Function] what digest_function takes.
//
// The promises: every call carries RequestMetadata ([WithTask] adds the task), the configured headers and the digest
// function. Unary calls are tried again when the server says UNAVAILABLE or RESOURCE_EXHAUSTED; a call that makes no
// progress within [Options.Timeout] ends. Bytes handed out were verified; [Client.Download] verifies at the end, so what it
// wrote before an error must not be used. All methods may be called concurrently.
//
// The dangers: an error of a server is not an error of a task. Callers decide what to do without the remote. Nothing here
// trusts a server: not its lengths, not its digests, not its claim that a blob is there.
package remote
