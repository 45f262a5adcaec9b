package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/cmd/internal/records"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/audit"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/codec"
	"github.com/git-liza/git-liza/gitboard/onefile"
	"github.com/git-liza/git-liza/gitboard/oplog"
	"github.com/git-liza/git-liza/gitboard/plain"
)

var _ = add(validateCommand)

func validateCommand() *edge.Command {
	return &edge.Command{
		Name: "validate", Group: "machines", Args: "[FILE]", Max: 1, Reads: true, Anywhere: true,
		Short: "check the board, a record in a file, or a whole board in one, against the invariants",
		Long: `Prints VALID, or a line INVALID: ... for each violation (exit code 1); warnings as WARNING: ....
With --at it is the board alone, without the repository. A FILE is one record of a board, like the
tasks/add-auth.yaml of its tree (its path says which kind), or what git liza read prints: a WARNING says what
git liza import would change of it, an INVALID names a fault and its line.`,
		Example: `git liza validate state.yaml`,
		Run: func(ctx context.Context, c *edge.Call) error {
			if len(c.Args) == 1 && c.At != "" {
				return edge.Usage(c.Cmd, "a file has no --at")
			}
			if len(c.Args) == 1 {
				return validateFile(ctx, c, c.Args[0])
			}
			if err := c.Open(ctx); err != nil {
				return err
			}
			v, err := c.View(ctx)
			if err != nil {
				return err
			}
			if c.At != "" {
				return validatePast(c, v)
			}
			issues, err := records.Validate(ctx, c, v)
			if err != nil {
				return err
			}
			return reportIssues(c, issues)
		},
	}
}

// validatePast checks a past board only against its own invariants, since repository and leases are
// present ones.
func validatePast(c *edge.Call, v *gitboard.View) error {
	var issues []audit.Issue
	for _, found := range board.Violations(v.State) {
		issues = append(issues, audit.Issue{Level: audit.Invalid, Record: found.Record, Field: found.Field, Text: found.What})
	}
	if err := v.State.Err(); err != nil {
		return err
	}
	return reportIssues(c, issues)
}

// validateFile reads one record as strictly as the board does.
func validateFile(ctx context.Context, c *edge.Call, file string) error {
	path := file
	if !filepath.IsAbs(path) {
		path = filepath.Join(c.Directory(), path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return edge.Usage(c.Cmd, "%v", err)
	}
	record := recordAt(filepath.ToSlash(path))
	if board.NewRecord(record) == nil {
		return validateExport(c, file, data)
	}
	r, err := codec.Decode(record, data)
	if err != nil {
		var form *codec.Error
		if errors.As(err, &form) {
			err = form.Err
		}
		return reportIssues(c, []audit.Issue{{Level: audit.Invalid, Record: file, Text: err.Error()}})
	}
	issues, err := violationsOf(ctx, c, record, r)
	for i := range issues {
		issues[i].Record = file
	}
	if err != nil {
		return err
	}
	return reportIssues(c, issues)
}

// validateExport checks a whole board in one file as an import would read it.
func validateExport(c *edge.Call, file string, data []byte) error {
	now := board.At(c.App.Now())
	whole, err := onefile.Read(onefile.Input{File: filepath.Base(file), State: data, Now: now, Clone: "here", Session: "none"})
	var bad *onefile.Error
	var issues []audit.Issue
	if errors.As(err, &bad) {
		for _, f := range bad.Faults {
			issues = append(issues, audit.Issue{Level: audit.Invalid, Record: file, Text: fmt.Sprintf("line %d: %s", f.Line, f.What)})
		}
		return reportIssues(c, issues)
	}
	if err != nil {
		return err
	}
	for _, line := range whole.Changed {
		issues = append(issues, audit.Issue{Level: audit.Warning, Record: file, Text: line})
	}
	return reportIssues(c, issues)
}

// recordAt is a file's path as a record in the tree: its own last parts, or those without the
// directories that the tree has between a family and its records.
func recordAt(file string) string {
	parts := strings.Split(file, "/")
	for n := 1; n <= min(4, len(parts)); n++ {
		path := strings.Join(parts[len(parts)-n:], "/")
		if id, isYAML := strings.CutSuffix(parts[len(parts)-1], ".yaml"); isYAML && n == 2 {
			path = board.RecordPath(parts[len(parts)-2], id)
		}
		if board.NewRecord(path) != nil {
			return path
		}
	}
	return file
}

// violationsOf checks a record against the invariants as if it were on the board. Without a board
// only its form can be checked.
func violationsOf(ctx context.Context, c *edge.Call, path string, record any) ([]audit.Issue, error) {
	if err := c.Open(ctx); err != nil {
		return nil, nil //nolint:nilerr // a file can be anywhere
	}
	v, err := c.Board.View(ctx)
	if errors.Is(err, oplog.ErrNoBoard) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var issues []audit.Issue
	with := board.NewState(v.State, v.State.Time())
	with.Changes()[path] = record
	for _, found := range board.Violations(with) {
		if found.Record == path {
			issues = append(issues, audit.Issue{Level: audit.Invalid, Field: found.Field, Text: found.What})
		}
	}
	return issues, nil
}

func reportIssues(c *edge.Call, issues []audit.Issue) error {
	invalid := 0
	var lines []string
	list := []map[string]string{}
	for _, i := range issues {
		if i.Level == audit.Invalid {
			invalid++
		}
		lines = append(lines, i.String())
		list = append(list, map[string]string{"level": i.Level, "record": i.Record, "field": i.Field, "text": i.Text})
	}
	if invalid == 0 {
		lines = append(lines, "VALID")
	}
	if c.JSON {
		if err := c.PrintJSON(map[string]any{"valid": invalid == 0, "issues": list}); err != nil {
			return err
		}
	} else if err := c.Say(lines...); err != nil {
		return err
	}
	if invalid > 0 {
		hint := "git liza verify shows how it came about"
		if len(c.Args) == 1 {
			hint = "git liza docs board-format"
		}
		return &edge.Outcome{Exit: 1, Code: board.CodeInvalid, Message: plain.Plural(invalid, "violation"), Hint: hint}
	}
	return nil
}
