package watch

import (
	"encoding/json"
	"os"
	"syscall"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// alive is the content of a running watch's file. A watch looks at least every watchEvery.
type alive struct {
	PID        int          `json:"pid"`
	Host       string       `json:"host"`
	Started    board.Time   `json:"started"`
	Looked     board.Time   `json:"looked"` // the last successful look
	Commit     plumbing.OID `json:"commit"` // of the board
	Conditions int          `json:"conditions"`
}

// alive records a successful look in the file and on the screen.
func (w *watcher) alive() {
	host, _ := os.Hostname()
	now := w.Now()
	data, _ := json.Marshal(alive{os.Getpid(), host, w.started, board.At(now), plumbing.OID(w.commit), w.conditions})
	w.own(w.board.Clone().Keep(aliveFile, string(data)))
	w.Screen.Looked(now, w.conditions)
}

// refuseSecond refuses a second watch in a clone, which would report everything twice.
func (w *watcher) refuseSecond() error {
	text, err := w.board.Clone().Kept(aliveFile)
	if err != nil {
		return err
	}
	var other alive
	host, _ := os.Hostname()
	if json.Unmarshal([]byte(text), &other) != nil || other.Host != host || other.PID == os.Getpid() {
		return nil
	}
	if silent := w.Now().Sub(other.Looked.Std()); silent > 4*watchEvery || !runs(other.PID) {
		return nil
	}
	return board.Refusef(board.CodeExists, "a watch of this clone runs already: process %d, since %s", other.PID, other.Started).
		Advise("%s looks beside it", board.Do("watch").With("once", ""))
}

// runs reports whether a process is running.
func runs(pid int) bool {
	p, err := os.FindProcess(pid)
	return err == nil && p.Signal(syscall.Signal(0)) == nil
}
