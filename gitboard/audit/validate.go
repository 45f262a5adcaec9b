package audit

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
)

// Issue is a problem of the current board.
type Issue struct {
	Level  string // Invalid or Warning
	Record string // the record's path
	Field  string
	Text   string
}

// The levels of issues. A board with an Invalid issue is not valid.
const (
	Invalid = "INVALID"
	Warning = "WARNING"
)

func (i Issue) String() string {
	if i.Field == "" {
		return fmt.Sprintf("%s: %s: %s", i.Level, i.Record, i.Text)
	}
	return fmt.Sprintf("%s: %s: %s: %s", i.Level, i.Record, i.Field, i.Text)
}

// Overdue is how long a working agent's lease may have been expired before that is worth a warning.
const Overdue = 60 * time.Second

// Here is a validation's knowledge apart from the board and the repository.
type Here struct {
	Clone       string               // this clone's name
	Leases      map[string]time.Time // the end of each agent's lease
	Now         time.Time
	NoSpecFiles bool // don't look for spec files (SKIP_SPEC_FILE_CHECK)
}

// Validate checks a board against its invariants and, if there is a repository, against that:
// section 6 of the protocol. An error means that the repository could not be read.
func Validate(ctx context.Context, state *board.State, store log.Store, repo *git.Repo, here Here) ([]Issue, error) {
	v := &validation{state: state, clone: here.Clone, noSpecFiles: here.NoSpecFiles}
	for _, b := range board.Violations(state) {
		v.add(Invalid, b.Record, b.Field, "%s", b.What)
	}
	v.working(here.Leases, here.Now)
	if repo != nil && state.Err() == nil {
		if err := v.repository(ctx, store, repo); err != nil {
			return nil, err
		}
	}
	var broken *log.RecordError
	if err := state.Err(); errors.As(err, &broken) {
		// Other problems may be a consequence of this one.
		return []Issue{{Invalid, broken.Path, "", broken.Err.Error()}}, nil
	} else if err != nil {
		return nil, err
	}
	return v.issues, nil
}

type validation struct {
	state       *board.State
	clone       string
	noSpecFiles bool
	issues      []Issue
}

func (v *validation) add(level, record, field, format string, args ...any) {
	v.issues = append(v.issues, Issue{level, record, field, fmt.Sprintf(format, args...)})
}

// working checks that working agents have a lease.
func (v *validation) working(leases map[string]time.Time, now time.Time) {
	for _, id := range v.state.List(board.AgentDir) {
		a := v.state.Agent(id)
		if a == nil || a.Status != board.Working {
			continue
		}
		path := board.RecordPath(board.AgentDir, id)
		if until, ok := leases[id]; !ok {
			v.add(Invalid, path, "lease_expires", "%s is WORKING without a lease", id)
		} else if over := now.Sub(until); over > Overdue {
			v.add(Warning, path, "lease_expires", "the lease expired %s ago", over.Round(time.Second))
		}
	}
}

// repository checks that the targets of the records exist.
func (v *validation) repository(ctx context.Context, store log.Store, repo *git.Repo) error {
	branch := v.state.Config().IntegrationBranch // Violations has read all records
	tip, err := store.Ref(ctx, plumbing.BranchRef(branch))
	if err != nil {
		return err
	}
	if tip.IsZero() {
		v.add(Warning, board.ConfigPath, "integration_branch", "there is no branch %s in this clone", branch)
	}
	made, err := worktrees(ctx, repo)
	if err != nil {
		return err
	}
	for _, g := range v.state.Goals() {
		if g.Status != board.InProgress || tip.IsZero() {
			continue
		}
		if err := v.spec(ctx, repo, tip, Warning, board.GoalPath(g.ID), g.SpecRef); err != nil {
			return err
		}
	}
	merged := &merged{repo: repo, branch: branch, tip: tip}
	for _, b := range v.state.Tasks() {
		t := v.state.Task(b.ID)
		path := board.RecordPath(board.TaskDir, t.ID)
		if t.Status == board.Claimed && t.Clone == v.clone && made != nil && !slices.Contains(made, filepath.FromSlash(t.Worktree)) {
			v.add(v.level(repo, t, Invalid), path, "worktree", "%s does not exist", t.Worktree)
		}
		if !tip.IsZero() && !t.Status.Terminal() && t.Status != board.Draft {
			level := Invalid
			if t.SpecOID == "" || t.Last(board.EventImported) != nil {
				level = Warning // nobody has looked for it here
			}
			if err := v.spec(ctx, repo, tip, level, path, t.SpecRef); err != nil {
				return err
			}
		}
		if err := v.commits(ctx, merged, path, t); err != nil {
			return err
		}
	}
	return nil
}

// level returns the severity of something missing from a task. The repository may lack what was
// imported or is another clone's.
func (v *validation) level(repo *git.Repo, t *board.Task, level string) string {
	if repo.Shallow() || t.Last(board.EventImported) != nil || t.Clone != "" && t.Clone != v.clone {
		return Warning
	}
	return level
}

func (v *validation) spec(ctx context.Context, repo *git.Repo, tip plumbing.OID, level, path, ref string) error {
	file, _, _ := strings.Cut(ref, "#")
	if file == "" || v.noSpecFiles {
		return nil
	}
	_, err := repo.History().FileOID(ctx, tip, file)
	if errors.Is(err, git.ErrNotFound) {
		v.add(level, path, "spec_ref", "%s is not a file on the integration branch", file)
		return nil
	}
	return err
}

// merged knows which commits integration contains.
type merged struct {
	repo   *git.Repo
	branch string
	tip    plumbing.OID
	known  map[plumbing.OID]bool // since the base of the first task asked about
}

// holds reports whether integration contains a task's merge commit. Listing the branch once answers
// it for nearly all tasks.
func (m *merged) holds(ctx context.Context, t *board.Task) (bool, error) {
	if m.known == nil {
		m.known = map[plumbing.OID]bool{}
		var since []plumbing.OID
		_, err := m.repo.ResolveCommit(ctx, t.BaseCommit)
		if err == nil {
			since, err = m.repo.History().RevList(ctx, plumbing.OID(t.BaseCommit), m.tip)
		}
		if err != nil && !errors.Is(err, git.ErrNotFound) {
			return false, err
		}
		for _, oid := range since {
			m.known[oid] = true
		}
	}
	commit := plumbing.OID(t.MergeCommit)
	if m.known[commit] {
		return true, nil
	}
	return m.repo.History().IsAncestor(ctx, commit, m.tip)
}

func (v *validation) commits(ctx context.Context, merged *merged, path string, t *board.Task) error {
	fields := []struct{ name, oid string }{
		{"base_commit", t.BaseCommit}, {"review_base", t.ReviewBase}, {"review_commit", t.ReviewCommit}, {"merge_commit", t.MergeCommit},
	}
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.oid
	}
	objects, err := merged.repo.Objects(ctx, names)
	if err != nil {
		return err
	}
	for i, f := range fields {
		if f.oid != "" && (objects[i].OID != plumbing.OID(f.oid) || objects[i].Type != plumbing.CommitObject) {
			v.add(v.level(merged.repo, t, Invalid), path, f.name, "there is no commit %s here", f.oid)
		} else if f.name == "merge_commit" && f.oid != "" && !merged.tip.IsZero() {
			on, err := merged.holds(ctx, t)
			if err != nil {
				return err
			}
			if !on {
				v.add(v.level(merged.repo, t, Invalid), path, f.name, "%s is not on %s", f.oid, merged.branch)
			}
		}
	}
	return nil
}

// worktrees lists the existing worktrees, relative to the project's root; nil if there is no root.
func worktrees(ctx context.Context, repo *git.Repo) ([]string, error) {
	all, err := repo.Worktrees(ctx)
	if len(all) == 0 || all[0].Bare {
		return nil, err
	}
	made := []string{}
	for _, w := range all[1:] {
		if !w.Prunable {
			rel, _ := filepath.Rel(all[0].Path, w.Path) // git's paths are absolute
			made = append(made, rel)
		}
	}
	return made, nil
}
