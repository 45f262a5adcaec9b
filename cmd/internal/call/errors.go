package call

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/cmdline"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/lease"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/log/codec"
	"github.com/git-liza/git-liza/gitboard/share"
	"github.com/git-liza/git-liza/gitboard/text"
	"github.com/git-liza/git-liza/roles/supervisor"
)

// UsageError is a command line that can't be understood.
type UsageError struct{ Message, Hint string }

func (e *UsageError) Error() string { return e.Message }

func Usage(cmd *Command, format string, args ...any) error {
	e := &UsageError{Message: fmt.Sprintf(format, args...), Hint: "git liza help"}
	if cmd != nil {
		e.Hint = "git liza " + cmd.Name + " -h"
	}
	return e
}

// NoHolder refuses a --role that does not determine whose claim is meant.
func NoHolder(role string) error {
	names := []string{"coder", "reviewer", "both"}
	hint := "use --role coder"
	if near := text.Nearest(role, names, 1); len(near) > 0 {
		hint = "nearest: " + near[0]
	}
	return &UsageError{Message: fmt.Sprintf("--role is coder, reviewer or both, not %q", role), Hint: hint}
}

// Outcome is an error whose consequences are already on the board or printed. It has its own exit
// code.
type Outcome struct {
	Exit    int
	Code    board.ErrorCode
	Message string
	Hint    string
}

func (e *Outcome) Error() string { return e.Message }

// Class is an error's meaning for the caller: its exit code, its code for programs, and a hint.
type Class struct {
	Exit int
	Code board.ErrorCode
	Hint string
}

// Classify is the only place that maps errors to exit codes. The numbers are the protocol's.
func Classify(err error) Class {
	var (
		use     *UsageError
		done    *Outcome
		refusal *board.Refusal
		lost    *gitboard.LostError
		record  *log.RecordError
		newer   *log.NewerFormatError
		old     *git.UnsupportedError
		foreign *git.ForeignError
		storage *git.StorageError
		broken  *git.BrokenRefError
		command *git.CommandError
		network *git.NetworkError
		apart   *share.DivergedError
		unclear *log.UnclearError
		gone    *share.LostError
		stop    *supervisor.StopError
	)
	switch {
	case err == nil:
		return Class{}
	case errors.As(err, &use):
		return Class{1, CodeUsage, use.Hint}
	case errors.As(err, &done):
		return Class{done.Exit, done.Code, done.Hint}
	case errors.As(err, &stop):
		return Class{stop.Exit, CodeStopped, stop.Hint}
	case errors.As(err, &refusal) && refusal.Code == board.CodeBusy:
		return Class{2, refusal.Code, cmdline.Hint(refusal.Hint)}
	case errors.As(err, &refusal):
		return Class{1, refusal.Code, cmdline.Hint(refusal.Hint)}
	case errors.As(err, new(gitboard.GoneError)):
		return Class{4, CodeInconsistent, "git liza doctor says what is left of it; with --fix it brings that back"}
	case errors.Is(err, log.ErrNoBoard):
		return Class{1, board.CodeNoBoard, `git liza init "GOAL", or git liza init in a clone of a shared project`}
	case errors.Is(err, git.ErrNotRepository):
		return Class{1, CodeNotARepository, "go to a git repository, or make one: git init"}
	case errors.As(err, &foreign):
		return Class{1, CodeForeign, "if you trust it: git config --global --add safe.directory " + foreign.Dir}
	case errors.As(err, new(*git.AmbiguousError)):
		return Class{1, board.CodeInvalid, "use one of these names, as it stands there"}
	case errors.Is(err, lease.ErrTaken):
		return Class{1, board.CodeLease, "stop: somebody else has taken over"}
	case errors.Is(err, git.ErrBusy):
		return Class{2, CodeLostRace, "try again after a pause; run git liza doctor to check for a stale lock"}
	case errors.As(err, &lost):
		return Class{2, CodeLostRace, "try again after a pause"}
	case errors.As(err, &record) && errors.Is(err, git.ErrNotFound), errors.As(err, &broken), errors.As(err, new(*git.DamagedError)):
		return Class{4, CodeInconsistent, "stop, and let a human look: git liza doctor"}
	case errors.As(err, &record), errors.As(err, new(*board.MissingError)):
		return Class{4, CodeInconsistent, "stop, and let a human look: git liza verify"}
	case errors.As(err, new(*share.TornError)):
		return Class{4, CodeInconsistent, "the operation is on the board, and others don't see what belongs to it: stop; a human lets that repository take pushes to all refs of a board (receive.hideRefs, transfer.hideRefs), or shares it by another host"}
	case errors.As(err, new(*share.MovedError)):
		return Class{4, CodeInconsistent, "stop, and let a human look: git liza doctor says which of both is not what was submitted; then it is put right there"}
	case errors.As(err, new(*git.DamagedRecordError)):
		return Class{3, CodeGit, "git liza doctor --fix"}
	case errors.As(err, new(*git.DamagedIndexError)):
		return Class{3, CodeGit, "git liza doctor prints the command that makes another index"}
	case errors.As(err, new(*git.FilterError)):
		return Class{3, CodeGit, `make this filter work here, then run this again; git config --get-regexp "^filter[.]" shows its program`}
	case errors.As(err, &newer), errors.Is(err, codec.ErrNewer):
		return Class{5, CodeNewerFormat, "upgrade: " + Upgrade()}
	case errors.As(err, &old):
		return Class{5, CodeUnsupported, ""}
	case errors.As(err, &gone):
		return Class{4, CodeInconsistent, gone.WayOut()}
	case errors.As(err, &apart):
		return Class{4, CodeDiverged, "stop, and let a human look: git liza log, and git log " + plumbing.TrackingRef(apart.Remote, "state")}
	case errors.As(err, &unclear):
		return Class{3, Classify(unclear.Err).Code, "git liza sync, then git liza log: they show whether it was done; the same command with the same --request is done once at most"}
	case errors.As(err, &network) && errors.Is(err, git.ErrNoRemote):
		return Class{3, CodeNetwork, "git liza share NAME, with the name that it has now (git remote)"}
	case errors.As(err, &network) && errors.Is(err, git.ErrLockedThere):
		return Class{3, CodeRejected, "nothing was changed: try again after a pause; run git liza doctor in the remote's repository"}
	case errors.As(err, &network) && errors.Is(err, git.ErrNotAtomic):
		return Class{3, CodeRejected, "that host moves refs one by one, and a board needs all or none: share by another, as a bare repository on any machine that all can reach"}
	case errors.As(err, &network) && errors.Is(err, git.ErrHiddenThere):
		return Class{3, CodeRejected, "that repository takes no push to the board (receive.hideRefs): share by a bare repository that does; where it is a clone that others share on purpose, a human runs there: git liza hooks install --served"}
	case errors.As(err, &network) && errors.Is(err, git.ErrRejected):
		return Class{3, CodeRejected, "nothing was changed; the remote's settings or hooks rejected it"}
	case errors.As(err, &network):
		return Class{3, CodeNetwork, "reading works; " + strings.Join(board.OfflineOps(), ", ") + " take --offline"}
	case errors.As(err, &storage):
		return Class{3, CodeStorage, ""}
	case errors.As(err, &command):
		return Class{3, CodeGit, ""}
	case errors.As(err, new(*UnwrittenError)):
		return Class{3, CodeFailed, "git liza log"}
	case errors.Is(err, context.Canceled):
		return Class{3, CodeInterrupted, ""}
	}
	return Class{3, CodeFailed, ""}
}

// UnwrittenError means that an operation was carried out, but its answer could not be written: a
// repetition does it twice.
type UnwrittenError struct {
	Subject string
	Err     error
}

func (e *UnwrittenError) Error() string {
	return fmt.Sprintf("%q was carried out, but its answer can't be written: %v", e.Subject, e.Err)
}

// Unwrap returns why the answer can't be written.
func (e *UnwrittenError) Unwrap() error { return e.Err }

// ExitCode is the exit code of an error.
func ExitCode(err error) int { return Classify(err).Exit }

func (a *App) PrintError(err error, asJSON bool) {
	c := Classify(err)
	message := err.Error()
	if asJSON {
		o := map[string]any{"error": map[string]string{"code": string(c.Code), "message": message, "hint": c.Hint}}
		if m := (*messagedError)(nil); errors.As(err, &m) {
			o["messages"] = m.messages
		}
		data, _ := json.Marshal(o)
		fmt.Fprintf(a.Stderr, "%s\n", data)
		return
	}
	if own := interface{ Text() string }(nil); errors.As(err, &own) {
		fmt.Fprint(a.Stderr, own.Text())
		return
	}
	fmt.Fprintf(a.Stderr, "git liza: %s\n", strings.TrimSpace(text.Visible(message)))
	if c.Hint != "" {
		fmt.Fprintf(a.Stderr, "hint: %s\n", text.Visible(c.Hint))
	}
}

// Suggest names the keys most similar to a word, or all of them if none is similar.
func Suggest(word string, keys []string) string {
	if near := text.Nearest(word, keys, 3); len(near) > 0 {
		return "nearest: " + strings.Join(near, ", ")
	}
	if len(keys) == 0 {
		return "nothing is below it"
	}
	if len(keys) > 20 {
		keys = append(slices.Clip(keys[:20]), "...")
	}
	return "there are: " + strings.Join(keys, ", ")
}
