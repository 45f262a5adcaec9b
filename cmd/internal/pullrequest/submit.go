package pullrequest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/forge"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/audit"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/landed"
)

// Submission is what is asked for.
type Submission struct {
	Goal, Base, Remote, PushRemote, Title string
	Scope                                 string // ScopeGoal or ScopeIntegration
	Draft, Ready, NoForge, DryRun         bool
	Labels, Reviewers                     []string
}

// The scopes of a submission: integration without the newest merges of other goals' tasks, or all of it.
const (
	ScopeGoal        = "goal"
	ScopeIntegration = "integration"
)

// Scopes lists them.
var Scopes = []string{ScopeGoal, ScopeIntegration}

// Submitted is what was done.
type Submitted struct {
	Goal   string `json:"goal"`
	Base   string `json:"base"`
	Branch string `json:"branch"`
	Head   string `json:"head"`
	Number int    `json:"number,omitempty"`
	URL    string `json:"url"`
	State  string `json:"state,omitempty"`
	Left   string `json:"left,omitempty"` // what a human has to look at
	Body   string `json:"body,omitempty"`
	DryRun bool   `json:"dry_run,omitempty"`
}

// offer is a submission with what it needs from outside.
type offer struct {
	Submission
	c    *call.Call
	v    *gitboard.View
	goal *board.Goal
	to   *target
	head plumbing.OID
	done Submitted
	body string

	report *audit.Report     // of the board's replay
	tested map[string]string // by task: the command that passed before its merge
}

// Submit pushes what integration holds to the branch of a goal, and opens its pull request or brings
// it up to date. A repeated submission finds what an earlier one has done.
func Submit(ctx context.Context, c *call.Call, s Submission) (*Submitted, error) {
	if _, err := c.Actor(ctx, "pr-open"); err != nil {
		return nil, err
	}
	o := &offer{Submission: s, c: c}
	if err := o.prepare(ctx); err != nil {
		return nil, err
	}
	if s.DryRun {
		o.done.DryRun, o.done.Body = true, o.text()
		return &o.done, nil
	}
	if !s.NoForge {
		if err := o.to.connect(ctx, c, nil); err != nil {
			return nil, err
		}
	}
	if err := o.push(ctx); err != nil {
		return nil, err
	}
	if s.NoForge {
		return &o.done, o.page()
	}
	return &o.done, o.request(ctx)
}

// prepare decides which commit is offered to which branch, and writes the text.
func (o *offer) prepare(ctx context.Context) (err error) {
	if o.v, err = o.c.View(ctx); err != nil {
		return err
	}
	s := o.v.State
	if o.goal = s.TheGoal(); o.Goal != "" || o.goal == nil {
		if o.goal, err = s.FindGoal(o.Goal); err != nil {
			return err
		}
	}
	if _, err := o.v.KeptIntegration(ctx); err != nil {
		return err
	}
	proven, err := o.v.ProvenIntegration(ctx)
	if err != nil {
		return err
	}
	if o.head, err = o.scoped(ctx, proven.Commit); err != nil {
		return err
	}
	remote, err := remoteOf(ctx, o.c, o.Remote)
	if err != nil {
		return err
	}
	if o.to, err = placeOf(ctx, o.c, remote); err != nil {
		return err
	}
	base, err := baseOf(ctx, o.c, remote.Name, o.Base)
	if err != nil {
		return err
	}
	tip, err := brought(ctx, o.c, remote, plumbing.BranchRef(base), plumbing.RemoteRef(remote.Name, base))
	if err != nil {
		return err
	}
	if err := o.needed(ctx, base, tip); err != nil {
		return err
	}
	offered, err := o.offered(ctx, tip)
	if err != nil {
		return err
	}
	if err := o.replay(ctx); err != nil {
		return err
	}
	o.body = o.ours(offered)
	o.done = Submitted{Goal: o.goal.ID, Base: base, Branch: s.Config().PRBranchPrefix + o.goal.ID, Head: string(o.head)}
	return s.Err()
}

// scoped returns the commit to offer: integration's or, for the goal alone, the one before the newest merges
// of other goals' tasks. Commits that the pull request offers already stay in it.
func (o *offer) scoped(ctx context.Context, tip plumbing.OID) (plumbing.OID, error) {
	if o.Scope == ScopeIntegration {
		return tip, nil
	}
	s, before := o.v.State, map[string]string{}
	for _, b := range s.Tasks() {
		if b.Goal == o.goal.ID || b.Status != board.Merged {
			continue
		}
		for _, e := range s.Task(b.ID).History {
			if e.Event == board.EventMerged {
				before[e.Commit] = e.Base
			}
		}
	}
	head := tip
	for before[string(head)] != "" {
		head = plumbing.OID(before[string(head)])
	}
	if r := o.goal.PullRequest; r.Live() && head != tip {
		if behind, err := o.c.Board.Repo().History().IsAncestor(ctx, head, plumbing.OID(r.Head)); err == nil && behind {
			head = plumbing.OID(r.Head)
		}
	}
	return head, s.Err()
}

// offered returns the commits that the pull request shows: those of the head that the base lacks, and that
// no earlier pull request brought.
func (o *offer) offered(ctx context.Context, base plumbing.OID) (map[plumbing.OID]bool, error) {
	history := o.c.Board.Repo().History()
	list, err := history.RevList(ctx, base, o.head)
	if err != nil {
		return nil, err
	}
	all := map[plumbing.OID]bool{}
	for _, oid := range list {
		all[oid] = true
	}
	for _, g := range o.v.State.Goals() {
		if r := g.PullRequest; r != nil && r.Merged != nil {
			if list, err = history.RevList(ctx, base, plumbing.OID(r.Merged.Head)); err != nil {
				continue // this clone lacks it
			}
			for _, oid := range list {
				delete(all, oid)
			}
		}
	}
	return all, ctx.Err()
}

// replay verifies the board: it offers nothing that broke a rule.
func (o *offer) replay(ctx context.Context) (err error) {
	o.tested = map[string]string{}
	o.report, err = audit.Verify(ctx, o.c.Board.Log().Store(), o.c.Board.Repo(), audit.Range{To: o.v.Commit, Seen: func(r audit.Replayed) {
		if p, is := r.Op.Payload.(*board.Merge); is {
			o.tested[p.Task] = p.Test
		}
	}}, nil)
	if err == nil && !o.report.OK() {
		err = &call.Outcome{Exit: 4, Code: call.CodeViolation, Message: "the board breaks its rules: " + o.report.Findings[0].String(), Hint: "stop, and let a human look: git liza verify"}
	}
	return err
}

// text is the body with the board that it was written from, which every operation moves.
func (o *offer) text() string {
	attested := 0
	for _, n := range o.report.Attested {
		attested += n
	}
	return o.body + fmt.Sprintf("Liza-Board: %s\nLiza-Verified: %d proven by replay, %d checked in the repository, %d attested, %d unchecked\n",
		o.v.Commit, o.report.Proven, o.report.Checked, attested, o.report.Unchecked)
}

// needed refuses a submission that offers nothing, or is called ready too early.
func (o *offer) needed(ctx context.Context, base string, tip plumbing.OID) error {
	if o.head.IsZero() {
		return board.Refuse(board.CodeEmpty, "no work has landed on integration yet", "git liza status")
	}
	found, err := landed.Find(ctx, o.c.Board.Repo(), tip, o.head)
	if errors.Is(err, git.ErrNotFound) {
		return board.Refuse(board.CodeUnrelated, fmt.Sprintf("%s and integration have no history in common", base), "git liza pr submit --base BRANCH")
	}
	if err != nil {
		return err
	}
	if found.Done() || found.Kind == landed.Contained {
		return board.Refuse(board.CodeEmpty, fmt.Sprintf("%s has all work of %s already that integration has", base, o.goal.ID), "git liza goal show "+o.goal.ID)
	}
	open := o.unfinished()
	if o.Ready && open != "" {
		return board.Refuse(board.CodeUnfinished, open, "git liza pr submit "+o.goal.ID+" opens a draft")
	}
	return nil
}

// unfinished describes the task that keeps the goal's pull request a draft; "" if none does.
func (o *offer) unfinished() string {
	tasks := o.v.State.TasksOf(o.goal.ID)
	for _, b := range tasks {
		if !b.Status.Terminal() {
			return fmt.Sprintf("%s is %s: %s is not finished", b.ID, b.Status, o.goal.ID)
		}
	}
	return ""
}

func (o *offer) draft() bool { return o.Draft || !o.Ready && o.unfinished() != "" }

// push moves the goal's branch forward. It never forces: a person's commits on it stay.
func (o *offer) push(ctx context.Context) error {
	to := o.to.remote
	if o.PushRemote != "" {
		var err error
		if to, err = remoteOf(ctx, o.c, o.PushRemote); err != nil {
			return err
		}
	}
	ref := plumbing.BranchRef(o.done.Branch)
	err := to.Offer(ctx, map[string]string{string(o.head): ref})
	if !errors.Is(err, git.ErrRejected) {
		return err
	}
	there, listing := to.List(ctx, ref)
	switch {
	case listing != nil, there[ref].IsZero():
		return err
	case there[ref] == o.head: // another clone submits it at the same time
		return nil
	}
	return board.Refuse(board.CodeMoved, fmt.Sprintf("%s at %s has commits that integration lacks (%s)", o.done.Branch, to.Name, there[ref].Short()),
		fmt.Sprintf("git fetch %s %s, look at them, and bring them to integration: git liza land FETCH_HEAD", to.Name, o.done.Branch))
}

// page names the address where a person opens the pull request.
func (o *offer) page() error {
	if o.to.lost != nil {
		return nil
	}
	if o.to.kind == "" {
		o.done.URL = o.to.at.Web + "/" + o.to.at.Repo
		return nil
	}
	host, err := forge.At(o.to.kind, o.to.at, "", nil)
	if err != nil {
		return board.Refuse(board.CodeInvalid, err.Error(), "git config liza.forge."+o.to.at.Name+".kind KIND")
	}
	o.done.URL = host.PageOf(o.done.Base, o.done.Branch)
	return nil
}

// request opens the pull request or updates it, and records it.
func (o *offer) request(ctx context.Context) error {
	wanted := forge.Wanted{Title: title(o.goal, o.Title), Body: insert("", o.text(), o.goal.ID), Base: o.done.Base, Head: o.done.Branch,
		Draft: o.draft()}
	if err := o.fromFork(ctx, &wanted); err != nil {
		return err
	}
	pr, err := o.existing(ctx, o.goal.PullRequest, wanted.Head)
	if err == nil && pr == nil {
		pr, err = o.to.host.Open(ctx, wanted)
	}
	if err != nil {
		return forged(err)
	}
	if err := o.update(ctx, pr); err != nil {
		return forged(err)
	}
	o.done.Number, o.done.URL, o.done.State = pr.Number, pr.URL, stateOf(pr)
	if err := o.record(ctx, pr); err != nil {
		return err
	}
	if o.c.App.Getenv("GITHUB_ACTIONS") != "" {
		o.done.Left = "a workflow's own token starts no workflows for this pull request"
	}
	if err := follows(ctx, o.to, o.goal, pr); err != nil {
		o.done.Left = err.Error()
	}
	return forged(o.to.host.Ask(ctx, pr, o.Labels, o.Reviewers))
}

// fromFork names the owner of the fork in the head, if the branch was pushed to one.
func (o *offer) fromFork(ctx context.Context, w *forge.Wanted) error {
	if o.PushRemote == "" || o.PushRemote == o.to.remote.Name {
		return nil
	}
	fork, err := remoteOf(ctx, o.c, o.PushRemote)
	if err != nil {
		return err
	}
	at, err := placeOf(ctx, o.c, fork)
	if err != nil {
		return err
	}
	owner, _, _ := strings.Cut(at.at.Repo, "/")
	w.Head = owner + ":" + w.Head
	return nil
}

// existing returns the goal's pull request if it is open at the host.
func (o *offer) existing(ctx context.Context, known *board.PullRequest, head string) (*forge.PullRequest, error) {
	if known.Live() && o.to.has(known) {
		pr, err := o.to.host.Get(ctx, known.Number)
		if err != nil || pr.State == forge.Open {
			return pr, err
		}
	}
	return o.to.host.Find(ctx, head)
}

// has reports whether a pull request of the board is one of this repository.
func (t *target) has(r *board.PullRequest) bool { return r.Host == t.at.Name && r.Repo == t.at.Repo }

// update brings the text, and whether it is a draft, up to date.
func (o *offer) update(ctx context.Context, pr *forge.PullRequest) error {
	change := forge.Change{}
	if !strings.Contains(pr.Body, o.body) {
		text := insert(pr.Body, o.text(), o.goal.ID)
		change.Body = &text
	}
	if draft := o.draft(); draft != pr.Draft {
		change.Draft = &draft
	}
	if o.Title != "" && o.Title != pr.Title {
		change.Title = &o.Title
	}
	if change == (forge.Change{}) {
		return nil
	}
	if err := o.to.host.Update(ctx, pr, change); err != nil {
		return err
	}
	if change.Draft != nil {
		pr.Draft = *change.Draft
	}
	return nil
}

// stateOf is a pull request's state as the board has it.
func stateOf(pr *forge.PullRequest) string {
	switch {
	case pr.State == forge.Open && pr.Draft:
		return board.RequestDraft
	case pr.State == forge.Open:
		return board.RequestOpen
	case pr.State == forge.Merged:
		return board.RequestMerged
	}
	return board.RequestClosed
}

// record writes the pull request to the board, if the board does not have it so. Another clone may write it at the
// same time.
func (o *offer) record(ctx context.Context, pr *forge.PullRequest) error {
	s, race := o.v.State, error(nil)
	for range 5 {
		g := s.Goal(o.goal.ID)
		if g == nil {
			return cmp.Or(s.Err(), race)
		}
		p := o.recorded(g.PullRequest, pr)
		if p == nil {
			return nil
		}
		race = act(ctx, o.c, p)
		var known *board.Refusal
		if race != nil && !(errors.As(race, &known) && known.Code == board.CodeExists) {
			return race
		}
		v, err := o.c.View(ctx)
		if err != nil {
			return err
		}
		s = v.State
	}
	return race
}

// recorded is the next operation that brings a pull request to the board, which has r; nil if there is nothing to do.
func (o *offer) recorded(r *board.PullRequest, pr *forge.PullRequest) board.Payload {
	head, sum := string(o.head), digest(o.body)
	switch {
	case !r.Live():
		return &board.PROpen{Goal: o.goal.ID, Kind: o.to.kind, Host: o.to.at.Name, Repo: o.to.at.Repo, Number: pr.Number,
			Base: o.done.Base, Branch: o.done.Branch, Head: head, Draft: pr.Draft, Body: sum}
	case !o.to.has(r) || r.Number != pr.Number: // it was closed at the host, or the repository moved
		return &board.PRUpdate{Goal: o.goal.ID, State: board.RequestClosed}
	case r.Head == head && r.State == stateOf(pr) && r.Body == sum:
		return nil
	}
	return &board.PRUpdate{Goal: o.goal.ID, Head: head, State: stateOf(pr), Body: sum}
}
