package records

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/audit"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/log/codec"
	"github.com/git-liza/git-liza/gitboard/onefile"
)

// Validate checks a board and this repository, with the options in the caller's environment.
func Validate(ctx context.Context, c *call.Call, v *gitboard.View) ([]audit.Issue, error) {
	clone, err := c.Board.Clone().ID(ctx)
	if err != nil {
		return nil, err
	}
	leases := map[string]time.Time{}
	held, err := v.Leases(ctx)
	if err != nil {
		return nil, err
	}
	for agent, h := range held {
		leases[agent] = h.Expires.Std()
	}
	return audit.Validate(ctx, v.State, c.Board.Log().Store(), c.Board.Repo(),
		audit.Here{Clone: clone, Leases: leases, Now: c.App.Now(), NoSpecFiles: c.App.SkipSpecFile()})
}

// ValidatePast checks a past board only against its own invariants, because repository and leases
// are present ones.
func ValidatePast(v *gitboard.View) ([]audit.Issue, error) {
	var issues []audit.Issue
	for _, found := range board.Violations(v.State) {
		issues = append(issues, audit.Issue{Level: audit.Invalid, Record: found.Record, Field: found.Field, Text: found.What})
	}
	return issues, v.State.Err()
}

// ValidateFile checks a record in a file as strictly as the board does, or a whole board in a file as
// an import does.
func ValidateFile(ctx context.Context, c *call.Call, file string) ([]audit.Issue, error) {
	path := file
	if !filepath.IsAbs(path) {
		path = filepath.Join(c.Directory(), path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, call.Usage(c.Cmd, "%v", err)
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
		return []audit.Issue{{Level: audit.Invalid, Record: file, Text: err.Error()}}, nil
	}
	issues, err := violationsOf(ctx, c, record, r)
	for i := range issues {
		issues[i].Record = file
	}
	return issues, err
}

// validateExport checks a whole board in one file as an import would read it.
func validateExport(c *call.Call, file string, data []byte) ([]audit.Issue, error) {
	now := board.At(c.App.Now())
	whole, err := onefile.Read(onefile.Input{File: filepath.Base(file), State: data, Now: now, Clone: "here", Session: "none"})
	var bad *onefile.Error
	var issues []audit.Issue
	if errors.As(err, &bad) {
		for _, f := range bad.Faults {
			issues = append(issues, audit.Issue{Level: audit.Invalid, Record: file, Text: fmt.Sprintf("line %d: %s", f.Line, f.What)})
		}
		return issues, nil
	}
	if err != nil {
		return nil, err
	}
	for _, line := range whole.Changed {
		issues = append(issues, audit.Issue{Level: audit.Warning, Record: file, Text: line})
	}
	return issues, nil
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
func violationsOf(ctx context.Context, c *call.Call, path string, record any) ([]audit.Issue, error) {
	if err := c.Open(ctx); err != nil {
		return nil, nil //nolint:nilerr // a file can be anywhere
	}
	v, err := c.Board.View(ctx)
	if errors.Is(err, log.ErrNoBoard) {
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
