package receipt

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/landed"
	"github.com/git-liza/git-liza/gitboard/roles"
)

// onBranch finds the moves of integration that landed on the branch between base and head, and
// refuses commits of the branch that no landing of approved work explains.
func (c *check) onBranch(ctx context.Context) error {
	line, err := landed.Line(ctx, c.repo, c.Base, c.Head)
	if err != nil || len(line) == 0 {
		return err
	}
	candidates, err := c.candidates(ctx)
	if err != nil {
		return err
	}
	forward := 1 + lastIndex(line, func(k plumbing.Commit) bool { return c.lastAt(k.OID) != nil }) // the branch was fast-forwarded
	if forward > 0 {
		c.tips = append(c.tips, line[forward-1].OID)
	}
	for line = line[forward:]; len(line) > 0; {
		n, tip, err := c.lands(ctx, line, candidates)
		if err != nil {
			return err
		}
		if n == 0 {
			c.fail(Failure{Code: CodeCorrupt, Commit: line[0].OID, Text: fmt.Sprintf("%s is not the merge, squash or rebase of any recorded state of %s: corrupt, or edited by hand", line[0].OID.Short(), c.Integration), Hint: "compare it with the approved work before anybody builds on it"})
			n = 1
		} else {
			c.tips = append(c.tips, tip)
		}
		line = line[n:]
	}
	return nil
}

func lastIndex[T any](list []T, is func(T) bool) int {
	for i, item := range slices.Backward(list) {
		if is(item) {
			return i
		}
	}
	return -1
}

// candidates lists the positions of integration that may have landed since base, newest first.
func (c *check) candidates(ctx context.Context) ([]plumbing.OID, error) {
	if len(c.ledger.moves) == 0 {
		return nil, nil
	}
	newest := c.ledger.moves[len(c.ledger.moves)-1].Commit
	oids, err := c.repo.History().RevList(ctx, c.Base, newest)
	if err != nil {
		return nil, err
	}
	var positions []plumbing.OID
	for _, m := range slices.Backward(c.ledger.moves) {
		if slices.Contains(oids, m.Commit) && !slices.Contains(positions, m.Commit) {
			positions = append(positions, m.Commit)
		}
	}
	return positions, nil
}

// lands returns how many commits at the beginning of a line land a position of integration, and that
// position.
func (c *check) lands(ctx context.Context, line []plumbing.Commit, candidates []plumbing.OID) (int, plumbing.OID, error) {
	if first := line[0]; len(first.Parents) == 2 {
		tip := first.Parents[1]
		tree, clean, err := landed.MergedTree(ctx, c.repo, first.Parents[0], tip)
		if err != nil || !clean || tree != first.Tree || !slices.Contains(candidates, tip) {
			return 0, "", err
		}
		return 1, tip, nil
	}
	for _, tip := range candidates {
		if n, err := landed.Begins(ctx, c.repo, line, tip); n > 0 || err != nil {
			return n, tip, err
		}
	}
	return 0, "", nil
}

// cover assigns each commit of the range to the move that brought it.
func (c *check) cover(ctx context.Context) error {
	commits, err := c.inRange(ctx)
	if err != nil {
		return err
	}
	seen := map[plumbing.OID]bool{}
	walk := func(from plumbing.OID, visit func(plumbing.Commit)) {
		for open := []plumbing.OID{from}; len(open) > 0; {
			at := open[len(open)-1]
			open = open[:len(open)-1]
			k, in := commits[at]
			if !in || seen[at] {
				continue
			}
			seen[at] = true
			visit(k)
			open = append(open, k.Parents...)
		}
	}
	unrecorded := func(k plumbing.Commit) {
		c.fail(Failure{Code: CodeUnrecorded, Commit: k.OID, Text: fmt.Sprintf("%s %q by %s came to %s by no merge or landing", k.OID.Short(), k.Subject(), k.Author.Name, c.Integration), Hint: "a human who answers for it: git liza land COMMIT"})
	}
	for _, m := range c.ledger.moves {
		if _, in := commits[m.Commit]; !in {
			continue
		}
		walk(m.Before, unrecorded)
		walk(m.Commit, func(k plumbing.Commit) { m.bring(k) })
		c.Moves = append(c.Moves, m)
	}
	for _, tip := range c.tips {
		walk(tip, unrecorded)
	}
	c.Commits = len(seen)
	return nil
}

// inRange reads the commits of the range. What landed on the base in another form is not in it.
func (c *check) inRange(ctx context.Context) (map[plumbing.OID]plumbing.Commit, error) {
	if !c.o.Landed {
		c.tips = []plumbing.OID{c.Head}
	}
	commits := map[plumbing.OID]plumbing.Commit{}
	for _, tip := range c.tips {
		list, err := c.repo.Log(ctx, c.Base, tip)
		if err != nil {
			return nil, err
		}
		for _, k := range list {
			commits[k.OID] = k
		}
	}
	for _, m := range c.ledger.moves {
		if m.head == "" {
			continue
		}
		if is, err := c.repo.History().IsAncestor(ctx, m.landed, c.Base); err != nil || !is {
			if err != nil {
				return nil, err
			}
			continue
		}
		for open := []plumbing.OID{m.head}; len(open) > 0; {
			at := open[len(open)-1]
			open = open[:len(open)-1]
			if k, in := commits[at]; in {
				delete(commits, at)
				open = append(open, k.Parents...)
			}
		}
	}
	return commits, nil
}

// bring adds a commit to a move, with its authors. The merge of a move is no work of its own:
// replaying the board recomputes it.
func (m *Move) bring(k plumbing.Commit) {
	if k.OID == m.Commit && (m.Type == board.MergeCommitType || m.Type == typeFound && len(k.Parents) == 2 || m.merged) {
		return
	}
	_, by := board.MadeFor(k.Message)
	switch {
	case board.AgentAddress(k.Author.Email):
		m.authors[k.Author.Name] = true
	case roles.IsID(by):
		m.authors[by] = true
	default:
		m.authors[strings.ToLower(k.Author.Email)] = true
		m.authors[strings.ToLower(k.Committer.Email)] = true
	}
}

// mine reports whether somebody made some of a move's work.
func (m *Move) mine(who Who) bool { return m.authors[who.ID] || slices.Contains(m.workers, who.ID) }

// name is how a failure calls a move.
func (m *Move) name() string {
	return cmp.Or(m.Task, "the landing of "+m.Commit.Short())
}

// independent returns the approvals by others than the authors, each approver once. A human who
// landed work of others approved it thereby.
func (m *Move) independent() (all []Approval) {
	given := m.Approvals
	if m.Task == "" {
		given = []Approval{{m.By, m.Op}}
	}
	for _, a := range given {
		if !m.mine(a.By) && !slices.ContainsFunc(all, func(b Approval) bool { return b.By.ID == a.By.ID }) {
			all = append(all, a)
		}
	}
	return all
}

// forward reports whether a move only brought commits of the base forward to integration.
func (m *Move) forward() bool { return m.head != "" }

// exempt reports whether the policy asks for no approval of a move.
func (c *check) exempt(ctx context.Context, m *Move) (bool, error) {
	if m.forward() {
		return true, nil
	}
	if len(c.policy.Exempt) == 0 {
		return false, nil
	}
	files, err := c.repo.History().ChangedFiles(ctx, m.Before, m.Commit)
	return err == nil && c.policy.exempts(files), err
}

// reviewed checks approvals and tests of each move.
func (c *check) reviewed(ctx context.Context) error {
	for _, m := range c.Moves {
		exempt, err := c.exempt(ctx, m)
		if err != nil {
			return err
		}
		if exempt {
			continue
		}
		approvals := m.independent()
		humans := len(slices.DeleteFunc(slices.Clone(approvals), func(a Approval) bool { return a.By.Class != Human }))
		needed := c.Require.Approvals
		if m.Task != "" {
			needed = max(needed, 1) // by the rules of every board
		}
		if len(approvals) < needed {
			c.fail(Failure{Code: CodeApprovals, Commit: m.Commit, Task: m.Task, Text: fmt.Sprintf("%s has %d of %d approvals of %s by others than its authors", m.name(), len(approvals), needed, cmp.Or(m.Submission, m.Commit).Short())})
		}
		if humans < c.Require.Humans {
			c.fail(Failure{Code: CodeHumans, Commit: m.Commit, Task: m.Task, Text: fmt.Sprintf("%s has %d of %d approvals by humans who are none of its authors", m.name(), humans, c.Require.Humans)})
		}
		if c.Require.Tested && m.Test == "" {
			c.fail(Failure{Code: CodeTested, Commit: m.Commit, Task: m.Task, Text: fmt.Sprintf("%s came to %s without a test", m.name(), c.Integration)})
		}
	}
	return nil
}

// requirements checks requirements on the range as a whole.
func (c *check) requirements(context.Context) error {
	if !c.Require.Signed || len(c.Moves) == 0 {
		return nil
	}
	first := slices.MinFunc(c.Moves, func(a, b *Move) int { return cmp.Compare(a.began, b.began) })
	since, signed := c.ledger.index[c.SignedSince]
	if !signed || since > first.began {
		c.fail(Failure{Code: CodeSigned, Task: first.Task, Text: fmt.Sprintf("not all operations since the first on %s are signed", first.name()), Hint: "git liza config set require_signatures true, before the work begins"})
	}
	return nil
}
