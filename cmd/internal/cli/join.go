package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/gitio"
	"github.com/git-liza/git-liza/gitboard/oplog"
)

// join adopts the board of a remote where this clone has none; done is false where there is none to adopt.
func (c *call) join(alone bool) (done bool, err error) {
	if err := c.humanOnly(); err != nil {
		return false, err
	}
	b, err := c.board()
	if err != nil {
		return false, err
	}
	found, err := c.boardsElsewhere(alone, `git liza init "GOAL" --alone begins one all the same`)
	if err != nil || len(found) == 0 {
		return false, err
	}
	if len(found) > 1 {
		return false, board.Refuse("ambiguous", "several remotes have a board: "+strings.Join(found, ", "), "git liza share REMOTE says which")
	}
	if err := b.Join(c.ctx, found[0]); err != nil {
		return false, err
	}
	return true, c.joined(b)
}

// joined prepares a clone that has just adopted a board, and says so.
func (c *call) joined(b *gitboard.Board) error {
	if err := c.makeStopDir(b); err != nil {
		return err
	}
	warning := c.installHooks(b)
	v, err := b.View(c.ctx)
	if err != nil {
		return err
	}
	goal, config := v.State.Goal(), v.State.Config()
	if err := v.State.Err(); err != nil {
		return err
	}
	lines := []string{fmt.Sprintf("joined the board of %s: %s", b.Remote(), goal.Description), "integration branch: " + config.IntegrationBranch}
	if len(c.args) > 0 && c.cmd.name == "init" {
		lines = append(lines, "the goal that you gave is not used: this project has one")
	}
	if warning != "" {
		lines = append(lines, "warning: "+warning)
	}
	lines = append(lines, "next: git liza status")
	return c.answer(map[string]any{"joined": true, "remote": b.Remote(), "commit": v.Commit, "goal": goal.Description, "integration_branch": config.IntegrationBranch}, strings.Join(lines, "\n"))
}

// boardsElsewhere are the remotes that have a board, where this clone has none. They are not asked when a board is to
// be begun without them.
func (c *call) boardsElsewhere(alone bool, hint string) ([]string, error) {
	if tip, err := c.opened.Repo().Ref(c.ctx, oplog.Ref); err != nil || !tip.IsZero() || alone {
		return nil, err
	}
	found, err := c.opened.SharedBoards(c.ctx)
	if errors.As(err, new(*gitio.NetworkError)) {
		return nil, &outcome{3, "network", err.Error() + ", so nobody knows whether this project has a board already", hint}
	}
	return found, err
}
