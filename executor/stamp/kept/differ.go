package kept

import "sync"

// Differing returns the paths of which stat says something else than when the stamp was made, and that were not only touched, in
// no order, of those that begin with below. It is false when there are more than limit of them, or the root cannot be opened.
func (k *Kept) Differing(root, below string, read Read, limit int) (paths []string, ok bool) {
	var mu sync.Mutex
	ok = k.compare(root, looker{kept: k, read: read, below: below, found: func(path string) bool {
		mu.Lock()
		defer mu.Unlock()
		paths = append(paths, path)
		return len(paths) <= limit
	}})
	return paths, ok
}
