package cli

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/sprint"
)

func checkpointCommand() *command {
	var reason, task string
	return &command{
		name: "checkpoint", group: "human", max: 0, writes: true,
		short: "halt claims, review claims and merges until a human has decided, and write the sprint's summary",
		long: `A planner may ask for one, too; a human releases it: git liza resume --decision CONTINUE.
With --task it is one task that waits for a human: it is paused.`,
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&reason, "reason", "", "why")
			f.StringVar(&task, "task", "", "this `TASK` only (a human)")
		},
		run: func(c *call) error {
			if task != "" {
				return c.checkpointTask(task, reason)
			}
			done, err := c.do("checkpoint", gitboard.Just(&board.SetCheckpoint{Reason: reason}))
			if err != nil {
				return err
			}
			file, err := c.keepSummary(done)
			if err != nil {
				return fmt.Errorf("the board is at CHECKPOINT, but its summary could not be kept (git liza sprint show --summary prints it): %w", err)
			}
			return c.report(done, map[string]any{"summary": file}, "summary: "+file, "a human decides: git liza resume --decision CONTINUE")
		},
	}
}

// checkpointTask lets one task wait for a human.
func (c *call) checkpointTask(task, reason string) error {
	if c.agentID() != "" {
		return board.Refuse("permission", "a checkpoint of one task is for a human", "ask one: git liza note --for human TEXT")
	}
	done, err := c.do("pause", gitboard.Just(&board.Pause{About: board.About{Task: task}, Reason: strings.TrimSuffix("checkpoint: "+reason, ": ")}))
	if err != nil {
		return err
	}
	return c.report(done, nil, "a human decides: git liza show "+task+", then git liza resume --task "+task+" --decision CONTINUE")
}

// keepSummary writes the sprint's summary as of an operation that halted the board, and returns the file.
func (c *call) keepSummary(done *gitboard.Done) (string, error) {
	text, err := sprint.Summary(done.After, done.Op.Time.Std())
	if err != nil {
		return "", err
	}
	name := "summaries/" + strings.NewReplacer("-", "", ":", "").Replace(string(done.Op.Time)) + "-" + done.After.Sprint().ID + ".md"
	if err := c.opened.Keep(name, text); err != nil {
		return "", err
	}
	return filepath.Join(c.opened.Repo().CommonDir(), "liza", filepath.FromSlash(name)), nil
}
