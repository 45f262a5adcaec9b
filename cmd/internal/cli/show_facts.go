package cli

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/gitio"
	"github.com/git-liza/git-liza/worktrees"
)

// taskFacts is what a task's story is told from: the record, and what the repository knows of the work.
type taskFacts struct {
	t           *board.Task
	state       *board.State
	config      *board.Config
	outlook     board.TaskOutlook
	now         time.Time
	submissions map[string]submission // by commit
	commits     []gitio.Commit        // of the work, the oldest first
	worktree    *worktrees.Status     // nil where there is none to speak of
	unknown     error                 // what the repository could not tell
}

// submission is what a submitted commit changed: since the one before, for the first since its base.
type submission struct {
	number int
	since  int // the number of the submission before; 0 for none
	files  []gitio.FileStat
}

func (c *call) taskFacts(v *gitboard.View, t *board.Task) (*taskFacts, error) {
	f := &taskFacts{t: t, state: v.State, config: v.State.Config(), now: c.app.Now()}
	if c.at != "" {
		f.now = v.State.Time().Std()
	}
	leases, err := c.leases(v)
	if err != nil {
		return nil, err
	}
	if c.at != "" {
		leases = nil
	}
	o, broken := board.Look(v.State, board.Beside{Leases: leases}, f.now)
	if broken != nil { // elsewhere: this task can be told all the same, from a look that has not met it
		again, err := c.view()
		if err != nil {
			return nil, err
		}
		f.state, f.outlook = again.State, board.TaskOutlook{Worker: t.AssignedTo}
	} else if i := slices.IndexFunc(o.Tasks, func(other board.TaskOutlook) bool { return other.ID == t.ID }); i >= 0 {
		f.outlook = o.Tasks[i]
	}
	// Three children that do not depend on each other.
	var wait sync.WaitGroup
	errs := make([]error, 3)
	for i, ask := range []func(context.Context, *gitboard.Board) error{f.readSubmissions, f.readCommits, f.readWorktree} {
		if i == 2 && (c.at != "" || t.Worktree == "") {
			continue
		}
		wait.Go(func() { errs[i] = ask(c.ctx, c.opened) })
	}
	wait.Wait()
	f.unknown = errors.Join(append(errs, broken)...)
	return f, c.ctx.Err()
}

// readSubmissions counts what each submission changed. Commits that are not here any more tell nothing.
func (f *taskFacts) readSubmissions(ctx context.Context, b *gitboard.Board) error {
	var names []string
	var numbers []submission
	var of []string
	before := ""
	for _, e := range f.t.History {
		if e.Event != board.EventReady || e.Commit == before {
			continue
		}
		s := submission{number: len(numbers) + 1, since: len(numbers)}
		if before == "" {
			before = e.Base
		}
		names = append(names, before, e.Commit)
		numbers, of = append(numbers, s), append(of, e.Commit)
		before = e.Commit
	}
	f.submissions = map[string]submission{}
	trees, err := treesOf(ctx, b.Repo(), names)
	if err != nil {
		return err
	}
	var pairs [][2]gitio.OID
	var which []int
	for i, s := range numbers {
		f.submissions[of[i]] = s
		if a, b := trees[2*i], trees[2*i+1]; !a.IsZero() && !b.IsZero() {
			pairs, which = append(pairs, [2]gitio.OID{a, b}), append(which, i)
		}
	}
	stats, err := b.Repo().DiffStats(ctx, pairs)
	if err != nil {
		return err
	}
	for i, files := range stats {
		s := numbers[which[i]]
		s.files = files
		f.submissions[of[which[i]]] = s
	}
	return nil
}

// treesOf are the trees of commits; zero for what is no commit here.
func treesOf(ctx context.Context, repo *gitio.Repo, names []string) ([]gitio.OID, error) {
	objects, err := repo.Objects(ctx, names)
	if err != nil {
		return nil, err
	}
	trees := make([]gitio.OID, len(names))
	for i, o := range objects {
		trees[i] = gitio.ZeroOID
		if o.OID == "" || o.Type != gitio.CommitObject {
			continue
		}
		c, err := gitio.DecodeCommit(o)
		if err != nil {
			return nil, err
		}
		trees[i] = c.Tree
	}
	return trees, nil
}

// readCommits lists the commits of the work: of its branch, else of the last submission.
func (f *taskFacts) readCommits(ctx context.Context, b *gitboard.Board) error {
	tip, err := gitio.OID(f.t.ReviewCommit), error(nil)
	if e := f.t.Last(board.EventReady); tip == "" && e != nil {
		tip = gitio.OID(e.Commit)
	}
	if f.t.Worktree != "" {
		var branch gitio.OID
		if branch, err = b.Repo().Ref(ctx, worktrees.Branch(f.t.ID)); err != nil {
			return err
		}
		if !branch.IsZero() {
			tip = branch
		}
	}
	base := f.t.BaseCommit
	if e := f.t.Last(board.EventReady); base == "" && e != nil {
		base = e.Base
	}
	if tip == "" || base == "" || string(tip) == base {
		return nil
	}
	here, err := treesOf(ctx, b.Repo(), []string{base, string(tip)})
	if err != nil || here[0].IsZero() || here[1].IsZero() {
		return err
	}
	f.commits, err = b.Repo().Log(ctx, gitio.OID(base), tip)
	return err
}

func (f *taskFacts) readWorktree(ctx context.Context, b *gitboard.Board) error {
	var err error
	f.worktree, err = worktrees.Standing(ctx, b, f.t)
	return err
}

// totals says how much files changed, in one line.
func totals(files []gitio.FileStat) string {
	added, deleted := 0, 0
	for _, f := range files {
		added, deleted = added+f.Added, deleted+f.Deleted
	}
	return plural(len(files), "file") + ", " + strings.Join([]string{plus(added), minus(deleted)}, " ")
}
