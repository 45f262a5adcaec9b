package watch

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/report/breaker"
	"github.com/git-liza/git-liza/gitboard/report/sprint"
)

// Trip writes the report of the patterns among the anomalies, and trips the circuit breaker, which
// halts the board. It returns the path of the report.
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
		return nil, "", board.Refusef(board.CodeWrongState, "the pattern is gone").Way(board.ActOn("read", board.AnomalyDir))
	}
	text, err := breaker.Report(v.State, found, at)
	if err != nil {
		return nil, "", err
	}
	name := "reports/" + strings.NewReplacer("-", "", ":", "").Replace(string(at)) + "-" + found[0].Pattern + ".md"
	if err := b.Clone().Keep(name, text); err != nil {
		return nil, "", err
	}
	done, err := b.Do(ctx, r, gitboard.Just(&board.Trip{
		Pattern: found[0].Pattern, Severity: found[0].Severity, ReportFile: "liza/" + name,
	}))
	refusal := (*board.Refusal)(nil)
	if errors.As(err, &refusal) || err == nil && done.Repeated {
		_ = b.Clone().Discard(name) // the trigger has another report
	}
	if err != nil {
		return nil, "", err
	}
	return done, filepath.Join(b.Repo().CommonDir(), filepath.FromSlash(done.Op.Payload.(*board.Trip).ReportFile)), nil
}

// KeepSummary writes the sprint's summary as of an operation that halted the board, and returns its
// path.
func KeepSummary(b *gitboard.Board, done *gitboard.Done) (string, error) {
	return keepSummary(b, done.After, summaryOf(done.After, done.Op.Time), done.Op.Time)
}

// KeepHaltSummary writes the sprint's summary, once, if the file .liza/CHECKPOINT is among the files
// that stop the clone, and returns its path and whether it is new.
func KeepHaltSummary(b *gitboard.Board, s *board.State, halts []report.Halt) (file string, wrote bool, err error) {
	i := slices.IndexFunc(halts, func(h report.Halt) bool { return h.Mode == board.CheckpointMode })
	if i < 0 {
		return "", false, nil
	}
	name := summaryOf(s, halts[i].Since)
	if kept, err := b.Clone().Kept(name); err != nil || kept != "" {
		return pathOf(b, name), false, err
	}
	file, err = keepSummary(b, s, name, halts[i].Since)
	return file, err == nil, err
}

// summaryOf is the name of the summary for a halt at a given time.
func summaryOf(s *board.State, at board.Time) string {
	return "summaries/" + strings.NewReplacer("-", "", ":", "").Replace(string(at)) + "-" + s.Sprint().ID + ".md"
}

func keepSummary(b *gitboard.Board, s *board.State, name string, at board.Time) (string, error) {
	text, err := sprint.Summary(s, at.Std())
	if err != nil {
		return "", err
	}
	if err := b.Clone().Keep(name, text); err != nil {
		return "", err
	}
	return pathOf(b, name), nil
}

func pathOf(b *gitboard.Board, name string) string {
	return filepath.Join(b.Repo().CommonDir(), "liza", filepath.FromSlash(name))
}
