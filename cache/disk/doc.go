// Package disk is the store in a directory: every blob and attempt of a user, safe against crashes and concurrent use.
//
// The layout, all of it readable with a pager:
//
//	format            "ufbuild store 1"
//	log/00001.log     records, one line each (package recordlog)
//	log/00001.idx     where the records of each key lie in a log; a hint that can be deleted
//	pack/00001.pack   small blobs, one behind the other, each below a line that names it
//	pack/00001.idx    where the blobs of a pack lie; a hint that can be deleted
//	blobs/ab/<hex>    larger blobs, one file each
//	tmp/              larger blobs while they arrive
//	locks             byte ranges of it are locked, one a key and one for trimming; it is always empty
//	campaigns/        one file for each campaign, holding its root
//	trimmed           the attempts whose blobs were let go, one line each
//	damaged           blobs found damaged, one line each; a hint that can be deleted
//	work/             workspaces; this package only names it
//
// A process that writes becomes a writer: it takes the first log that nobody writes, or makes the next one, and the pack of
// the same number with it. A kernel lock on the log says that it is taken, so a dead writer's files are just read, then
// continued. There are never more logs than there were writers at one time, and a handle that only reads makes no file.
//
// The promises: what Append returned for survives the death of the process, and what Sync returned for survives that of
// the machine. Nothing that was stored is ever overwritten. Bytes are verified on the way out; a blob found damaged is no
// longer there, for this handle and those opened later, so that it can be put again, and the good copy wins from then on. A handle sees what
// other handles and processes append without being told. A read-only handle writes nothing, and a store that does not exist
// reads as empty.
//
// The dangers: Has looks at names and lengths, not at bytes. Deleting files by hand below the directory while a build runs
// loses what they held. Network file systems must give kernel locks between machines for Lock to mean anything there.
package disk
