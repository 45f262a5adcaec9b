package worktrees

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/text"
)

// SubmitRequest submits the work of a task for review.
type SubmitRequest struct {
	gitboard.Request
	Task           string
	Commit         string // any revision; "" for the worktree's HEAD, which it must equal
	NoTestsBecause string
	Verified       string // a command that proves the work; it runs in the worktree first. "" for none
}

// maxOutput is how many bytes of a validation's output a submission keeps.
const maxOutput = 2 << 10

// maxTests is how many changed tests a submission names.
const maxTests = 20

// Submit submits the commit of a task's clean worktree for review, and keeps it under
// refs/liza/review. The warnings it returns don't stop it.
func Submit(ctx context.Context, b *gitboard.Board, r SubmitRequest) (*gitboard.Done, []string, error) {
	s, err := Open(ctx, b)
	if err != nil {
		return nil, nil, err
	}
	ran, err := s.verify(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	ctx, retries := b.Retries(ctx)
	for {
		uploaded, err := s.upload(ctx, r.Task)
		if err != nil {
			return nil, nil, err
		}
		done, warnings, err := s.submit(ctx, r, uploaded, ran)
		if !errors.Is(err, errNotUploaded) {
			return done, warnings, err
		}
		if !retries.Spend() {
			return nil, nil, about(board.CodeStale, r.Task, "the worktree of %s was at another commit each time that its large files had been uploaded", r.Task).
				Advise("%s, when nothing commits there", board.ActOn("submit", r.Task))
		}
	}
}

// verified is a validation, and the commit that it ran on.
type verified struct {
	on  plumbing.OID
	how *board.Validation
}

// verify runs the command of a request on work that could be submitted now.
func (s *Project) verify(ctx context.Context, r SubmitRequest) (*verified, error) {
	if r.Verified == "" {
		return nil, nil
	}
	if err := s.b.Sessions().SendDeferred(ctx, r.Actor.ID); err != nil { // the checkpoint
		return nil, err
	}
	v, err := s.b.View(ctx)
	if err != nil {
		return nil, err
	}
	ran := &verified{how: &board.Validation{Command: r.Verified}}
	p, work, err := s.payload(ctx, v, r, s.glance(ctx, r.Task), ran)
	if err != nil {
		return nil, err
	}
	if err := v.Plan(ctx, r.Request, p); err != nil {
		return nil, s.keepRefused(v.State.Task(r.Task), p, work, err)
	}
	ran.on = plumbing.OID(p.Commit)
	var out bytes.Buffer
	timeout := time.Duration(v.State.Config().IntegrationTestTimeout) * time.Second
	err = Run(ctx, Command{Name: "the validation", Script: r.Verified, Dir: s.Path(r.Task), Repo: s.repo, Timeout: timeout, Output: &out})
	said := Tail(out.String(), maxOutput)
	if failed := (*FailedError)(nil); errors.As(err, &failed) {
		ran.how.Exit, err = failed.Exit, nil
		if failed.TimedOut {
			said = strings.TrimSpace(said + "\n" + failed.Error())
		}
	}
	if ran.how.Output = said; !board.Storable(said) {
		ran.how.Output = "(not kept: it seems to hold a credential)"
	}
	return ran, err
}

// errNotUploaded means that the worktree was moved to another commit after the upload.
var errNotUploaded = errors.New("the large files of the commit are not uploaded yet")

// submission is the plan of a submission. What the last decision has found is valid after it.
type submission struct {
	*Project
	r        SubmitRequest
	uploaded plumbing.OID // the commit whose large files are uploaded
	ran      *verified
	worktree *ahead

	t        *board.Task
	p        *board.Submit
	commits  []plumbing.Commit
	warnings []string
}

// submit decides and appends a submission whose large files are uploaded.
func (s *Project) submit(ctx context.Context, r SubmitRequest, uploaded plumbing.OID, ran *verified) (*gitboard.Done, []string, error) {
	u := &submission{Project: s, r: r, uploaded: uploaded, ran: ran, worktree: &ahead{s: s, task: r.Task}}
	done, err := s.b.Do(ctx, r.Request, u.intent, gitboard.Ahead(u.worktree.begin))
	switch {
	case err == nil:
		err = s.b.Clone().Discard(refusedFile(r.Task))
	case u.p != nil:
		err = s.keepRefused(u.t, u.p, u.commits, err)
	}
	return done, u.warnings, err
}

// intent decides the submission of the work that worktree has seen.
func (u *submission) intent(ctx context.Context, v *gitboard.View) (board.Payload, []plumbing.RefUpdate, error) {
	var err error
	if u.p, u.commits, err = u.payload(ctx, v, u.r, u.worktree.get(), u.ran); err != nil {
		return nil, nil, err
	}
	t := v.State.Task(u.r.Task)
	commit := plumbing.OID(u.p.Commit)
	u.t = t
	if u.b.Remote() != "" && commit != u.uploaded {
		return nil, nil, errNotUploaded
	}
	refs, err := u.reviewRefs(ctx, v, t, commit)
	if err != nil {
		return nil, nil, err
	}
	published, err := u.b.Sharing().Publish(ctx, t.ID, commit)
	u.warnings = slices.Concat(unsigned(t, u.commits), early(u.p), unproven(u.p))
	places, failed := u.repo.History().Unresolved(ctx, plumbing.OID(u.p.ReviewBase), commit)
	if len(places) > 0 {
		u.warnings = append(u.warnings, "it adds conflict markers, and the reviewer sees them: "+firstOf(places))
	}
	if c := v.State.Config(); c.RequireTests == "warn" && t.Kind == board.Code && len(u.p.Tests) == 0 {
		u.warnings = append(u.warnings, fmt.Sprintf("%s is code, and nothing that it changes is a test", t.ID))
	}
	return u.p, append(refs, published...), errors.Join(err, failed)
}

// payload is the submission of the work that a glance has seen, with the commits that the reviewer
// sees.
func (s *Project) payload(ctx context.Context, v *gitboard.View, r SubmitRequest, g glance, ran *verified) (*board.Submit, []plumbing.Commit, error) {
	p := &board.Submit{About: board.About{Task: r.Task}, NoTestsBecause: r.NoTestsBecause}
	t, err := v.State.FindTask(r.Task)
	if err != nil {
		return nil, nil, err
	}
	commit, work, err := s.submittable(ctx, v, t, g, r.Commit, p)
	if err != nil {
		return nil, nil, preferRefusal(ctx, v, r.Request, p, err)
	}
	if ran != nil {
		if p.Verified = ran.how; ran.on != "" && ran.on != commit {
			return nil, nil, about(board.CodeStale, t.ID, "the validation ran on %s, and %s is at %s now", ran.on.Short(), v.TaskBranch(t.ID), commit.Short()).Way(board.ActOn("submit", t.ID).With("verified", r.Verified))
		}
	}
	p.Early, p.People = t.Early(log.Made(work)), log.People(work)
	return p, work, s.markRemade(t, p, work)
}

// unproven warns of a submission whose validation failed.
func unproven(p *board.Submit) []string {
	if p.Verified == nil || p.Verified.Exit == 0 {
		return nil
	}
	return []string{"the validation failed, and the reviewer sees it: " + p.Verified.String()}
}

// upload uploads large files to the remote of a shared board before the operation is decided,
// because others can move the board meanwhile. It returns the commit that needs them, "" for an
// empty submission, which is refused later.
func (s *Project) upload(ctx context.Context, task string) (plumbing.OID, error) {
	if s.b.Remote() == "" || !board.ValidTaskID(task) || !present(s.Path(task)) {
		return "", nil
	}
	v, err := s.b.View(ctx)
	if err != nil {
		return "", err
	}
	tip, err := s.integration(ctx, v)
	if err != nil {
		return "", err
	}
	head, _, err := s.repo.Worktree(s.Path(task)).Head(ctx)
	if err != nil || head.IsZero() {
		return "", err
	}
	base, err := s.repo.History().MergeBase(ctx, tip, head)
	if errors.Is(err, git.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return head, s.b.Sharing().Upload(ctx, base, head)
}

// submittable completes the payload with the evidence of a submission. It returns the submitted
// commit, and the commits that the reviewer sees.
func (s *Project) submittable(
	ctx context.Context, v *gitboard.View, t *board.Task, g glance, rev string, p *board.Submit,
) (plumbing.OID, []plumbing.Commit, error) {
	head, err := s.work(ctx, v, t, g)
	if err != nil {
		return "", nil, err
	}
	if rev != "" && rev != "HEAD" {
		commit, err := s.named(ctx, rev, head)
		if err != nil {
			return "", nil, err
		}
		if commit != head {
			return "", nil, about(board.CodeStale, t.ID, "%s is at %s, not at %s", v.TaskBranch(t.ID), head.Short(), commit.Short()).
				Advise("submit what is checked out there: %s", board.ActOn("submit", t.ID))
		}
	}
	tip, err := s.integration(ctx, v)
	if err != nil {
		return "", nil, err
	}
	var work []plumbing.Commit // since the claim
	var unread error
	var beside sync.WaitGroup
	beside.Go(func() { work, unread = s.repo.Log(ctx, plumbing.OID(t.BaseCommit), head) })
	base, changed, err := s.changed(ctx, tip, head)
	beside.Wait()
	if errors.Is(err, git.ErrNotFound) {
		return "", nil, refusal(board.CodeUnrelated, t.ID, "begin from "+v.State.Config().IntegrationBranch, "%s has no commit in common with integration", v.TaskBranch(t.ID))
	}
	if err != nil {
		return "", nil, err
	}
	if base == head && string(head) != t.BaseCommit {
		return "", nil, refusal(board.CodeEmpty, t.ID, "commit your work in "+t.Worktree+" first", "everything on %s is on integration already", v.TaskBranch(t.ID))
	}
	if unread != nil {
		return "", nil, unread
	}
	p.Commits = len(work)
	if string(base) != t.BaseCommit {
		if work, err = s.repo.Log(ctx, base, head); err != nil {
			return "", nil, err
		}
	}
	if err := s.fetchable(ctx, v, t, g.Path, head, changed); err != nil {
		return "", nil, err
	}
	malformed := (*git.MalformedError)(nil)
	switch err := s.repo.History().WellFormed(ctx, base, head); {
	case errors.As(err, &malformed):
		return "", nil, refusal(board.CodeMalformed, t.ID, reworked(t, base, malformed), "%s can't be submitted: %v", t.ID, malformed)
	case err != nil && !errors.As(err, new(*git.DamagedError)): // doctor finds missing objects
		return "", nil, err
	}
	p.Commit, p.ReviewBase, p.Files = string(head), string(base), len(changed)
	tree, err := s.repo.Object(ctx, string(head)+"^{tree}")
	if err != nil {
		return "", nil, err
	}
	p.Tree = string(tree.OID)
	p.HumanPaths = v.State.Team().ReviewPolicy(t.InStage()).HumanPaths(changed)
	p.Tests, p.DeletedTests, err = s.tests(ctx, v.State.Config().TestGlobs, head, changed)
	return head, work, err
}

// reworked is the hint for a coder whose work is malformed.
func reworked(t *board.Task, base plumbing.OID, malformed *git.MalformedError) string {
	if malformed.Folder != "" {
		return fmt.Sprintf("in %s: git rm -r --cached %s, then git commit", t.Worktree, text.Quote(malformed.Folder))
	}
	return fmt.Sprintf("make one commit of it without that object, in %s: git reset --soft %s, then git commit", t.Worktree, base.Short())
}

// tests lists the tests among the changed files: those that the commit has, and those that it
// deletes or empties.
func (s *Project) tests(ctx context.Context, globs []string, commit plumbing.OID, changed []string) (kept, deleted []string, err error) {
	for _, file := range changed {
		if !board.Selects(globs, file) {
			continue
		}
		switch oid, err := s.repo.History().FileOID(ctx, commit, file); {
		case errors.Is(err, git.ErrNotFound), err == nil && oid == plumbing.EmptyBlob:
			deleted = append(deleted, file)
		case err != nil:
			return nil, nil, err
		default:
			kept = append(kept, file)
		}
	}
	return Recordable(kept, maxTests), Recordable(deleted, maxTests), nil
}

// maxNamed is how many commits a warning names.
const maxNamed = 5

// unsigned warns of commits in a submission without trailers for author and task, because no hook
// ran. The operation supplies both: they follow from the claim's base and the submitting session.
func unsigned(t *board.Task, work []plumbing.Commit) []string {
	var names []string
	for _, c := range work {
		if task, agent := board.MadeFor(c.Message); len(c.Parents) < 2 && (task != t.ID || agent == "") {
			names = append(names, c.OID.Short())
		}
	}
	if len(names) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("no trailer in %s names who made it for %s, as the hooks write it where LIZA_AGENT_ID is set; the submission counts it as %s's work",
		firstOf(names), t.ID, t.AssignedTo)}
}

// early warns of commits from before the checkpoint, which are shown to the reviewer.
func early(p *board.Submit) []string {
	if len(p.Early) == 0 {
		return nil
	}
	names := make([]string, len(p.Early))
	for i, c := range p.Early {
		names[i] = plumbing.OID(c).Short()
	}
	return []string{"made before the checkpoint, and shown to the reviewer as such: " + firstOf(names)}
}

// firstOf lists the first few of many names.
func firstOf(names []string) string {
	if over := len(names) - maxNamed; over > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxNamed], ", "), over)
	}
	return strings.Join(names, ", ")
}

// changed lists the files changed since a commit left integration, and the commit where it left.
func (s *Project) changed(ctx context.Context, tip, head plumbing.OID) (base plumbing.OID, files []string, err error) {
	if base, err = s.repo.History().MergeBase(ctx, tip, head); err != nil {
		return "", nil, err
	}
	files, err = s.repo.History().ChangedFiles(ctx, base, head)
	return base, files, err
}

// reviewRefs keeps a submission and holds the branch where it is. If a crash left the submission's
// ref without its operation, its old commit goes to the attic.
func (s *Project) reviewRefs(ctx context.Context, v *gitboard.View, t *board.Task, commit plumbing.OID) ([]plumbing.RefUpdate, error) {
	ref := plumbing.ReviewRef(t.ID, t.Submissions()+1)
	old, err := s.repo.Ref(ctx, ref)
	if err != nil {
		return nil, err
	}
	refs := []plumbing.RefUpdate{{Ref: v.TaskRef(t.ID), Old: commit, New: commit}, {Ref: ref, Old: old, New: commit}}
	if old.IsZero() || old == commit {
		return refs, nil
	}
	attic, err := s.attic(ctx, t.ID)
	return append(refs, plumbing.RefUpdate{Ref: plumbing.AtticRef(t.ID, attic.next), Old: plumbing.ZeroOID, New: old}), err
}
