package doctor

import (
	"context"
	"path/filepath"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/git/records"
	"github.com/git-liza/git-liza/worktrees"
)

// The kinds of problem.
const (
	MissingWorktree  = "missing-worktree"
	DamagedWorktree  = "damaged-worktree"
	MissingBranch    = "missing-branch"
	BrokenRef        = "broken-ref"
	LostSubmission   = "lost-submission"
	LostWork         = "lost-work"
	MalformedWork    = "malformed-work"
	NoIntegration    = "no-integration"
	LeftCandidate    = "left-candidate"
	LeftWorktree     = "left-worktree"
	LeftBranch       = "left-branch"
	UnknownWorktree  = "unknown-worktree"
	PrunableWorktree = "prunable-worktree"
	WrongBranch      = "wrong-branch"
	StaleLock        = "stale-lock"
	LeftRecord       = "left-record"
	FixNotBegun      = "fix-not-begun"
	ExpiredMerge     = "expired-merge-lease"
	DamagedRecord    = "damaged-record"
	DamagedBoard     = "damaged-board"
	MissingHome      = "missing-home"
	LostBoard        = "lost-board"
	MissingRemote    = "missing-remote"
	SetBackBoard     = "set-back-board"
	Apart            = "apart"
	SetBackBranch    = "set-back-integration"
	LooseObjects     = "loose-objects"
	HalfHooks        = "half-hooks"
	OddSettings      = "odd-settings"
	ClockSkew        = "clock-skew"
)

// Problem is a difference between the clone and the board, or the remains of a crash.
type Problem struct {
	Kind string `json:"kind"`
	Task string `json:"task,omitempty"`
	Path string `json:"path,omitempty"`
	Ref  string `json:"ref,omitempty"` // the ref that leads to no object
	Text string `json:"text"`          // one sentence
	Hint string `json:"hint,omitempty"`
	// Fix repairs the problem and can be repeated; nil if only a human can repair it.
	Fix func(ctx context.Context) error `json:"-"`
}

// Concerning returns a function that selects the problems of one task: its own, locks left on its
// branch or in its worktree, and records that keep git from seeing any worktree.
func Concerning(ctx context.Context, b *gitboard.Board, task string) (func(Problem) bool, error) {
	project, err := worktrees.Open(ctx, b)
	if err != nil {
		return nil, err
	}
	path := project.Path(task)
	v, err := b.View(ctx)
	if err != nil {
		return nil, err
	}
	branch := filepath.Join(b.Repo().CommonDir(), filepath.FromSlash(v.TaskRef(task))) + ".lock"
	record := records.LinkedDir(path)
	return func(p Problem) bool {
		if p.Task == task || p.Kind == DamagedRecord {
			return true
		}
		return p.Path != "" && (p.Path == path || p.Path == branch || worktrees.SamePath(filepath.Dir(p.Path), record))
	}, nil
}
