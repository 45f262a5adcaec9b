package screen

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/records"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/text"
	"github.com/git-liza/git-liza/worktrees"
)

// taskFacts is the input of a task's story: the record, and the repository's facts about the
// work.
type taskFacts struct {
	t           *board.Task
	state       *board.State
	config      *board.Config
	outlook     report.TaskOutlook
	now         time.Time
	submissions map[string]submission // by commit
	commits     []plumbing.Commit     // of the work, oldest first
	remarks     []report.Remark
	worktree    *worktrees.Status // nil if there is none
	unknown     error             // error from the repository, if any
}

// submission is the change of a submitted commit since the previous one, or of the first since its
// base.
type submission struct {
	number int
	since  int // number of the previous submission, 0 for none
	files  []git.FileStat
}

func FactsOf(ctx context.Context, c *call.Call, v *gitboard.View, t *board.Task) (*taskFacts, error) {
	f := &taskFacts{t: t, state: v.State, config: v.State.Config(), now: c.Moment(v.State)}
	if f.config == nil {
		return nil, v.State.Err()
	}
	leases, err := records.Leases(ctx, c, v)
	if err != nil {
		return nil, err
	}
	if c.At != "" {
		leases = nil
	}
	o, broken := report.Look(v.State, report.Outside{Leases: leases}, f.now)
	if broken != nil { // elsewhere: a new view, which has not read that record, shows the task
		again, err := c.View(ctx)
		if err != nil {
			return nil, err
		}
		f.state, f.outlook = again.State, report.TaskOutlook{Worker: t.AssignedTo}
	} else if i := slices.IndexFunc(o.Tasks, func(other report.TaskOutlook) bool { return other.ID == t.ID }); i >= 0 {
		f.outlook = o.Tasks[i]
	}
	// Git processes that do not depend on each other.
	var wait sync.WaitGroup
	errs := make([]error, 4)
	for i, ask := range []func(context.Context, *gitboard.Board) error{f.readSubmissions, f.readCommits, f.readWorktree, f.readRemarks} {
		if i == 2 && (c.At != "" || t.Worktree == "") {
			continue
		}
		wait.Go(func() { errs[i] = ask(ctx, c.Board) })
	}
	wait.Wait()
	f.unknown = errors.Join(append(errs, broken)...)
	return f, ctx.Err()
}

// readSubmissions counts the changes of each submission. It skips missing commits.
func (f *taskFacts) readSubmissions(ctx context.Context, b *gitboard.Board) error {
	var names []string // three each: the previous submission, the base, the submission
	var numbers []submission
	var of []string
	before := ""
	for _, e := range f.t.Submitted() {
		if e.Commit == before {
			continue
		}
		s := submission{number: len(numbers) + 1, since: len(numbers)}
		if before == "" {
			before = e.Base
		}
		names = append(names, before, e.Base, e.Commit)
		numbers, of = append(numbers, s), append(of, e.Commit)
		before = e.Commit
	}
	f.submissions = map[string]submission{}
	trees, err := treesOf(ctx, b.Repo(), names)
	if err != nil {
		return err
	}
	var pairs [][2]plumbing.OID // two each: since the previous submission, and in total
	var which []int
	for i, s := range numbers {
		f.submissions[of[i]] = s
		if a, base, b := trees[3*i], trees[3*i+1], trees[3*i+2]; !a.IsZero() && !base.IsZero() && !b.IsZero() {
			pairs, which = append(pairs, [2]plumbing.OID{a, b}, [2]plumbing.OID{base, b}), append(which, i)
		}
	}
	stats, err := b.Repo().History().DiffStats(ctx, pairs)
	if err != nil {
		return err
	}
	var earlier []string // files that the previous submissions change themselves
	for i, at := range which {
		s, own := numbers[at], paths(stats[2*i+1])
		since := stats[2*i]
		keep := report.OwnFiles(paths(since), earlier, own)
		s.files = slices.DeleteFunc(since, func(f git.FileStat) bool { return !slices.Contains(keep, f.Path) })
		f.submissions[of[at]] = s
		earlier = own
	}
	return nil
}

func paths(files []git.FileStat) []string {
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = f.Path
	}
	return names
}

// treesOf returns the trees of commits, zero for an id that is not a commit in this repository.
func treesOf(ctx context.Context, repo *git.Repo, names []string) ([]plumbing.OID, error) {
	objects, err := repo.Objects(ctx, names)
	if err != nil {
		return nil, err
	}
	trees := make([]plumbing.OID, len(names))
	for i, o := range objects {
		trees[i] = plumbing.ZeroOID
		if o.OID == "" || o.Type != plumbing.CommitObject {
			continue
		}
		c, err := plumbing.DecodeCommit(o)
		if err != nil {
			return nil, err
		}
		trees[i] = c.Tree
	}
	return trees, nil
}

// readCommits lists the commits of the branch, or without one those of the last submission.
func (f *taskFacts) readCommits(ctx context.Context, b *gitboard.Board) error {
	tip, err := plumbing.OID(f.t.ReviewCommit), error(nil)
	if e := f.t.Last(board.EventReady); tip == "" && e != nil {
		tip = plumbing.OID(e.Commit)
	}
	if f.t.Worktree != "" {
		var branch plumbing.OID
		if branch, err = b.Repo().Ref(ctx, plumbing.BranchRef(f.config.TaskBranches().Of(f.t.ID))); err != nil {
			return err
		}
		if !branch.IsZero() {
			tip = branch
		}
	}
	base, err := f.workBase(ctx, b, tip)
	if err != nil || tip == "" || base == "" || string(tip) == base {
		return err
	}
	here, err := treesOf(ctx, b.Repo(), []string{base, string(tip)})
	if err != nil || here[0].IsZero() || here[1].IsZero() {
		return err
	}
	f.commits, err = b.Repo().Log(ctx, plumbing.OID(base), tip)
	return err
}

// workBase is where the work that ends at tip left integration; a fix brings newer integration into
// the branch. It is "" if that is unknown.
func (f *taskFacts) workBase(ctx context.Context, b *gitboard.Board, tip plumbing.OID) (string, error) {
	if e := f.t.Last(board.EventReady); e != nil && (e.Commit == string(tip) || f.t.BaseCommit == "") {
		return e.Base, nil
	}
	if tip == "" || f.t.BaseCommit == "" {
		return f.t.BaseCommit, nil
	}
	integration, err := b.Repo().Ref(ctx, plumbing.BranchRef(f.config.IntegrationBranch))
	if err != nil || integration.IsZero() {
		return f.t.BaseCommit, err
	}
	base, err := b.Repo().History().MergeBase(ctx, integration, tip)
	if errors.Is(err, git.ErrNotFound) {
		return f.t.BaseCommit, nil
	}
	return string(base), err
}

func (f *taskFacts) readWorktree(ctx context.Context, b *gitboard.Board) error {
	var err error
	f.worktree, err = worktrees.StatusHere(ctx, b, f.t)
	return err
}

func (f *taskFacts) readRemarks(ctx context.Context, b *gitboard.Board) (err error) {
	f.remarks, err = b.Remarks(ctx, f.t)
	return err
}

// totals describes the amount of changes in one line.
func totals(files []git.FileStat) string {
	added, deleted := 0, 0
	for _, f := range files {
		added, deleted = added+f.Added, deleted+f.Deleted
	}
	return text.Plural(len(files), "file") + ", " + strings.Join([]string{plus(added), minus(deleted)}, " ")
}
