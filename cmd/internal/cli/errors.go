package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/gitio"
	"github.com/git-liza/git-liza/gitboard/lease"
	"github.com/git-liza/git-liza/gitboard/oplog"
	"github.com/git-liza/git-liza/gitboard/remote"
	"github.com/git-liza/git-liza/roles/supervisor"
)

// usageError is a command line that can't be understood.
type usageError struct{ message, hint string }

func (e *usageError) Error() string { return e.message }

func usage(cmd *command, format string, args ...any) error {
	e := &usageError{message: fmt.Sprintf(format, args...), hint: "git liza help"}
	if cmd != nil {
		e.hint = "git liza " + cmd.name + " -h"
	}
	return e
}

// outcome is an error whose consequences stand on the board or were printed already: it carries its own
// exit code.
type outcome struct {
	exit          int
	code, message string
	hint          string
}

func (e *outcome) Error() string { return e.message }

// hinted gives a refusal that names no way out the nearest one: the command's page, or the task's story.
func (cmd *command) hinted(err error) error {
	r := (*board.Refusal)(nil)
	switch {
	case !errors.As(err, &r) || r.Hint != "":
	case r.Code == "invalid":
		r.Hint = "git liza " + cmd.name + " -h"
	case r.Task != "":
		r.Hint = "git liza show " + r.Task
	}
	return err
}

// class is what an error means to whoever called: code for programs, exit code, and a way out.
type class struct {
	exit int
	code string
	hint string
}

// classify maps every kind of error to its exit code, in this one place. The numbers are the protocol's.
func classify(err error) class {
	var (
		use     *usageError
		done    *outcome
		refusal *board.Refusal
		lost    *gitboard.LostError
		record  *oplog.RecordError
		newer   *oplog.NewerFormatError
		old     *gitio.UnsupportedError
		foreign *gitio.ForeignError
		storage *gitio.StorageError
		broken  *gitio.BrokenRefError
		command *gitio.CommandError
		network *gitio.NetworkError
		apart   *remote.DivergedError
		stop    *supervisor.StopError
	)
	switch {
	case err == nil:
		return class{}
	case errors.As(err, &use):
		return class{1, "usage", use.hint}
	case errors.As(err, &done):
		return class{done.exit, done.code, done.hint}
	case errors.As(err, &stop):
		return class{stop.Exit, "stopped", stop.Hint}
	case errors.As(err, &refusal) && refusal.Code == "busy":
		return class{2, refusal.Code, refusal.Hint}
	case errors.As(err, &refusal):
		return class{1, refusal.Code, refusal.Hint}
	case errors.Is(err, oplog.ErrNoBoard):
		return class{1, "no-board", `git liza init "GOAL", or git liza init in a clone of a shared project`}
	case errors.Is(err, gitio.ErrNotRepository):
		return class{1, "not-a-repository", "go to a git repository, or make one: git init"}
	case errors.As(err, &foreign):
		return class{1, "foreign", "if you trust it: git config --global --add safe.directory " + foreign.Dir}
	case errors.Is(err, lease.ErrTaken):
		return class{1, "lease", "stop: somebody else has taken over"}
	case errors.Is(err, gitio.ErrBusy):
		return class{2, "lost-race", "try again after a pause; should a crash have left that lock, git liza doctor says so"}
	case errors.As(err, &lost):
		return class{2, "lost-race", "try again after a pause"}
	case errors.As(err, &record):
		return class{4, "inconsistent", "stop, and let a human look: git liza verify"}
	case errors.As(err, &broken):
		return class{4, "inconsistent", "stop, and let a human look: git fsck, and git reflog " + broken.Ref}
	case errors.As(err, &newer):
		return class{5, "newer-format", "install a newer git-liza"}
	case errors.As(err, &old):
		return class{5, "unsupported", ""}
	case errors.As(err, &apart):
		return class{4, "diverged", "stop, and let a human look: git liza log, and git log refs/liza/remotes/" + apart.Remote + "/state"}
	case errors.As(err, &network) && errors.Is(err, gitio.ErrLockedThere):
		return class{3, "rejected", "nothing was changed: try again after a pause; should a crash have left that lock, git liza doctor says so in the remote's repository"}
	case errors.As(err, &network) && errors.Is(err, gitio.ErrRejected):
		return class{3, "rejected", "nothing was changed; what the remote takes is up to its settings and hooks"}
	case errors.As(err, &network):
		return class{3, "network", "reading works; note, anomaly and discover take --offline"}
	case errors.As(err, &storage):
		return class{3, "storage", ""}
	case errors.As(err, &command):
		return class{3, "git", ""}
	case errors.Is(err, context.Canceled):
		return class{3, "interrupted", ""}
	}
	return class{3, "failed", ""}
}

// ExitCode is the exit code of an error.
func ExitCode(err error) int { return classify(err).exit }

func (a *App) printError(err error, asJSON bool) {
	c := classify(err)
	message := err.Error()
	if asJSON {
		data, _ := json.Marshal(map[string]any{"error": map[string]string{"code": c.code, "message": message, "hint": c.hint}})
		fmt.Fprintf(a.Stderr, "%s\n", data)
		return
	}
	if answer := (hookRefusal{}); errors.As(err, &answer) {
		fmt.Fprint(a.Stderr, answer.text())
		return
	}
	fmt.Fprintf(a.Stderr, "git liza: %s\n", strings.TrimSpace(board.Visible(message)))
	if c.hint != "" {
		fmt.Fprintf(a.Stderr, "hint: %s\n", board.Visible(c.hint))
	}
}
