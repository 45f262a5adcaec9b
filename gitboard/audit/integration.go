package audit

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/roles"
)

// line is the part of the integration branch since the board's first record of it.
type line struct {
	branch     string
	start, tip plumbing.OID
	known      plumbing.OID                     // the first position that an operation after init records, zero for none
	end        plumbing.OID                     // as far as the verified operations cover it
	commits    map[plumbing.OID]plumbing.Commit // in tip's history but not in start's
	order      map[plumbing.OID]int             // a commit comes after its parents
	worker     map[plumbing.OID]string          // a commit's agent, if only this clone knows it
}

// integration reads the branch from where it was when the board began, or from its first recorded
// position on. It is nil if this clone doesn't have the branch, or if the board doesn't mention it.
func (p *replay) integration(ctx context.Context, repo *git.Repo) (*line, error) {
	config := p.state.Config()
	if config == nil {
		return nil, nil
	}
	known := plumbing.ZeroOID
	for _, e := range p.evidence {
		if known = e.position(); !known.IsZero() {
			break
		}
	}
	start := known
	begun, err := p.beganAt(ctx, repo)
	if err != nil {
		return nil, err
	}
	if !begun.IsZero() {
		start = begun
	}
	if start.IsZero() {
		return nil, nil
	}
	l := &line{branch: config.IntegrationBranch, start: start, known: known, commits: map[plumbing.OID]plumbing.Commit{}, order: map[plumbing.OID]int{}}
	tip, err := p.store.Ref(ctx, plumbing.BranchRef(l.branch))
	if err != nil {
		return nil, err
	}
	first, err := repo.Objects(ctx, []string{string(start)})
	if err != nil {
		return nil, err
	}
	l.tip = tip
	if home, err := atHome(ctx, repo); err != nil {
		return nil, err
	} else if home && tip.IsZero() {
		p.report.add(Finding{p.report.To, "", CodeIntegration, fmt.Sprintf("the branch %s is missing, which the board has known since %s: git liza doctor", l.branch, start.Short())})
		return nil, nil
	}
	if tip.IsZero() || first[0].Type != plumbing.CommitObject {
		p.report.Unseen = l.branch
		p.report.note(Finding{p.report.To, "", CodeIntegration, fmt.Sprintf("this clone does not have the branch %s since %s: what landed can't be checked here", l.branch, start.Short())})
		return nil, nil
	}
	if l.end, err = p.end(ctx, tip); err != nil {
		return nil, err
	}
	return l, l.read(ctx, repo, p.state)
}

// beganAt is where integration was when the board began, zero if the board or this clone doesn't
// know.
func (p *replay) beganAt(ctx context.Context, repo *git.Repo) (plumbing.OID, error) {
	if p.begun == "" {
		return plumbing.ZeroOID, nil
	}
	o, err := repo.Objects(ctx, []string{string(p.begun)})
	if err != nil || o[0].Type != plumbing.CommitObject {
		return plumbing.ZeroOID, err
	}
	return p.begun, nil
}

// behindClaim notes if the newest claim began at a commit that the branch lacks: it has been set
// back.
func (p *replay) behindClaim(ctx context.Context, repo *git.Repo, l *line, missing map[int][]need) error {
	for i, e := range slices.Backward(p.evidence) {
		at := e.position()
		if e.lands != nil || at.IsZero() || len(missing[i]) > 0 {
			continue
		}
		is, err := l.holds(ctx, repo, at, l.tip)
		if err != nil || is {
			return err
		}
		p.report.note(Finding{e.commit, e.subject, CodeIntegration, fmt.Sprintf("%s has been set back: it lacks %s, where it was then", l.branch, at.Short())})
		return nil
	}
	return nil
}

// read reads the commits of the line.
func (l *line) read(ctx context.Context, repo *git.Repo, s *board.State) error {
	oids, err := repo.History().RevList(ctx, l.start, l.tip)
	if err != nil {
		return fmt.Errorf("list %s: %w", l.branch, err)
	}
	commits, err := commitsOf(ctx, repo, oids)
	if err != nil {
		return fmt.Errorf("read %s: %w", l.branch, err)
	}
	for _, c := range commits {
		l.order[c.OID] = len(l.commits)
		l.commits[c.OID] = c
	}
	l.recognize(repo, s)
	return nil
}

// recognize identifies the authors of commits that name no agent. A commit made in a task's
// worktree is its agent's, under any name.
func (l *line) recognize(repo *git.Repo, s *board.State) {
	var made map[plumbing.OID]string
	for oid, c := range l.commits {
		if agentOf(c) != "" {
			continue
		}
		if made == nil {
			made, l.worker = repo.Records().CommittedIn(), map[plumbing.OID]string{}
		}
		dir, task := filepath.Split(made[oid])
		if !strings.HasSuffix(filepath.Clean(dir), board.WorktreesDir) {
			continue
		}
		if t := s.Task(task); t != nil {
			l.worker[oid] = fmt.Sprintf("%s, in the worktree of %s and in the name of %s", cmp.Or(t.AssignedTo, "an agent"), task, c.Author.Name)
		}
	}
}

// agentOf returns the agent that made a commit; "" for a person.
func (l *line) agentOf(c plumbing.Commit) string { return cmp.Or(agentOf(c), l.worker[c.OID]) }

// aliases notes if the board or integration is a symbolic ref to another branch: git before 2.46
// does not call hooks for it.
func (p *replay) aliases(ctx context.Context, repo *git.Repo) error {
	names := []string{plumbing.BoardRef}
	if config := p.state.Config(); config != nil {
		names = append(names, plumbing.BranchRef(config.IntegrationBranch))
	}
	symbolic, err := repo.SymbolicRefs(ctx, names...)
	for _, name := range names {
		if to := symbolic[name]; to != "" {
			p.report.note(Finding{p.report.To, "", CodeIntegration, fmt.Sprintf("%s is a symbolic ref: who moves %s moves it", name, to)})
		}
	}
	return err
}

// end is how far the operations cover the branch: to its tip if they include all current ones, else
// to the last position that they record.
func (p *replay) end(ctx context.Context, tip plumbing.OID) (plumbing.OID, error) {
	now, err := p.store.Ref(ctx, plumbing.BoardRef)
	if err != nil || now == p.report.To {
		return tip, err
	}
	for _, e := range slices.Backward(p.evidence) {
		if e.lands != nil {
			return e.lands.after, nil
		}
		if at := e.position(); !at.IsZero() {
			return at, nil
		}
	}
	return plumbing.ZeroOID, nil
}

// String is the name of the branch.
func (l *line) String() string {
	if l.branch == "" {
		return "the integration branch"
	}
	return l.branch
}

// follows reports whether a commit of the line may follow from another one, or from one before the
// line: it comes later.
func (l *line) follows(older, newer plumbing.OID) bool {
	from, inside := l.order[older]
	to, on := l.order[newer]
	return on && (!inside || from < to)
}

// parents returns the parents of a commit.
func (l *line) parents(ctx context.Context, repo *git.Repo, oid plumbing.OID) ([]plumbing.OID, error) {
	if c, inside := l.commits[oid]; inside {
		return c.Parents, nil
	}
	c, err := commitOf(ctx, repo, oid)
	return c.Parents, err
}

// holds reports whether new contains old. It asks git only about commits before the line.
func (l *line) holds(ctx context.Context, repo *git.Repo, old, new plumbing.OID) (bool, error) {
	if old == new {
		return true, nil
	}
	at, inside := l.order[old]
	if _, both := l.order[new]; !inside || !both {
		return repo.History().IsAncestor(ctx, old, new)
	}
	seen := map[plumbing.OID]bool{}
	for open := []plumbing.OID{new}; len(open) > 0; {
		oid := open[len(open)-1]
		open = open[:len(open)-1]
		if oid == old {
			return true, nil
		}
		if i, ok := l.order[oid]; !ok || i < at || seen[oid] {
			continue
		}
		seen[oid] = true
		open = append(open, l.commits[oid].Parents...)
	}
	return false, nil
}

func unrecorded(branch string, at plumbing.OID, by string) string {
	return fmt.Sprintf("%s got %s by %s, which no merge or land records", branch, at.Short(), by)
}

// agentOf returns the agent that made a commit, by its author and committer or by the trailer that
// hooks add; "" for a person.
func agentOf(c plumbing.Commit) string {
	if board.AgentAddress(c.Author.Email) || board.AgentAddress(c.Committer.Email) {
		return c.Author.Name
	}
	_, by := board.MadeFor(c.Message)
	if !roles.IsID(by) {
		return ""
	}
	return by
}
