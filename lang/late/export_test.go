package late

// Held reports whether the library was held back when the program started.
func Held() bool { return held }
