package receipt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/git-liza/git-liza/gitboard/audit"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/text"
)

// Options are what a range is checked against.
type Options struct {
	Base, Head string       // revisions; without a base the last move to the head, by default the board's last
	Remote     string       // whose board counts; "" for that of the repository itself
	Root       string       // the first commit of the board, "" for any
	Policy     string       // the path of the policy, "" for PolicyFile if there is one
	Require    Requirements // in addition to the policy's
	Landed     bool         // Head is a commit of the branch on which integration lands, not of integration
	Fetch      bool         // first fetch the board, integration and submissions
}

// Board is the board that a range was checked against.
type Board struct {
	Root   plumbing.OID `json:"root"`
	Tip    plumbing.OID `json:"tip"`
	Format int          `json:"format"`
}

// Counts are those of the replay of the whole board.
type Counts struct {
	Proven    int `json:"proven"`
	Checked   int `json:"checked"`
	Attested  int `json:"attested"`
	Unchecked int `json:"unchecked"`
	Signed    int `json:"signed"`
}

// Result is the result of a check.
type Result struct {
	Range        string // as it was asked for, or with the ids of its ends
	Base, Head   plumbing.OID
	Board        Board
	Counts       Counts
	Moves        []*Move // of the range, in order
	Commits      int     // in the range
	Require      Requirements
	Integration  string       // the branch
	SignedSince  plumbing.OID // the first operation from which on all are signed, "" for none
	TestedSince  plumbing.OID // the first merge from which on all were tested, "" for none
	Config, Team plumbing.OID // the blobs of these records, "" for none
	Failures     []Failure    // the worst first
	Notes        []string
}

// OK reports whether the range passes.
func (r *Result) OK() bool { return len(r.Failures) == 0 }

// Exit is the exit code of the result.
func (r *Result) Exit() int {
	if r.OK() {
		return 0
	}
	return r.Failures[0].Exit()
}

func (r *Result) fail(f Failure) { r.Failures = append(r.Failures, f) }

// Check checks a range. An error means that the repository or the remote could not be read; all else
// is in the result.
func Check(ctx context.Context, repo *git.Repo, o Options) (*Result, error) {
	r := &Result{Require: o.Require, Range: text.Line(o.Base+".."+o.Head, 100)}
	err := (&check{repo: repo, o: o, Result: r, ledger: newLedger()}).run(ctx)
	worst(r.Failures)
	return r, err
}

// check is a check under way.
type check struct {
	*Result
	repo   *git.Repo
	o      Options
	policy Policy
	store  log.Store
	ledger *ledger

	attested []attested     // the stored statements that count
	tips     []plumbing.OID // the positions of integration whose work is in the range
}

func (c *check) run(ctx context.Context) error {
	if c.repo.Shallow() {
		c.fail(ShallowClone)
		return nil
	}
	if c.o.Fetch && c.o.Remote != "" {
		if err := fetch(ctx, c.repo, c.o.Remote); err != nil {
			return err
		}
	}
	steps := []func(context.Context) error{c.ends, c.readPolicy, c.track, c.replay, c.rooted, c.statements, c.landing}
	if c.o.Base == "" {
		steps = []func(context.Context) error{c.track, c.replay, c.lastMove, c.ends, c.readPolicy, c.rooted, c.statements, c.landing}
	}
	for _, step := range steps {
		if err := step(ctx); err != nil || len(c.Failures) > 0 {
			return err
		}
	}
	for _, step := range []func(context.Context) error{c.cover, c.reviewed, c.requirements, c.reproduced} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// ends finds the ends of the range.
func (c *check) ends(ctx context.Context) error {
	for _, end := range []struct {
		rev string
		oid *plumbing.OID
	}{{c.o.Base, &c.Base}, {c.o.Head, &c.Head}} {
		oid, err := c.repo.ResolveCommit(ctx, end.rev)
		if errors.Is(err, git.ErrNotFound) {
			c.fail(Failure{Code: CodeMissing, Text: fmt.Sprintf("%s is not a commit in this clone", strconv.Quote(text.Line(end.rev, 80))), Hint: "git fetch; in CI: fetch-depth: 0"})
			continue
		}
		if err != nil {
			return err
		}
		*end.oid = oid
	}
	if !c.OK() {
		return nil
	}
	c.Range = c.Base.Short() + ".." + c.Head.Short()
	is, err := c.repo.History().IsAncestor(ctx, c.Base, c.Head)
	if err == nil && !is {
		c.fail(Failure{Code: CodeAncestor, Commit: c.Base, Text: fmt.Sprintf("the base %s is not an ancestor of %s", c.Base.Short(), c.Head.Short()), Hint: "bring the base branch to integration, then check again"})
	}
	return err
}

func (c *check) readPolicy(ctx context.Context) error {
	p, fault, err := readPolicy(ctx, c.repo, c.Base, c.o.Policy)
	if err != nil {
		return err
	}
	if fault != "" {
		c.fail(Failure{Code: CodePolicy, Commit: c.Base, Text: fault})
		return nil
	}
	c.policy = p
	c.Require, err = c.Require.ParseRequirements(p.Require)
	if err != nil {
		return err
	}
	path := c.o.Policy
	if path == "" {
		path = PolicyFile
	}
	before, _ := c.repo.History().FileOID(ctx, c.Base, path)
	after, _ := c.repo.History().FileOID(ctx, c.Head, path)
	if before != after {
		c.Notes = append(c.Notes, fmt.Sprintf("the range changes the policy %s: the policy at its base counts", text.Line(path, 80)))
	}
	return nil
}

// track finds the board.
func (c *check) track(ctx context.Context) error {
	c.store = c.repo
	var err error
	if c.o.Remote != "" {
		var tracked *audit.Tracked
		if tracked, err = audit.Track(ctx, c.repo, c.o.Remote); err == nil {
			c.store = tracked
		}
	}
	if err == nil {
		if c.Board.Tip, err = c.store.Ref(ctx, plumbing.BoardRef); err == nil && c.Board.Tip.IsZero() {
			err = log.ErrNoBoard
		}
	}
	if errors.Is(err, log.ErrNoBoard) {
		of := "this repository"
		if c.o.Remote != "" {
			of = "the remote " + c.o.Remote
		}
		c.fail(Failure{Code: CodeMissing, Text: fmt.Sprintf("the board of %s is not in this clone", of), Hint: "git liza check with --fetch"})
		return nil
	}
	return err
}

// maxFound is how many findings of the replay become failures.
const maxFound = 50

// replay replays the whole board.
func (c *check) replay(ctx context.Context) error {
	report, err := audit.Verify(ctx, c.store, c.repo, audit.Range{To: c.Board.Tip, Seen: c.ledger.see}, nil)
	if err != nil {
		return err
	}
	c.Counts = Counts{Proven: report.Proven, Checked: report.Checked, Unchecked: report.Unchecked, Signed: report.Signed}
	for _, n := range report.Attested {
		c.Counts.Attested += n
	}
	c.Board.Root, c.TestedSince = c.ledger.root, c.ledger.tests
	if !report.SignedFrom.IsZero() {
		c.SignedSince = report.SignedFrom
	}
	for i, f := range report.Findings {
		if i == maxFound {
			c.fail(Failure{Code: CodeForged, Text: fmt.Sprintf("and %d more findings: git liza verify", len(report.Findings)-i)})
			break
		}
		c.fail(Failure{Code: CodeForged, Commit: f.Commit, Text: "the board breaks its rules: " + f.String(), Hint: "stop, and let a human look: git liza verify"})
	}
	if report.Unchecked > 0 {
		c.fail(Failure{Code: CodeUnchecked, Text: fmt.Sprintf("%s can't be checked: this clone lacks commits that the board names", text.Plural(report.Unchecked, "operation")), Hint: "git liza check with --fetch"})
	}
	return c.records(ctx)
}

// lastMove makes the range that of a single move.
func (c *check) lastMove(ctx context.Context) error {
	moves := c.ledger.moves
	if c.o.Head != "" {
		at, err := c.repo.ResolveCommit(ctx, c.o.Head)
		if err != nil && !errors.Is(err, git.ErrNotFound) {
			return err
		}
		moves = slices.DeleteFunc(slices.Clone(moves), func(m *Move) bool { return m.Commit != at })
	}
	if len(moves) == 0 {
		c.fail(Failure{Code: CodeNotLanded, Text: fmt.Sprintf("no merge or landing on the board left integration at %s", strconv.Quote(text.Line(cmp.Or(c.o.Head, "its tip"), 60))), Hint: "git liza log"})
		return nil
	}
	last := moves[len(moves)-1]
	c.o.Base, c.o.Head = string(last.Before), string(last.Commit)
	return nil
}

// rooted checks that the board is the one that is expected.
func (c *check) rooted(context.Context) error {
	for _, want := range []string{c.o.Root, c.policy.Root} {
		if want != "" && want != string(c.Board.Root) {
			c.fail(Failure{Code: CodeRoot, Commit: c.Board.Root, Text: fmt.Sprintf("the board begins at %s, not at %s: it is another board", c.Board.Root.Short(), plumbing.OID(want).Short())})
		}
	}
	if c.o.Root == "" && c.policy.Root == "" {
		c.Notes = append(c.Notes, "no root is set: whoever replaces the board of the remote passes (--root, or root in "+PolicyFile+")")
	}
	return nil
}

// records reads what the receipt names of the board's newest records.
func (c *check) records(ctx context.Context) error {
	at, err := log.NewReader(c.store, "").At(ctx, c.Board.Tip)
	if err != nil {
		if !c.OK() {
			return nil // a forged board need not be readable
		}
		return err
	}
	if meta := at.State.Meta(); meta != nil {
		c.Board.Format = meta.Format
	}
	if config := at.State.Config(); config != nil {
		c.Integration = config.IntegrationBranch
	}
	c.Config, _ = c.repo.History().FileOID(ctx, c.Board.Tip, board.ConfigPath)
	c.Team, _ = c.repo.History().FileOID(ctx, c.Board.Tip, board.TeamPath)
	return nil
}

// landing finds the operation that left integration at the head.
func (c *check) landing(ctx context.Context) error {
	if c.o.Landed {
		return c.onBranch(ctx)
	}
	if c.Base == c.Head || c.lastAt(c.Head) != nil {
		return nil
	}
	head, err := c.commit(ctx, c.Head)
	if err != nil {
		return err
	}
	if len(head.Parents) == 2 {
		for _, p := range head.Parents {
			if c.lastAt(p) != nil {
				c.fail(Failure{Code: CodeTestMerge, Commit: c.Head, Text: fmt.Sprintf("%s is a merge of %s that the host made for a test", c.Head.Short(), p.Short()), Hint: "check the head of the pull request itself: BASE.." + string(p)})
				return nil
			}
		}
	}
	c.fail(Failure{Code: CodeNotLanded, Commit: c.Head, Text: fmt.Sprintf("no merge or landing on the board left integration at %s", c.Head.Short()), Hint: "approve and merge the work, or as a human: git liza land COMMIT"})
	return nil
}

// lastAt returns the last move that left integration at a commit.
func (c *check) lastAt(oid plumbing.OID) *Move {
	for _, m := range slices.Backward(c.ledger.moves) {
		if m.Commit == oid {
			return m
		}
	}
	return nil
}

func (c *check) commit(ctx context.Context, oid plumbing.OID) (plumbing.Commit, error) {
	o, err := c.repo.Object(ctx, string(oid))
	if err != nil {
		return plumbing.Commit{}, err
	}
	return plumbing.DecodeCommit(o)
}

// fetch fetches a remote's board, integration and submissions, and nothing into branches of this
// clone.
func fetch(ctx context.Context, repo *git.Repo, remote string) error {
	m, err := repo.Remote(ctx, remote)
	if err != nil {
		return err
	}
	there, err := m.List(ctx, plumbing.BoardRef, plumbing.ReviewPrefix+"*", plumbing.AttestationsRef)
	if err != nil {
		return err
	}
	var specs []string
	if _, is := there[plumbing.BoardRef]; is {
		specs = append(specs, plumbing.HeadsPrefix+"*:"+plumbing.RemoteRef(remote, "*"))
	}
	if slices.ContainsFunc(slices.Collect(maps.Keys(there)), func(ref string) bool { return strings.HasPrefix(ref, plumbing.ReviewPrefix) }) {
		specs = append(specs, plumbing.ReviewPrefix+"*:"+plumbing.TrackingRef(remote, "review/*"))
	}
	if _, is := there[plumbing.AttestationsRef]; is {
		specs = append(specs, plumbing.AttestationsRef+":"+plumbing.TrackingRef(remote, "attestations"))
	}
	for i, spec := range specs {
		specs[i] = "+" + spec
	}
	if len(specs) == 0 {
		return nil
	}
	return m.Fetch(ctx, false, false, specs...)
}
