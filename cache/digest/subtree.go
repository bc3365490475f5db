package digest

import (
	"encoding/binary"
	_ "unsafe" // for go:linkname

	_ "github.com/zeebo/blake3" // what is linked to below
)

// BLAKE3 is a tree over chunks of 1 KiB, so parts of one file can be hashed at the same time, if whoever does it can
// say where a part begins. The assembly of zeebo/blake3 can, and its exported API cannot; the one library that exports
// such a function reaches two thirds of its speed with AVX2. So the three functions below, which that library's own
// exported functions are thin loops around, are linked to by name. Its version is pinned, and TestParts and FuzzParts
// hold the result to what its exported API says of the same bytes.

//go:linkname hashChunks github.com/zeebo/blake3/internal/alg.HashF
//go:noescape
func hashChunks(input *[groupLen]byte, length, counter uint64, flags uint32, key *cv, out *[64]uint32, chain *cv)

//go:linkname hashParents github.com/zeebo/blake3/internal/alg.HashP
//go:noescape
func hashParents(left, right *[64]uint32, flags uint32, key *cv, out *[64]uint32, n int)

//go:linkname compress github.com/zeebo/blake3/internal/alg.Compress
//go:noescape
func compress(chain *cv, block *[16]uint32, counter uint64, blockLen, flags uint32, out *[16]uint32)

// Sizes and flags of the specification.
const (
	blockLen = 64
	chunkLen = 1 << 10
	lanes    = 8 // chunks that one call takes
	groupLen = lanes * chunkLen

	flagStart  = 1 << 0
	flagEnd    = 1 << 1
	flagParent = 1 << 2
	flagRoot   = 1 << 3
)

// cv is a chaining value: the name of a chunk or of a subtree.
type cv [8]uint32

var initial = cv{0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19}

// subtree returns the chaining value of b, which begins at the given chunk of the whole, is not empty and not the
// whole. room is used for the values of its chunks and must hold as many as b has.
func subtree(b []byte, chunk uint64, room []cv) cv {
	cvs := room[:0]
	for ; len(b) >= groupLen; chunk += lanes {
		var out [64]uint32
		var chain cv
		key := initial
		hashChunks((*[groupLen]byte)(b), groupLen, chunk, 0, &key, &out, &chain)
		for lane := range lanes {
			cvs = append(cvs, column(&out, lane))
		}
		b = b[groupLen:]
	}
	for ; len(b) > 0; chunk++ {
		n := min(len(b), chunkLen)
		cvs = append(cvs, oneChunk(b[:n], chunk))
		b = b[n:]
	}
	return merge(cvs, 0)
}

// column is the value of one lane.
func column(v *[64]uint32, lane int) (c cv) {
	for word := range c {
		c[word] = v[word*lanes+lane]
	}
	return c
}

// oneChunk is the chaining value of up to a chunk of bytes.
func oneChunk(b []byte, chunk uint64) cv {
	chain, flags := initial, uint32(flagStart)
	for {
		var block [blockLen]byte
		n := copy(block[:], b)
		b = b[n:]
		if len(b) == 0 {
			flags |= flagEnd
		}
		var words, out [16]uint32
		for i := range words {
			words[i] = binary.LittleEndian.Uint32(block[4*i:])
		}
		compress(&chain, &words, chunk, uint32(n), flags, &out)
		chain, flags = cv(out[:8]), 0
		if len(b) == 0 {
			return chain
		}
	}
}

// merge joins neighbours level by level until one value is left; one without a neighbour moves up as it is, which
// gives the tree of the specification. It overwrites cvs. flags are those of the last parent.
func merge(cvs []cv, flags uint32) cv {
	for len(cvs) > 2 {
		pairs := len(cvs) / 2
		for at := 0; at < pairs; at += lanes {
			mergeLanes(cvs, at, min(lanes, pairs-at))
		}
		if len(cvs)%2 == 1 {
			cvs[pairs] = cvs[len(cvs)-1]
			pairs++
		}
		cvs = cvs[:pairs]
	}
	if len(cvs) == 1 {
		return cvs[0]
	}
	var words, out [16]uint32
	copy(words[:8], cvs[0][:])
	copy(words[8:], cvs[1][:])
	key := initial
	compress(&key, &words, 0, blockLen, flagParent|flags, &out)
	return cv(out[:8])
}

// mergeLanes makes the parents at to at+n of the next level.
func mergeLanes(cvs []cv, at, n int) {
	var left, right, out [64]uint32
	for lane := range n {
		l, r := &cvs[2*(at+lane)], &cvs[2*(at+lane)+1]
		for word := range l {
			left[word*lanes+lane], right[word*lanes+lane] = l[word], r[word]
		}
	}
	key := initial
	hashParents(&left, &right, flagParent, &key, &out, n)
	for lane := range n {
		cvs[at+lane] = column(&out, lane)
	}
}

// rootOf is the sum of a whole of at least two parts, each but the last of the same power of two of chunks.
func rootOf(parts []cv) (sum [32]byte) {
	root := merge(parts, flagRoot)
	for i, w := range root {
		binary.LittleEndian.PutUint32(sum[4*i:], w)
	}
	return sum
}
