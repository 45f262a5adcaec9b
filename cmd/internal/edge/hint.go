package edge

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/plain"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/roles"
)

// Hinted gives a refusal that names no way out the next legal step of this caller, as one command to be copied. Where
// the board doesn't know one, that is the command's page.
func (c *Call) Hinted(err error) error {
	var r *board.Refusal
	var u *UsageError
	switch {
	case errors.As(err, &r):
		r.Hint = cmp.Or(c.wayOut(r), r.Hint, c.page())
	case errors.As(err, &u) && (u.Hint == c.page() || u.Hint == ""):
		u.Hint = cmp.Or(c.wayRight(), u.Hint, "git liza help")
	}
	return err
}

func (c *Call) page() string { return "git liza " + c.Cmd.Name + " -h" }

// wayOut is the next legal step after a refusal, "" where the refusal's own hint is the better one.
func (c *Call) wayOut(r *board.Refusal) string {
	if r.Code == board.CodeUnknownTask {
		return c.wayMeant()
	}
	if r.Hint != "" {
		return ""
	}
	v, who, err := c.asker()
	if err != nil {
		return ""
	}
	named := c.AgentID() == "" || c.AgentID() == who.ID
	switch {
	case named && (r.Code == board.CodeInvalid || r.Code == board.CodeUnknownRecord):
		return c.wayRight()
	case r.Code == board.CodeLease, r.Code == board.CodeGate: // by force, or with what is missing
		if step, legal := board.StepOf(v.State, who.Asker, c.Cmd.Name, r.Task); legal {
			return step.Do
		}
	}
	about := cmp.Or(r.Task, c.namedTask(v.State))
	steps := slices.DeleteFunc(report.Next(v.State, who, about), func(s board.NextStep) bool {
		return s.Op == c.Cmd.Name && s.Task == about // it has just been refused
	})
	return c.asSelf(who, steps[0].String())
}

// wayRight is the command as it would be right: for the task that it names, else for the one that the caller has in
// hand. Where it can't be, it is what comes next.
func (c *Call) wayRight() string {
	v, who, err := c.asker()
	if err != nil || !c.isOperation() {
		return ""
	}
	about := c.namedTask(v.State)
	tasks := []string{about}
	if about == "" {
		for _, b := range v.State.Tasks() {
			if b.AssignedTo == who.ID || b.ReviewingBy == who.ID || board.May(who.Role, "finalize") {
				tasks = append(tasks, b.ID)
			}
		}
	}
	for _, id := range tasks {
		if step, legal := board.StepOf(v.State, who.Asker, c.Cmd.Name, id); legal {
			return step.String()
		}
	}
	if c.Cmd.Run != nil && board.May(who.Role, c.Cmd.Name) {
		return ""
	}
	return report.Next(v.State, who, about)[0].String()
}

// wayMeant is the same command for the task that was meant by an id that does not exist: the nearest one, else a new one.
func (c *Call) wayMeant() string {
	v, who, err := c.asker()
	if err != nil || len(c.Args) == 0 || !board.ValidTaskID(c.Args[0]) || v.State.Task(c.Args[0]) != nil {
		return ""
	}
	for _, near := range plain.Nearest(c.Args[0], v.State.List(board.TaskDir), 3) {
		if !c.isOperation() {
			return "nearest: git liza " + c.Cmd.Name + " " + near
		}
		if step, legal := board.StepOf(v.State, who.Asker, c.Cmd.Name, near); legal {
			return "nearest: " + step.Do
		}
	}
	if step, legal := board.StepOf(v.State, who.Asker, "add-task", c.Args[0]); legal && c.isOperation() {
		return "to make it: " + step.Do
	}
	return report.Next(v.State, who, "")[0].String()
}

func (c *Call) isOperation() bool { return len(board.Allowed(c.Cmd.Name)) > 0 }

// namedTask is the task that the command line names, "" for none.
func (c *Call) namedTask(s *board.State) string {
	for _, arg := range c.Args {
		if s.Task(arg) != nil {
			return arg
		}
	}
	return ""
}

// asker is who asks for a hint, and the board that it would act on.
func (c *Call) asker() (*gitboard.View, report.Caller, error) {
	b, err := c.Board()
	if err != nil {
		return nil, report.Caller{}, err
	}
	v, err := b.View(c.Ctx)
	if err != nil {
		return nil, report.Caller{}, err
	}
	who, err := c.CallerOn(v)
	return v, who, errors.Join(err, v.State.Err())
}

// CallerOn is who runs this command, as one that asks what comes next. An id that is none counts as a free one of the
// role that it names.
func (c *Call) CallerOn(v *gitboard.View) (report.Caller, error) {
	who := report.Caller{Supervised: c.Supervised()}
	who.Now, who.Actor = board.At(c.App.Now()), board.HumanActor("Human", "human@example.org")
	if id := c.AgentID(); id != "" {
		role, err := roles.Of(id)
		if err != nil {
			role = roleMeant(id)
			id = board.FreeID(v.State, role)
		}
		who.Actor = board.Actor{ID: id, Role: role, Session: c.App.Getenv("LIZA_SESSION")}
	}
	leases, err := v.LeasesSeen(c.Ctx)
	who.Leases = leases
	return who, err
}

// roleMeant is the role that an id which is none most likely means.
func roleMeant(id string) roles.Role {
	for _, r := range []struct {
		part string
		role roles.Role
	}{{"review", roles.CodeReviewer}, {"plan", roles.Planner}} {
		if strings.Contains(strings.ToLower(id), r.part) {
			return r.role
		}
	}
	return roles.Coder
}

// asSelf is a hint for a caller whose id is none: the id that it could take comes first.
func (c *Call) asSelf(who report.Caller, hint string) string {
	if c.AgentID() == "" || c.AgentID() == who.ID {
		return hint
	}
	why, command, cut := strings.Cut(hint, ": git liza ")
	if !cut {
		return "LIZA_AGENT_ID=" + who.ID + " " + hint
	}
	return why + ": LIZA_AGENT_ID=" + who.ID + " git liza " + command
}
