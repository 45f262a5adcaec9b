package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/setup"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/share"
	"github.com/git-liza/git-liza/gitboard/text"
	"github.com/git-liza/git-liza/worktrees"
	"github.com/git-liza/git-liza/worktrees/merge"
)

var _ = add(func() *call.Command {
	return &call.Command{
		Name: "share", Group: "setting up", Args: "REMOTE", Min: 1, Max: 1,
		Short: "share the board with other clones, by a remote",
		Long: `Board and integration are pushed together, and from then on the remote is the judge: an operation counts when
the remote has taken it. Other clones join with git liza init, or with this where several remotes have a board. A
plain fetch leaves the board, the branches of tasks (liza/task/ID there) and integration alone from now on; git liza
brings them itself.`,
		Example: `git liza share origin`,
		Run:     func(ctx context.Context, c *call.Call) error { return setup.Share(ctx, c, c.Args[0]) },
	}
})

var _ = add(func() *call.Command {
	return &call.Command{
		Name: "sync", Group: "setting up", Max: 0,
		Short: "fetch what other clones have done, and send what was queued",
		Long: `Board, integration, submissions and leases are fetched, and worktrees of tasks that others have ended are removed;
what they hold is kept. What was queued with --offline is checked again on the current board: what is refused
is reported, and its text is kept beside the queue.`,
		Example: `git liza sync`,
		Run:     func(ctx context.Context, c *call.Call) error { return runSync(ctx, c) },
	}
})

// synced is the result of a sync.
type synced struct {
	OK             bool          `json:"ok"`
	Remote         string        `json:"remote"`
	From           plumbing.OID  `json:"from"`
	To             plumbing.OID  `json:"to"`
	New            []string      `json:"new"` // subjects, oldest first
	Integration    bool          `json:"integration_moved"`
	BroughtForward []string      `json:"brought_forward"`
	Tidied         []string      `json:"tidied"`
	Sent           []string      `json:"sent"`
	Refused        []syncRefused `json:"refused"`
	Warnings       []string      `json:"warnings"`
	Forged         string        `json:"forged,omitempty"` // the ref of this clone's earlier board, which did not follow
}

type syncRefused struct {
	Op     string `json:"op"`
	Reason string `json:"reason"`
}

func runSync(ctx context.Context, c *call.Call) error {
	b := c.Board
	if b.Remote() == "" {
		return board.Refuse(board.CodeNotShared, "this clone shares its board with no other", "git liza share REMOTE, or git liza init in a clone of a shared project")
	}
	before, err := b.View(ctx)
	if err != nil {
		return err
	}
	since, moved := b.Sharing().Moment(), (*share.MovedError)(nil)
	if err := b.Sharing().RefreshAll(ctx); err != nil && !errors.As(err, &moved) {
		return err
	}
	s := &synced{Remote: b.Remote(), From: before.Commit}
	if s.Forged, err = leftBehind(ctx, b, before.Commit); err != nil {
		return err
	}
	if err := sendQueued(ctx, b, s); err != nil {
		return err
	}
	f, err := merge.Follow(ctx, b, since)
	if err != nil {
		return err
	}
	s.Integration, s.BroughtForward, s.Warnings = f.Moved, call.Every(f.BroughtForward), call.Every(f.Warnings)
	who, err := b.Repo().Settings().Identity(ctx)
	if err != nil {
		return gitboard.NoIdentity(err)
	}
	tidied, err := worktrees.TidyAll(ctx, b, board.HumanActor(who.Name, who.Email))
	if err != nil {
		s.Warnings = append(s.Warnings, err.Error())
	}
	s.Tidied = call.Every(tidied)
	after, err := b.View(ctx)
	if err != nil {
		return err
	}
	s.To = after.Commit
	behind, err := setBack(ctx, b, after)
	if err != nil {
		return err
	}
	s.Warnings = slices.Concat(behind, s.Warnings)
	lost := after.SetBack(ctx)
	if lost != nil && !errors.As(lost, new(*board.Refusal)) {
		return lost
	}
	commits, err := b.Log().Store().Log(ctx, s.From, s.To)
	if err != nil {
		return err
	}
	s.New = []string{}
	for _, e := range commits {
		s.New = append(s.New, e.Subject())
	}
	s.OK = len(s.Refused) == 0 && moved == nil && lost == nil
	if err := call.Tell(c, s, s.lines()...); err != nil || s.OK {
		return err
	}
	if moved != nil {
		return moved
	}
	if lost != nil {
		return lost
	}
	return &call.Outcome{Exit: 1, Code: call.CodeRefused, Message: text.Plural(len(s.Refused), "queued operation") + " refused", Hint: "the texts are kept in the folder liza/queue of the git directory"}
}

// setBack is a warning if the remote, as it was fetched, lacks operations of this clone's board: it
// was restored from an older copy. The next operation of this clone brings them. If one of another
// clone comes first, the boards come apart.
func setBack(ctx context.Context, b *gitboard.Board, after *gitboard.View) ([]string, error) {
	n, err := after.Lacking(ctx)
	if n == 0 || err != nil {
		return nil, err
	}
	return []string{fmt.Sprintf("%s lacks %s of this clone's board, as if it was set back: the next operation brings what it lacks (git liza note TEXT)",
		b.Remote(), text.Plural(n, "operation"))}, nil
}

// leftBehind is the ref of a board that this clone left for the remote's, because it did not follow
// by replay; "" if this clone's board still grows from it.
func leftBehind(ctx context.Context, b *gitboard.Board, before plumbing.OID) (string, error) {
	kept, err := b.Repo().Ref(ctx, plumbing.ForgedRef(before))
	if err != nil || kept.IsZero() {
		return "", err
	}
	now, err := b.Repo().Ref(ctx, plumbing.BoardRef)
	if err != nil {
		return "", err
	}
	if grows, err := b.Repo().History().IsAncestor(ctx, before, now); grows || err != nil {
		return "", err
	}
	return plumbing.ForgedRef(before), nil
}

// sendQueued runs the queued operations on the present board.
func sendQueued(ctx context.Context, b *gitboard.Board, s *synced) error {
	s.Sent, s.Refused = []string{}, []syncRefused{}
	queued, err := b.Waiting()
	if err != nil {
		return err
	}
	for _, sent := range b.Send(ctx, queued) {
		refusal := (*board.Refusal)(nil)
		switch {
		case errors.As(sent.Err, &refusal):
			s.Refused = append(s.Refused, syncRefused{sent.Op, refusal.Message})
		case sent.Err != nil:
			return sent.Err
		default:
			s.Sent = append(s.Sent, sent.Done.Subject)
		}
	}
	return nil
}

func (s *synced) lines() []string {
	const most = 20
	lines := []string{fmt.Sprintf("up to date with %s, which had nothing new", s.Remote)}
	if n := len(s.New); n > 0 {
		lines[0] = fmt.Sprintf("%s new on the board of %s", text.Plural(n, "operation"), s.Remote)
		if n > most {
			lines = append(lines, fmt.Sprintf("  ... and %d before these: git liza log", n-most))
		}
		lines = append(lines, call.Prefixed("  ", s.New[max(0, n-most):])...)
	}
	if s.Forged != "" {
		lines = append(lines, "the board here broke the rules and is replaced by that of "+s.Remote+"; it is kept: git log "+s.Forged)
	}
	if s.Integration {
		lines = append(lines, "integration has moved")
	}
	lines = append(lines, call.Prefixed("brought forward: ", s.BroughtForward)...)
	lines = append(lines, call.Prefixed("tidied: ", s.Tidied)...)
	lines = append(lines, call.Prefixed("sent: ", s.Sent)...)
	for _, r := range s.Refused {
		lines = append(lines, "refused: "+r.Op+": "+r.Reason)
	}
	return append(lines, call.Prefixed("warning: ", s.Warnings)...)
}
