package hooks

import (
	"fmt"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/roles"
)

// Who is the user of git where an agent's hooks are on.
type Who struct {
	ID      string     // LIZA_AGENT_ID, "" for none
	Role    roles.Role // of that id
	Session string     // LIZA_SESSION, "" for the one stored here
	Task    string     // the task in whose worktree git runs, "" for none
	// Unchecked: another program's hooks had replaced ours until now, so the commit that is being made
	// is unchecked.
	Unchecked bool
	Main      bool // git runs in the project's main worktree, whose HEAD belongs to the human
}

// Known sets the role of the id in the board's team; s is nil for a board that can't be read. It
// refuses an id that is not an agent's.
func (w Who) Known(s *board.State) (Who, *board.Refusal) {
	if w.ID == "" {
		return w, nil
	}
	role, err := roles.Of(w.ID)
	if s != nil {
		role, err = s.RoleOf(w.ID)
	}
	if err != nil {
		return w, board.Refuse(board.CodeInvalid, "LIZA_AGENT_ID: "+err.Error(), "set LIZA_AGENT_ID as your supervisor did")
	}
	w.Role = role
	return w, nil
}

// String names the user as refusals do.
func (w Who) String() string {
	if w.ID == "" {
		return "a process without LIZA_AGENT_ID"
	}
	return w.ID
}

// where is the reason why a user without an id is not a human.
func (w Who) where() string {
	if w.Task == "" {
		return "under a supervisor"
	}
	return "inside the worktree of " + w.Task
}

// Again refuses an agent's commit that our hooks have not checked. They are back now, so that a
// retry passes them.
func (w Who) Again() *board.Refusal {
	if !w.Unchecked || w.ID == "" {
		return nil
	}
	return refuse(board.CodeUnchecked, "run the same command again: the hooks are back", "another program's hooks were in the place of git liza's, so nothing has checked this")
}

// replaced refuses a process whose id now belongs to another session.
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
