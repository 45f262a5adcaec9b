package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"syscall"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
)

// alive is what the file of a running watch holds. A watch looks at least every half a minute.
type alive struct {
	PID      int        `json:"pid"`
	Host     string     `json:"host"`
	Started  board.Time `json:"started"`
	Looked   board.Time `json:"looked"` // the last look that went well
	Commit   git.OID    `json:"commit"` // of the board
	Standing int        `json:"standing"`
}

// alive says that a look went well: in the file, and at the end of a terminal.
func (w *watcher) alive() {
	host, _ := os.Hostname()
	now := w.App.Now()
	data, _ := json.Marshal(alive{os.Getpid(), host, w.started, board.At(now), git.OID(w.commit), w.standing})
	w.own(w.board.Keep(aliveFile, string(data)))
	if w.terminal {
		fmt.Fprintf(w.App.Stderr, "%swatching: looked at %s, %s", clearLine, now.Local().Format("15:04:05"), w.stands())
	}
}

func (w *watcher) stands() string {
	if w.standing == 1 {
		return "1 condition stands"
	}
	return edge.Plural(w.standing, "condition") + " stand"
}

// beat says away from a terminal that it is alive: a log that is silent could as well be that of a dead process.
func (w *watcher) beat() {
	switch {
	case w.terminal:
	case w.JSON:
		w.own(w.PrintJSON(map[string]any{"time": board.At(w.App.Now()), "watching": true, "standing": w.standing}))
	default:
		w.line(string(board.At(w.App.Now()))+"  watching: "+w.stands(), "")
	}
}

// alone refuses to be the second watch of a clone: everything would be told twice.
func (w *watcher) alone() error {
	text, err := w.board.Kept(aliveFile)
	if err != nil {
		return err
	}
	var other alive
	host, _ := os.Hostname()
	if json.Unmarshal([]byte(text), &other) != nil || other.Host != host || other.PID == os.Getpid() {
		return nil
	}
	if silent := w.App.Now().Sub(other.Looked.Std()); silent > 4*watchEvery || !runs(other.PID) {
		return nil
	}
	return &edge.Outcome{Exit: 1, Code: board.CodeExists, Message: fmt.Sprintf("a watch of this clone runs already: process %d, since %s", other.PID, other.Started), Hint: "git liza watch --once looks beside it"}
}

// runs reports whether a process runs.
func runs(pid int) bool {
	p, err := os.FindProcess(pid)
	return err == nil && p.Signal(syscall.Signal(0)) == nil
}
