package watch

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/audit"
	"github.com/git-liza/git-liza/gitboard/report"
)

// straysFile records how far integration was compared with the board in this clone.
const straysFile = "integration.json"

// Strays are agents' commits that reached integration without an operation. It examines what is new
// since the last look of any process in this clone; if integration has not moved, that costs
// reading one ref.
func Strays(ctx context.Context, b *gitboard.Board, v *gitboard.View) ([]report.Stray, error) {
	since, err := keptStrays(b)
	if err != nil {
		return nil, err
	}
	now, err := compare(ctx, b, v, since)
	if err != nil {
		return nil, err
	}
	if now.Integration != since.Integration {
		if data, err := json.Marshal(now); err == nil {
			_ = b.Clone().Keep(straysFile, string(data)) // on failure, the next look starts where this one did
		}
	}
	return strays(now), nil
}

// AllStrays is Strays without relying on what earlier looks have accepted.
func AllStrays(ctx context.Context, b *gitboard.Board, v *gitboard.View) ([]report.Stray, error) {
	since, err := keptStrays(b)
	if err != nil {
		return nil, err
	}
	now, err := compare(ctx, b, v, audit.Strays{Found: since.Found})
	return strays(now), err
}

func keptStrays(b *gitboard.Board) (since audit.Strays, err error) {
	text, err := kept(b, straysFile)
	_ = json.Unmarshal([]byte(text), &since) // what can't be read is examined again
	return since, err
}

// kept is b.Kept for records that a look can do without. Another user's file that this one may not
// read counts as empty: the repository can be read all the same.
func kept(b *gitboard.Board, name string) (string, error) {
	text, err := b.Clone().Kept(name)
	if errors.Is(err, fs.ErrPermission) {
		return "", nil
	}
	return text, err
}

func compare(ctx context.Context, b *gitboard.Board, v *gitboard.View, since audit.Strays) (audit.Strays, error) {
	return audit.Compare(ctx, b.Log().Store(), b.Repo(), v.Snapshot, since, b.Operation)
}

func strays(s audit.Strays) []report.Stray {
	var all []report.Stray
	for _, f := range s.Found {
		all = append(all, report.Stray{Commit: string(f.Commit), Text: f.Text})
	}
	return all
}
