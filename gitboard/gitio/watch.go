package gitio

import (
	"path/filepath"

	"github.com/fsnotify/fsnotify"
)

// Watch returns a channel that gets a value when a file may have been replaced, until stop is
// called. Values that have not been received yet are merged into one. The channel is nil if the
// system can't watch files.
func Watch(path string) (replaced <-chan struct{}, stop func()) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, func() {}
	}
	if w.Add(filepath.Dir(path)) != nil {
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
				case e.Name != path || !e.Has(fsnotify.Create): // another file was renamed to it
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
