package kept

import "slices"

// An appendix is
//
//	its length, 8 bytes | a sum of what came before, and of the rest | the texts, as in the head | rows, each behind its place in the table
//
// so one that is torn, or was meant for another file, is none, and neither is what follows it.
const (
	appendixSum  = 8
	appendixHead = appendixSum + 8
	changeSize   = 4 + rowSize - rowSig
)

// maxAppendices bounds how many lie behind a stamp, and maxAppended how many bytes: who reads it takes them all in.
const (
	maxAppendices = 100
	maxAppended   = 128 << 10
)

// Appendix says what makes the file of the stamp s.Base, as it was read, that of s. It has no sum yet: that is written when it is known to
// be true, see [SumAt]. newest is the youngest time of all that was seen otherwise. It is false when the whole has to be written.
func (s *Stamp) Appendix() (b []byte, newest int64, ok bool) {
	k := s.Base
	if k == nil || k.Question != s.Question || k.count >= maxAppendices {
		return nil, 0, false
	}
	var sure []int
	b = s.appendTexts(make([]byte, appendixHead, 4<<10))
	s.Seen = distinct(s.Seen)
	for _, o := range s.Seen {
		at, found := k.search(o)
		if !found {
			return nil, 0, false
		}
		r := k.row(at)
		if r.is(&o.Sig) && r.sum() == o.Sum && !o.Sure {
			continue
		}
		putSignature(r[rowSig:], o.Sig)
		copy(r[rowSum:], o.Sum[:])
		if o.Sure {
			sure = append(sure, at)
			continue
		}
		k.renewed = append(k.renewed, at)
	}
	slices.Sort(k.renewed)
	for _, at := range slices.Compact(k.renewed) {
		newest = max(newest, k.row(at).sig().Newest())
		b = k.appendRow(b, at)
	}
	for _, at := range sure {
		b = k.appendRow(b, at)
	}
	if k.end+len(b)-k.base > maxAppended {
		return nil, 0, false
	}
	put64(b, uint64(len(b)-appendixHead))
	return b, newest, true
}

func (k *Kept) appendRow(b []byte, at int) []byte {
	return append(append32(b, uint32(at)), k.row(at)[rowSig:]...)
}

// Sum is that of an appendix.
func (k *Kept) Sum(b []byte) []byte {
	sum := make([]byte, 8)
	put64(sum, k.sumOf(b))
	return sum
}

// SumAt is where in an appendix its sum is.
const SumAt = appendixSum

func (k *Kept) sumOf(b []byte) uint64 {
	return mix(mix(k.sum, get64(b)), sumOf(b[appendixHead:]))
}

// End is where an appendix is written in the file.
func (k *Kept) End() int { return k.end }

// takeAppendices takes in what is behind the file, as far as it is whole.
func (k *Kept) takeAppendices(b []byte) {
	for len(b) > appendixHead {
		if get64(b) > uint64(len(b)-appendixHead) {
			return
		}
		end := appendixHead + int(get64(b))
		sum := k.sumOf(b[:end])
		if sum != get64(b[appendixSum:]) || !k.take(b[appendixHead:end]) {
			return
		}
		k.sum, k.end, k.count = sum, k.end+end, k.count+1
		b = b[end:]
	}
}

// take takes in one, or nothing of it.
func (k *Kept) take(b []byte) bool {
	now := Kept{}
	rows, ok := now.takeTexts(b)
	if !ok || len(rows)%changeSize != 0 {
		return false
	}
	for at := 0; at < len(rows); at += changeSize {
		if int(get32(rows[at:])) >= k.Len() {
			return false
		}
	}
	for at := 0; at < len(rows); at += changeSize {
		copy(k.row(int(get32(rows[at:])))[rowSig:], rows[at+4:at+changeSize])
	}
	now.Question = k.Question
	k.Stamp = now.Stamp
	return true
}
