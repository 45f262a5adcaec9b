package call

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/cmdline"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/text"
)

// Hinted adds to a refusal without a hint the caller's next legal step, as one command to copy. If
// the board knows none, the hint is the command's help page.
func (c *Call) Hinted(ctx context.Context, err error) error {
	var r *board.Refusal
	var u *UsageError
	noBoard := errors.Is(err, log.ErrNoBoard) || errors.As(err, &r) && r.Code == board.CodeNoBoard
	switch {
	case noBoard && c.AgentID() != "":
		return board.Refuse(board.CodeNoBoard, log.ErrNoBoard.Error(), "a human starts one, or joins that of a shared project: git liza init")
	case errors.As(err, &r):
		if way := c.wayOut(ctx, r); way.Text != "" || r.Hint.Text == "" {
			r.Hint = orText(way, c.page())
		}
	case errors.As(err, &u) && (u.Hint == c.page() || u.Hint == ""):
		u.Hint = cmp.Or(cmdline.Hint(c.wayRight(ctx)), u.Hint, "git liza help")
	}
	return err
}

// orText is a hint, or else a text as one.
func orText(h board.Hint, otherwise string) board.Hint {
	if h.Text == "" {
		h.Text = otherwise
	}
	return h
}

func (c *Call) page() string { return "git liza " + c.Cmd.Name + " -h" }

// wayOut is the next legal step after a refusal, empty if the refusal's own hint is better. It is
// never what was just refused: what the command line alone does not show may be in its way.
func (c *Call) wayOut(ctx context.Context, r *board.Refusal) (none board.Hint) {
	if r.Unknown != "" {
		if way := c.wayMeant(ctx, r); way.Text != "" || r.Hint.Text != "" {
			return way
		}
	}
	if r.Goal != "" {
		return board.Hint{Text: c.wayNamed(r.Goal)}
	}
	if r.Hint.Text != "" {
		return none
	}
	v, who, err := c.asker(ctx)
	if err != nil {
		return none
	}
	switch {
	case r.Code == board.CodeInvalid || r.Code == board.CodeUnknownRecord || r.Unknown != "":
		return c.wayRight(ctx)
	case r.Code == board.CodeLease, r.Code == board.CodeGate, r.Code == board.CodePermission: // in another form
		if step, legal := board.StepOf(v.State, who.Asker, c.Cmd.Name, r.Task); legal && cmdline.Of(step.Do) != c.retyped("", "") {
			return step.Do.Hint()
		}
	}
	about := cmp.Or(r.Task, c.namedTask(v.State))
	if slices.Contains([]string{"abandon", "amend-task", "supersede"}, c.Cmd.Name) {
		if step, legal := board.StepOf(v.State, who.Asker, "block", about); legal && r.Code == board.CodeWrongState {
			return board.Advice("to stop the work on it first: %s", step.Do)
		}
	}
	steps := slices.DeleteFunc(report.Next(v.State, who, about), func(s board.NextStep) bool {
		return s.Do.Name == c.Cmd.Name && s.Task == about && slices.Equal(flagsIn(strings.Fields(cmdline.Of(s.Do))), flagsIn(c.Typed)) // it was just refused
	})
	return steps[0].Hint()
}

// wayRight is the command in a correct form: for the task that it names, or else the one that the
// caller holds. If there is none, it is the next step.
func (c *Call) wayRight(ctx context.Context) (none board.Hint) {
	v, who, err := c.asker(ctx)
	if err != nil || !c.isOperation() {
		return none
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
		if step, legal := board.StepOf(v.State, who.Asker, c.Cmd.Name, id); legal && cmdline.Of(step.Do) != c.retyped("", "") {
			return step.Hint()
		}
	}
	if c.Cmd.Run != nil && board.May(who.Role, c.Cmd.Name) {
		return none
	}
	return report.Next(v.State, who, about)[0].Hint()
}

// wayMeant is the same command line with an unknown id replaced by the one most likely meant. If no
// task's id is similar, it is the command that creates the task; empty if there is none.
func (c *Call) wayMeant(ctx context.Context, r *board.Refusal) (none board.Hint) {
	v, who, err := c.asker(ctx)
	if err != nil {
		return none
	}
	known := v.State.List(board.TaskDir)
	if r.Code == board.CodeUnknownAgent {
		known = slices.DeleteFunc(slices.Clone(v.State.List(board.AgentDir)), func(id string) bool { return roleMeant(id) != roleMeant(r.Unknown) })
	}
	nearest := text.Nearest(r.Unknown, known, 3)
	for _, near := range nearest {
		step, legal := board.StepOf(v.State, who.Asker, c.Cmd.Name, near)
		if c.subject() != r.Unknown || step.Do.Name == "" || legal {
			return board.Advice("nearest: %s", c.retyped(r.Unknown, near))
		}
	}
	if len(nearest) > 0 {
		return board.Advice("nearest: %s", board.ActOn("show", nearest[0]))
	}
	if step, legal := board.StepOf(v.State, who.Asker, "add-task", r.Unknown); legal && r.Code == board.CodeUnknownTask && c.isOperation() {
		return board.Advice("to make it: %s", step.Do)
	}
	if remote := c.Board.Remote(); remote != "" && c.App.Now().Sub(c.Board.Sharing().Refreshed()) > oldView {
		return board.Advice("%s, if it is new at %s", board.ActOn("sync"), remote)
	}
	return none
}

// oldView is the age of a shared board's view from which it may lack a record that others name.
const oldView = 10 * time.Second

// wayNamed is the same command line for one goal, "" if none may be proposed for it.
func (c *Call) wayNamed(goal string) string {
	if c.Cmd.Name == "goal abort" {
		return ""
	}
	line := c.retyped("", "")
	switch {
	case line == "":
		return ""
	case c.Cmd.takes("goal"):
		return line + " --goal " + goal
	}
	return line + " " + goal
}

// flagsIn lists the flags in a command line, in order, without those that every command has.
func flagsIn(words []string) []string {
	var names []string
	for _, word := range words {
		name, _, _ := strings.Cut(word, "=")
		if strings.HasPrefix(name, "--") && name != "--json" && name != "--request" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// subject is the first argument, "" for none.
func (c *Call) subject() string {
	if len(c.Args) == 0 {
		return ""
	}
	return c.Args[0]
}

// retyped is the command line with one id replaced by another.
func (c *Call) retyped(id, by string) string {
	line := "git liza " + c.Cmd.Name
	for _, word := range c.Typed {
		flag, value, joined := strings.Cut(word, "=")
		if joined && strings.HasPrefix(word, "--") {
			line += " " + flag + "=" + text.Quote(exchange(value, id, by))
		} else {
			line += " " + text.Quote(exchange(word, id, by))
		}
	}
	if strings.Contains(line, "\n") {
		return by // a text of several lines can't be a hint
	}
	return line
}

// exchange replaces an id in a list of ids.
func exchange(list, id, by string) string {
	ids := strings.Split(list, ",")
	if i := slices.Index(ids, id); i >= 0 {
		ids[i] = by
	}
	return strings.Join(ids, ",")
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

// HandsIn is the command that submits the task of a calling coder, "" for a caller without one.
func (c *Call) HandsIn(ctx context.Context) string {
	if c.AgentID() == "" {
		return ""
	}
	v, who, err := c.asker(ctx)
	if err != nil {
		return ""
	}
	t := report.TaskOf(v.State, who.ID)
	if t == nil || !t.Brief().Holds(who.ID) {
		return ""
	}
	return "git liza submit " + t.ID + " --verified COMMAND"
}

// asker returns who asks for a hint, and the board to act on.
func (c *Call) asker(ctx context.Context) (*gitboard.View, report.Caller, error) {
	if c.Board == nil {
		if err := c.Open(ctx); err != nil {
			return nil, report.Caller{}, err
		}
	}
	v, err := c.Board.View(ctx)
	if err != nil {
		return nil, report.Caller{}, err
	}
	who, err := c.CallerOn(ctx, v)
	return v, who, errors.Join(err, v.State.Err())
}

// CallerOn is who runs this command, for a question about next steps. An invalid id counts as a
// free one of the role that it suggests.
func (c *Call) CallerOn(ctx context.Context, v *gitboard.View) (report.Caller, error) {
	who := report.Caller{Supervised: c.App.Supervised()}
	who.Now, who.Actor = board.At(c.App.Now()), board.HumanActor("Human", "human@example.org")
	if id := c.AgentID(); id != "" {
		role, err := v.State.RoleOf(id)
		if err != nil {
			role = roleMeant(id)
			id = board.FreeID(v.State, role.Prefix())
		}
		session := c.App.Getenv("LIZA_SESSION")
		if session == "" {
			if session, err = c.Board.Sessions().Kept(id); err != nil {
				return who, err
			}
		}
		if a := v.State.Agent(id); a != nil && session == "" {
			session = "none here" // it is registered elsewhere
		}
		who.Actor = board.Actor{ID: id, Role: role, Session: session}
	}
	leases, err := v.LeasesSeen(ctx)
	who.Leases = leases
	if !c.App.SkipSpecFile() && err == nil {
		_, who.NoSpec, err = v.NoSpec(ctx)
	}
	return who, err
}

// roleMeant is the role that an invalid id most likely means.
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
