package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// DiskUsage is what a store takes, in bytes and counts. Workspaces are not counted.
type DiskUsage struct {
	Records, RecordBytes int64 // in logs
	Packed, PackBytes    int64 // small blobs, second copies included
	Files, FileBytes     int64 // larger blobs
	ArrivingBytes        int64 // larger blobs that are being put, or were when a writer died
	Keys, Writers        int64
	Campaigns            int64
}

// Usage counts what the store holds.
func (s *Store) Usage() (DiskUsage, error) {
	var u DiskUsage
	keys, err := s.Keys()
	if err != nil {
		return u, err
	}
	roots, err := s.Campaigns()
	if err != nil {
		return u, err
	}
	s.packs.mu.Lock()
	err = s.packs.refresh()
	u.Packed = int64(len(s.packs.places))
	for _, p := range s.packs.packs {
		if !p.gone {
			u.PackBytes += p.end
			u.Packed += p.table.size()
		}
	}
	s.packs.mu.Unlock()
	s.actions.mu.Lock()
	u.Records, u.Writers = int64(len(s.actions.spots)), int64(len(s.actions.logs))
	for _, l := range s.actions.logs {
		u.RecordBytes += l.read
		u.Records += l.table.size()
	}
	s.actions.mu.Unlock()
	u.Keys, u.Campaigns = int64(len(keys)), int64(len(roots))
	files, bytes, walked := countFiles(filepath.Join(s.dir, "blobs"))
	u.Files, u.FileBytes = files, bytes
	_, u.ArrivingBytes, _ = countFiles(filepath.Join(s.dir, "tmp"))
	if err := errors.Join(err, walked); err != nil {
		return u, fault("read", s.dir, err)
	}
	return u, nil
}

// countFiles adds up the files below dir. One that goes away meanwhile is not counted.
func countFiles(dir string) (files, bytes int64, err error) {
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, os.ErrNotExist) || err == nil && (e.IsDir() || strings.HasPrefix(e.Name(), ".")) {
			return nil
		}
		if err != nil {
			return err
		}
		info, err := e.Info()
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		files++
		bytes += info.Size()
		return nil
	})
	return files, bytes, err
}
