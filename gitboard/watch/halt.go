package watch

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report/breaker"
	"github.com/git-liza/git-liza/gitboard/report/sprint"
)

// Trip writes the report of the patterns among the anomalies, and trips the circuit breaker, which halts the
// board. It returns the report's file.
func Trip(ctx context.Context, b *gitboard.Board, r gitboard.Request, at board.Time) (*gitboard.Done, string, error) {
	v, err := b.View(ctx)
	if err != nil {
		return nil, "", err
	}
	found := board.FindPatterns(v.State)
	if err := v.State.Err(); err != nil {
		return nil, "", err
	}
	if len(found) == 0 {
		return nil, "", board.Refuse(board.CodeWrongState, "the pattern is gone", "git liza read anomalies")
	}
	text, err := breaker.Report(v.State, found, at)
	if err != nil {
		return nil, "", err
	}
	name := "reports/" + strings.NewReplacer("-", "", ":", "").Replace(string(at)) + "-" + found[0].Pattern + ".md"
	if err := b.Keep(name, text); err != nil {
		return nil, "", err
	}
	done, err := b.Do(ctx, r, gitboard.Just(&board.Trip{
		Pattern: found[0].Pattern, Severity: found[0].Severity, ReportFile: "liza/" + name,
	}))
	refusal := (*board.Refusal)(nil)
	if errors.As(err, &refusal) || err == nil && done.Repeated {
		_ = b.Discard(name) // another report belongs to the trigger
	}
	if err != nil {
		return nil, "", err
	}
	return done, filepath.Join(b.Repo().CommonDir(), filepath.FromSlash(done.Op.Payload.(*board.Trip).ReportFile)), nil
}

// KeepSummary writes the sprint's summary as of an operation that halted the board, and returns the file.
func KeepSummary(b *gitboard.Board, done *gitboard.Done) (string, error) {
	text, err := sprint.Summary(done.After, done.Op.Time.Std())
	if err != nil {
		return "", err
	}
	name := "summaries/" + strings.NewReplacer("-", "", ":", "").Replace(string(done.Op.Time)) + "-" + done.After.Sprint().ID + ".md"
	if err := b.Keep(name, text); err != nil {
		return "", err
	}
	return filepath.Join(b.Repo().CommonDir(), "liza", filepath.FromSlash(name)), nil
}
