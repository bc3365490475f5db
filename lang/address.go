package lang

// Address is the canonical name of a task instance. It is comparable, prints as
// NAME[/key][@matrix][#loop] and parses back with [ParseAddress].
type Address struct {
	Task   string // task name
	Key    string // for_each or expand key; "" when not keyed
	Matrix string // matrix cell, values joined by "-"; "" without a matrix
	Loop   int    // loop index, 0-based
	Looped bool   // whether the loop index is part of the name
}
