package hooks

import (
	"fmt"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/roles"
)

// Who is whoever runs git where an agent's hooks are on.
type Who struct {
	ID      string     // LIZA_AGENT_ID, "" for none
	Role    roles.Role // of that id
	Session string     // LIZA_SESSION, "" for the one kept here
	Task    string     // in whose worktree git runs, "" for none
	// Unchecked: another program's hooks were in the place of ours until now, so a commit that is being made here has
	// passed none.
	Unchecked bool
	Main      bool // git runs in the project's main worktree, whose HEAD is the human's
}

// Known gives an id its role. It refuses what is not an agent's id.
func (w Who) Known() (Who, *board.Refusal) {
	if w.ID == "" {
		return w, nil
	}
	role, err := roles.Of(w.ID)
	if err != nil {
		return w, board.Refuse(board.CodeInvalid, "LIZA_AGENT_ID: "+err.Error(), "set LIZA_AGENT_ID as your supervisor did")
	}
	w.Role = role
	return w, nil
}

// String names who acts as refusals do.
func (w Who) String() string {
	if w.ID == "" {
		return "nobody"
	}
	return w.ID
}

// where says, of somebody without an id, why that is not a human.
func (w Who) where() string {
	if w.Task == "" {
		return "below a supervisor"
	}
	return "inside the worktree of " + w.Task
}

// Again refuses an agent's commit that no hook of ours has looked at: they are back, and the next one passes them.
func (w Who) Again() *board.Refusal {
	if !w.Unchecked || w.ID == "" {
		return nil
	}
	return refuse(board.CodeUnchecked, "run the same command again: the hooks are back", "another program's hooks were in the place of git liza's, so nothing has checked this")
}

// replaced refuses a process whose id another session has now.
func (w Who) replaced(s *board.State) *board.Refusal {
	a := s.Agent(w.ID)
	if a == nil || w.Session == "" || a.Session == w.Session {
		return nil
	}
	return board.Refuse(board.CodeSession, w.ID+" is registered in another session: this process lost it", "stop here: exit 42")
}

func refuse(code board.ErrorCode, hint, format string, args ...any) *board.Refusal {
	return board.Refuse(code, fmt.Sprintf(format, args...), hint)
}
