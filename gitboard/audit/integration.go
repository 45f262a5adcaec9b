package audit

import (
	"context"
	"fmt"
	"slices"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/gitio"
	"github.com/git-liza/git-liza/gitboard/oplog"
	"github.com/git-liza/git-liza/roles"
)

// line is the integration branch since the board knows of it.
type line struct {
	branch     string
	start, tip gitio.OID
	end        gitio.OID                  // as far as the verified operations can speak of it
	commits    map[gitio.OID]gitio.Commit // that tip has and start has not
	order      map[gitio.OID]int          // a commit comes after its parents
}

// integration reads the branch from the first recorded position on; nil when this clone doesn't have it, or
// the board says nothing of it.
func (p *replay) integration(ctx context.Context, repo *gitio.Repo) (*line, error) {
	config := p.state.Config()
	if config == nil {
		return nil, nil
	}
	start := gitio.ZeroOID
	for _, e := range p.evidence {
		if start = e.position(); !start.IsZero() {
			break
		}
	}
	if start.IsZero() {
		return nil, nil
	}
	l := &line{branch: config.IntegrationBranch, start: start, commits: map[gitio.OID]gitio.Commit{}, order: map[gitio.OID]int{}}
	tip, err := p.store.Ref(ctx, "refs/heads/"+l.branch)
	if err != nil {
		return nil, err
	}
	first, err := repo.Objects(ctx, []string{string(start)})
	if err != nil {
		return nil, err
	}
	if l.tip = tip; tip.IsZero() || first[0].Type != gitio.CommitObject {
		p.report.note(Finding{p.report.To, "", CodeIntegration, fmt.Sprintf("this clone does not have the branch %s since %s: what landed can't be checked here", l.branch, start.Short())})
		return nil, nil
	}
	oids, err := repo.RevList(ctx, start, tip)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", l.branch, err)
	}
	if l.end, err = p.end(ctx, tip); err != nil {
		return nil, err
	}
	for part := range slices.Chunk(oids, batchSize) {
		names := make([]string, len(part))
		for i, oid := range part {
			names[i] = string(oid)
		}
		objects, err := repo.Objects(ctx, names)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", l.branch, err)
		}
		for _, o := range objects {
			c, err := gitio.DecodeCommit(o)
			if err != nil {
				return nil, fmt.Errorf("read %s: %w", l.branch, err)
			}
			l.order[c.OID] = len(l.commits)
			l.commits[c.OID] = c
		}
	}
	return l, nil
}

// aliases notes when the board or integration is another name for some branch: git before 2.46 asks no hook about it.
func (p *replay) aliases(ctx context.Context, repo *gitio.Repo) error {
	names := []string{oplog.Ref}
	if config := p.state.Config(); config != nil {
		names = append(names, "refs/heads/"+config.IntegrationBranch)
	}
	symbolic, err := repo.SymbolicRefs(ctx, names...)
	for _, name := range names {
		if to := symbolic[name]; to != "" {
			p.report.note(Finding{p.report.To, "", CodeIntegration, fmt.Sprintf("%s is a symbolic ref: who moves %s moves it", name, to)})
		}
	}
	return err
}

// end is how far the branch is covered by the operations: to its tip when they are all that there are by now,
// else to the last position that they record.
func (p *replay) end(ctx context.Context, tip gitio.OID) (gitio.OID, error) {
	now, err := p.store.Ref(ctx, oplog.Ref)
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
	return gitio.ZeroOID, nil
}

// String names the branch.
func (l *line) String() string {
	if l.branch == "" {
		return "the integration branch"
	}
	return l.branch
}

// parents are those of a commit.
func (l *line) parents(ctx context.Context, repo *gitio.Repo, oid gitio.OID) ([]gitio.OID, error) {
	if c, inside := l.commits[oid]; inside {
		return c.Parents, nil
	}
	o, err := repo.Object(ctx, string(oid))
	if err != nil {
		return nil, err
	}
	c, err := gitio.DecodeCommit(o)
	return c.Parents, err
}

// holds reports whether new has old: it is old, or one of those that came after. Git is asked only about what
// lies before the line.
func (l *line) holds(ctx context.Context, repo *gitio.Repo, old, new gitio.OID) (bool, error) {
	if old == new {
		return true, nil
	}
	at, inside := l.order[old]
	if _, both := l.order[new]; !inside || !both {
		return repo.IsAncestor(ctx, old, new)
	}
	seen := map[gitio.OID]bool{}
	for open := []gitio.OID{new}; len(open) > 0; {
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

// moves looks for moves of integration that no operation records. From the tip back, each recorded move is
// passed over from where it led to to where it began; what lies between them came otherwise.
func (p *replay) moves(l *line) {
	recorded := map[gitio.OID]gitio.OID{}
	for _, e := range p.evidence {
		if e.lands == nil {
			continue
		}
		before := e.lands.before
		if c, ok := l.commits[e.lands.after]; before.IsZero() && ok && len(c.Parents) > 0 {
			before = c.Parents[0]
		}
		recorded[e.lands.after] = before
	}
	var others []gitio.Commit // a person's commits one after the other, the newest first
	told := func() {
		if len(others) > 0 {
			newest, oldest := others[0], others[len(others)-1]
			text := unrecorded(l.branch, newest.OID, newest.Committer.Name)
			if len(others) > 1 {
				text = fmt.Sprintf("%s got %d commits, from %s to %s, which no merge or land records; the newest is by %s",
					l.branch, len(others), oldest.OID.Short(), newest.OID.Short(), newest.Committer.Name)
			}
			p.report.note(Finding{newest.OID, subject(newest), CodeIntegration, text})
		}
		others = nil
	}
	for at := l.end; ; {
		c, since := l.commits[at]
		if !since {
			break
		}
		if before, ok := recorded[at]; ok && before != at {
			told()
			at = before
			continue
		}
		if by := agentOf(c); by != "" {
			told()
			p.report.add(Finding{at, subject(c), CodeIntegration, unrecorded(l.branch, at, by)})
		} else {
			others = append(others, c)
		}
		if len(c.Parents) == 0 {
			break
		}
		at = c.Parents[0]
	}
	told()
}

func unrecorded(branch string, at gitio.OID, by string) string {
	return fmt.Sprintf("%s got %s by %s, which no merge or land records", branch, at.Short(), by)
}

// agentOf names the agent that made a commit, by its signatures or by the trailer that hooks add; "" for a person's.
func agentOf(c gitio.Commit) string {
	if board.AgentAddress(c.Author.Email) || board.AgentAddress(c.Committer.Email) {
		return c.Author.Name
	}
	_, by := madeFor(c.Message)
	if _, err := roles.Of(by); err != nil {
		return ""
	}
	return by
}
