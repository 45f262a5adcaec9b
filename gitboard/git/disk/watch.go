package disk

import (
	"path/filepath"
	"sync"

	"github.com/fsnotify/fsnotify"
)

// Watch returns a channel that gets a value when a file may have been replaced, until stop returns.
// Values that have not been received yet are merged into one. The channel is nil if the
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
	var watching sync.WaitGroup
	watching.Go(func() {
		for {
			select {
			case e, open := <-w.Events:
				switch {
				case !open:
					return
				case !replaces(e, path):
					continue
				}
			case <-w.Errors: // events may have been missed
			}
			select {
			case changed <- struct{}{}:
			default:
			}
		}
	})
	return changed, func() {
		w.Close()
		watching.Wait()
	}
}

// replaces reports whether another file was renamed to a path.
func replaces(e fsnotify.Event, path string) bool { return e.Name == path && e.Has(fsnotify.Create) }
