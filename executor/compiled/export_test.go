package compiled

// Seal makes any bytes look whole: the head is put before them.
func Seal(b []byte) []byte {
	out := append([]byte(magic), make([]byte, headSize-len(magic))...)
	if len(b) >= headSize && string(b[:len(magic)]) == magic {
		b = b[headSize:]
	}
	out = append(out, b...)
	seal([][]byte{out})
	return out
}

// Tasks returns all tasks.
func (c *Campaign) Tasks() []Task {
	out := make([]Task, c.Len())
	for i := range out {
		out[i] = *c.Task(i)
	}
	return out
}

// Appendices is how many lie behind the file that the campaign was read from.
func (c *Campaign) Appendices() int { return c.pending.count }
