// Package remotetest is a server of the Remote Execution API in memory, for tests. It does what the best servers do, or
// misbehaves on demand: [Faults] make it slow, forgetful, lying, full, or of another version, and [Server.Kill] and
// [Server.Restart] do what the names say, on the same address.
//
// It keeps everything that was ever sent to it in clear ([Server.Heard]), so that a test can prove what was not. Further
// services, such as Execute, are added with [Options.Services], and reach the blobs and results of the server through
// [Server.Blob], [Server.Put] and [Server.Result].
package remotetest
