package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/audit"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/text"
)

// Join adopts a remote's board in a clone without a board; done is false if the remote has no
// board.
func Join(ctx context.Context, c *call.Call, alone bool) (done bool, err error) {
	if err := HumanOnly(ctx, c); err != nil {
		return false, err
	}
	found, err := BoardsElsewhere(ctx, c, alone, `git liza init "GOAL" --alone begins one all the same`)
	if err != nil || len(found) == 0 {
		return false, err
	}
	if len(found) > 1 {
		return false, board.Refuse(board.CodeAmbiguous, "several remotes have a board: "+strings.Join(found, ", "), "git liza share REMOTE says which")
	}
	warning, err := Guarded(ctx, c, func() error { return c.Board.Sharing().Join(ctx, found[0]) })
	if err != nil {
		return false, err
	}
	return true, Joined(ctx, c, warning)
}

// Share shares this clone's board by a remote, or joins the board that the remote has.
func Share(ctx context.Context, c *call.Call, remote string) error {
	if err := HumanOnly(ctx, c); err != nil {
		return err
	}
	b := c.Board
	tip, err := b.Repo().Ref(ctx, plumbing.BoardRef)
	if err != nil {
		return err
	}
	home, err := b.Repo().Ref(ctx, plumbing.HomeRef)
	if err != nil {
		return err
	}
	joins := tip.IsZero() || home.IsZero() && b.Remote() == ""
	begin, warning := func() error { return b.Sharing().Share(ctx, remote) }, ""
	if joins {
		warning, err = Guarded(ctx, c, begin)
	} else {
		err = begin()
	}
	again := "git liza share " + text.Line(remote, 60)
	if unclear := (*log.UnclearError)(nil); errors.As(err, &unclear) {
		return &call.Outcome{Exit: 3, Code: call.CodeNetwork, Message: err.Error(), Hint: "when it can be reached: " + again + "; until then nothing is written here"}
	}
	if errors.As(err, new(*git.NetworkError)) && !errors.Is(err, git.ErrRejected) && b.Remote() == "" {
		return &call.Outcome{Exit: 3, Code: call.CodeNetwork, Message: err.Error() + "; nothing was shared", Hint: "when it can be reached: " + again}
	}
	if err != nil {
		return err
	}
	if joins {
		return Joined(ctx, c, warning)
	}
	v, err := b.View(ctx)
	if err != nil {
		return err
	}
	return c.Answer(map[string]any{"remote": b.Remote(), "commit": v.Commit},
		fmt.Sprintf("the board is shared by %s\nother clones join it: git liza init", text.Line(b.Remote(), 60)))
}

// Joined proves the board that a clone has just adopted, and reports it, with a warning about
// hooks.
func Joined(ctx context.Context, c *call.Call, warning string) error {
	b := c.Board
	if err := proven(ctx, b); err != nil {
		return err
	}
	v, err := b.View(ctx)
	if err != nil {
		return err
	}
	goal, config := v.State.ForRules().Purpose(), v.State.Config()
	if err := v.State.Err(); err != nil {
		return err
	}
	lines := []string{fmt.Sprintf("joined the board of %s: %s", b.Remote(), goal), "integration branch: " + config.IntegrationBranch}
	if len(c.Args) > 0 && c.Cmd.Name == "init" {
		lines = append(lines, "the goal that you gave is not used: this project has one")
	}
	if to := string(config.EscalationWebhook); to != "" {
		lines = append(lines, "alarms are posted to "+text.Line(to, 300))
	}
	runs, listed := Commands(v.State, "what others have set runs here as you:")
	if err := v.State.Err(); err != nil {
		return err
	}
	lines = append(lines, listed...)
	if err := b.Sharing().Probe(ctx); err != nil {
		lines = append(lines, "warning: this clone can read the board, and not write to it: "+err.Error())
	}
	if warning != "" {
		lines = append(lines, "warning: "+warning)
	}
	lines = append(lines, "next: git liza status")
	return c.Answer(map[string]any{"joined": true, "remote": b.Remote(), "commit": v.Commit, "goal": goal, "integration_branch": config.IntegrationBranch, "commands": runs}, strings.Join(lines, "\n"))
}

// Commands returns the commands that a board's settings and its team run in each clone, by what they
// are for, and lines that list them under a title; no line if there is no command. The caller checks
// s.Err.
func Commands(s *board.State, title string) (runs map[string]string, lines []string) {
	runs = map[string]string{}
	put := func(name, command string) {
		if command != "" && command != board.NoTest {
			runs[name] = command
		}
	}
	put("worktree_setup", s.Config().WorktreeSetup)
	put("integration_test", s.Config().IntegrationTest)
	for _, stage := range s.Team().Stages {
		put("test of "+stage.Name, stage.Test)
	}
	if len(runs) > 0 {
		lines = append(lines, title)
	}
	for _, name := range slices.Sorted(maps.Keys(runs)) {
		lines = append(lines, "  "+name+": "+text.Line(runs[name], 300))
	}
	return runs, lines
}

// proven verifies a board that this clone has just adopted, because it may be unverified.
func proven(ctx context.Context, b *gitboard.Board) error {
	report, err := audit.Verify(ctx, b.Log().Store(), b.Repo(), audit.Range{}, nil)
	if err != nil {
		return err
	}
	if report.OK() {
		b.Verified(report.To)
		return nil
	}
	return &call.Outcome{
		Exit: 4, Code: call.CodeInconsistent, Hint: "stop, and let a human look: git liza verify",
		Message: fmt.Sprintf("this clone has joined the board of %s, and its history breaks the rules: %s", b.Remote(), report.Findings[0]),
	}
}

// BoardsElsewhere lists the remotes that have a board, if this clone has none. With alone it does
// not ask them.
func BoardsElsewhere(ctx context.Context, c *call.Call, alone bool, hint string) ([]string, error) {
	if tip, err := c.Board.Repo().Ref(ctx, plumbing.BoardRef); err != nil || !tip.IsZero() || alone {
		return nil, err
	}
	found, err := c.Board.Sharing().Boards(ctx)
	if errors.As(err, new(*git.NetworkError)) {
		return nil, &call.Outcome{Exit: 3, Code: call.CodeNetwork, Message: err.Error() + ", so it is unknown whether this project has a board already", Hint: hint}
	}
	if err != nil || len(found) > 0 {
		return found, err
	}
	// A second history next to the remains of the first would be worse than none.
	if gone, err := c.Board.Gone(ctx); err != nil || gone {
		return nil, cmp.Or(err, error(gitboard.GoneError{}))
	}
	return nil, nil
}
