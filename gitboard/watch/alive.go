package watch

import (
	"path/filepath"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/queue"
)

// lock refuses a second watch of a clone, which would report everything twice. Its file is locked
// until unlock, or until the process ends.
func (w *watcher) lock() (unlock func(), err error) {
	path := filepath.Join(w.board.Dir(), aliveFile)
	if queue.Held(path) {
		since, err := w.board.Clone().Kept(aliveFile)
		if err != nil {
			return nil, err
		}
		return nil, board.Refusef(board.CodeExists, "a watch of this clone runs already, since %s", since).
			Advise("%s looks beside it", board.ActOn("watch").With("once", ""))
	}
	w.own(w.board.Clone().Keep(aliveFile, string(w.started)))
	release := queue.Hold(path)
	return func() {
		release()
		_ = w.board.Clone().Discard(aliveFile) // the next watch overwrites it
	}, nil
}
