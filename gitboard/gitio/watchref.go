package gitio

import (
	"path/filepath"

	"github.com/fsnotify/fsnotify"
)

// WatchRef returns a channel that gets a value when a ref may have moved, until stop is called.
// Values that have not been received yet are merged into one. The channel is nil if the system
// can't watch files.
func (r *Repo) WatchRef(name string) (moved <-chan struct{}, stop func()) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, func() {}
	}
	file, tables := filepath.Join(r.common, filepath.FromSlash(name)), filepath.Join(r.common, "reftable")
	if w.Add(filepath.Dir(file)) != nil && w.Add(tables) != nil {
		w.Close()
		return nil, func() {}
	}
	changed := make(chan struct{}, 1)
	go func() {
		for {
			select {
			case e, open := <-w.Events:
				switch {
				case !open:
					return
				case e.Name != file && filepath.Base(e.Name) != "tables.list": // git renames a lock to them
					continue
				}
			case <-w.Errors: // events may have been missed
			}
			select {
			case changed <- struct{}{}:
			default:
			}
		}
	}()
	return changed, func() { w.Close() }
}
