package disk

import (
	"path/filepath"

	"github.com/ufbuild/ufbuild/cache/digest"
)

// PackFiles returns the paths of the files that hold small blobs, those of other writers included: who looks at them by stat learns
// whether any of the blobs may have gone.
func (s *Store) PackFiles() ([]string, error) {
	ids, err := listIDs(filepath.Join(s.dir, "pack"), packSuffix)
	if err != nil {
		return nil, fault("read", s.dir, err)
	}
	paths := make([]string, len(ids))
	for i, id := range ids {
		paths[i] = packPath(s.dir, id)
	}
	return paths, nil
}

// BlobFile returns the path of a blob that has a file of its own, whether it is there or not; false for one that lies in a pack.
func (s *Store) BlobFile(d digest.Digest) (string, bool) {
	if d.Size <= smallBlob {
		return "", false
	}
	return s.blobPath(d), true
}
