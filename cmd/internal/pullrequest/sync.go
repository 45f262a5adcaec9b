package pullrequest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/forge"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/landed"
	"github.com/git-liza/git-liza/gitboard/text"
)

// quiet is how long a review must have been submitted before it counts: people add to it at first.
const quiet = time.Minute

// maxText bounds a review's text on the board, in bytes.
const maxText = 8000

// Synced is what a sync found.
type Synced struct {
	Goal     string   `json:"goal"`
	Number   int      `json:"number"`
	State    string   `json:"state"`
	Merged   string   `json:"merged,omitempty"`   // how: merge, squash, rebase
	Feedback []string `json:"feedback,omitempty"` // what is new for the planner
	Left     []string `json:"left,omitempty"`     // what a human has to look at
	URL      string   `json:"url"`
}

// Lines returns it as text for a human.
func (s *Synced) Lines() []string {
	line := fmt.Sprintf("%s: pull request %d is %s", s.Goal, s.Number, s.State)
	if s.Merged != "" {
		line += " (" + s.Merged + ")"
	}
	lines := append([]string{line}, call.Prefixed("new for the planner: ", s.Feedback)...)
	return append(lines, call.Prefixed("for you: ", s.Left)...)
}

// exchange is a sync of one goal's pull request.
type exchange struct {
	c     *call.Call
	state *board.State
	goal  *board.Goal
	to    *target
	last  *look // the former look of a poller
	done  Synced
}

// look is a poller's memory of a pull request. The zero value has seen nothing.
type look struct {
	to      *target
	updated string    // as the host dates its last change, once all of it is on the board
	whole   time.Time // when everything was asked for
	changed time.Time // when something was new
}

// Sync brings what happened to a goal's pull request to the board: that it was merged, which git
// alone decides, that it was closed, reviews and failed checks.
func Sync(ctx context.Context, c *call.Call, goal string) (*Synced, error) {
	if _, err := c.Actor(ctx, "pr-update"); err != nil {
		return nil, err
	}
	if err := unpolled(ctx, c); err != nil {
		return nil, err
	}
	x := &exchange{c: c, last: &look{}}
	if err := x.begin(ctx, goal, nil); err != nil {
		return nil, err
	}
	err := x.sync(ctx)
	return &x.done, err
}

// sync asks the host. Reviews are asked for again once the pull request has changed, and after a while.
func (x *exchange) sync(ctx context.Context) error {
	pr, err := x.to.host.Get(ctx, x.done.Number)
	if err != nil {
		return forged(err)
	}
	now, last := x.c.App.Now(), x.last
	x.done.URL, x.done.State = pr.URL, stateOf(pr)
	whole := pr.State != forge.Open || pr.Updated == "" || pr.Updated != last.updated || now.Sub(last.whole) >= calm
	if pr.Updated != last.updated {
		last.changed = now
	}
	if whole {
		last.updated, last.whole = "", now
		before := x.goal.PullRequest.State
		if merged, err := x.merged(ctx, pr); err != nil {
			return err
		} else if !merged && x.done.State != before && x.done.State != board.RequestMerged {
			if err := act(ctx, x.c, &board.PRUpdate{Goal: x.goal.ID, State: x.done.State}); err != nil {
				return err
			}
		}
		if x.done.State != before {
			if err := follows(ctx, x.to, x.goal, pr); err != nil {
				x.done.Left = append(x.done.Left, err.Error())
			}
		}
	}
	if pr.State != forge.Open || x.done.Merged != "" {
		return nil
	}
	young, err := x.feedback(ctx, pr, whole)
	if err == nil && !young {
		last.updated = pr.Updated
	}
	return err
}

// begin finds the pull request and its host.
func (x *exchange) begin(ctx context.Context, goal string, meter *forge.Meter) error {
	v, err := x.c.View(ctx)
	if err != nil {
		return err
	}
	x.state = v.State
	if x.goal, err = offered(v.State, goal); err != nil {
		return err
	}
	r := x.goal.PullRequest
	x.done = Synced{Goal: x.goal.ID, Number: r.Number, State: r.State}
	if x.to = x.last.to; x.to != nil && x.to.has(r) {
		return nil
	}
	names, err := x.c.Board.Repo().Settings().Remotes(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		remote, err := x.c.Board.Repo().Remote(ctx, name)
		if err != nil {
			return err
		}
		if to, err := placeOf(ctx, x.c, remote); err == nil && to.has(r) {
			x.to, x.last.to = to, to
			return to.connect(ctx, x.c, meter)
		}
	}
	// Tokens go to an address of this clone, never to one that the board names.
	return board.Refuse(board.CodeNoRemote, fmt.Sprintf("no remote of this clone is %s at %s, where the pull request is", r.Repo, r.Host), "git remote add NAME ADDRESS; after a rename: git liza pr submit "+x.goal.ID)
}

// offered returns the goal that is named, or the only one with a pull request.
func offered(s *board.State, goal string) (*board.Goal, error) {
	var with []*board.Goal
	for _, g := range s.Goals() {
		if g.PullRequest != nil && (goal == "" || g.ID == goal) {
			with = append(with, g)
		}
	}
	switch {
	case s.Err() != nil:
		return nil, s.Err()
	case len(with) == 1:
		return with[0], nil
	case len(with) == 0 && goal == "":
		return nil, board.Refuse(board.CodeUnknownRecord, "no goal has a pull request", "git liza pr submit")
	case len(with) == 0:
		return nil, board.Refuse(board.CodeUnknownRecord, goal+" has no pull request", "git liza pr submit "+goal)
	}
	for _, g := range with {
		if g.PullRequest.Live() {
			return g, nil
		}
	}
	return with[len(with)-1], nil
}

// merged decides from git whether the base has the work, and records it.
func (x *exchange) merged(ctx context.Context, pr *forge.PullRequest) (bool, error) {
	r, repo := x.goal.PullRequest, x.c.Board.Repo()
	if r.Merged != nil {
		x.done.State, x.done.Merged = r.State, r.Merged.Kind
		return true, nil
	}
	base, err := brought(ctx, x.c, x.to.remote, plumbing.BranchRef(r.Base), plumbing.RemoteRef(x.to.remote.Name, r.Base))
	if err != nil {
		return false, err
	}
	head := plumbing.OID(r.Head)
	ref := plumbing.RequestRef(r.Kind, r.Number)
	if there, err := brought(ctx, x.c, x.to.remote, ref, plumbing.RemoteRef(x.to.remote.Name, fmt.Sprintf("pull/%d", r.Number))); err == nil {
		head = there
	}
	found, err := landed.Find(ctx, repo, base, head)
	if errors.Is(err, git.ErrNotFound) {
		return false, nil
	}
	switch {
	case err != nil:
		return false, err
	case found.Done():
		commit := found.To
		if commit.IsZero() {
			commit = base
		}
		x.done.State, x.done.Merged = board.RequestMerged, string(found.Kind)
		return true, act(ctx, x.c, &board.PRMerged{Goal: x.goal.ID, Commit: string(commit), Kind: string(found.Kind), Head: string(head)})
	case found.Kind == landed.Contained:
		x.done.Left = append(x.done.Left, fmt.Sprintf("merging it would change nothing on %s, and no commit there brought just this: close it, if that is meant", r.Base))
	case pr.State == forge.Merged:
		return false, &call.Outcome{Exit: 4, Code: call.CodeMergeCorrupt,
			Message: fmt.Sprintf("%s reports %s as merged, and %s does not hold what it offered: corrupt, or edited by hand", x.to.at.Name, r.Name(), r.Base),
			Hint:    fmt.Sprintf("compare them: git diff %.10s %s/%s", head, x.to.remote.Name, r.Base)}
	}
	return false, nil
}

// feedback brings failing checks and, with whole, reviews that are new to the planner. young reports that there is
// more: a review that does not count yet, or more than an operation takes.
func (x *exchange) feedback(ctx context.Context, pr *forge.PullRequest, whole bool) (young bool, err error) {
	var me string
	var reviews []forge.Review
	if whole {
		if me, err = x.to.host.Me(ctx); err == nil {
			reviews, err = x.to.host.Reviews(ctx, pr)
		}
	}
	if err != nil {
		return false, forged(err)
	}
	checks, err := x.to.host.Checks(ctx, pr.Head)
	if err != nil {
		return false, forged(err)
	}
	news := feedback{known: board.FeedbackSources(x.state, x.goal.ID), to: &board.PRFeedback{Goal: x.goal.ID}}
	for _, r := range reviews {
		switch about := reviewText(r); {
		case about == "", r.Approves, r.Author == me, r.Commit != "" && r.Commit != pr.Head:
		case x.c.App.Now().Sub(r.At) < quiet:
			young = true
		case r.Bot && !slices.Contains(x.state.Config().PRBots, r.Author):
			news.add(sourceOf("outside", r.Author), r.Author, true, func() string {
				return fmt.Sprintf("a bot that pr_bots does not list reviewed %s: %s", x.goal.PullRequest.Name(), pr.URL)
			})
		case !r.Bot && !r.Writer && !slices.Contains(x.state.Config().PRBots, r.Author):
			news.add(sourceOf("outside", r.Author), r.Author, true, func() string {
				return fmt.Sprintf("somebody who may not write to %s reviewed %s: %s", x.to.at.Repo, x.goal.PullRequest.Name(), pr.URL)
			})
		default:
			news.add(sourceOf("review", r.ID, digest(wordsOf(r))), r.Author, false, func() string { return about })
		}
	}
	for _, k := range checks {
		switch k.State {
		case forge.Pending:
			x.last.changed = x.c.App.Now()
		case forge.Failed:
			news.add(sourceOf("check", fmt.Sprintf("%.10s", pr.Head), k.Name), "check "+k.Name, false, func() string { return x.failed(ctx, k) })
		}
	}
	for _, e := range news.to.Items {
		if e.Outside {
			x.done.Left = append(x.done.Left, e.Author+": "+e.Text)
		} else {
			x.done.Feedback = append(x.done.Feedback, e.Author+": "+e.Source)
		}
	}
	if len(news.to.Items) == 0 {
		return young, ctx.Err()
	}
	x.last.changed = x.c.App.Now()
	return young || news.more, act(ctx, x.c, news.to)
}

// failed describes a failing check with all that its host knows of it.
func (x *exchange) failed(ctx context.Context, k forge.Check) string {
	more, err := x.to.host.Detail(ctx, k)
	if err != nil {
		more = "its log is not available: " + err.Error()
	}
	return "failed: " + strings.TrimSpace(strings.Join([]string{strings.TrimSpace(k.Text), k.URL, more}, "\n"))
}

// maxItems bounds the feedback of one operation; the next sync brings the rest.
const maxItems = 20

// feedback collects what is new for the board.
type feedback struct {
	known map[string]bool
	to    *board.PRFeedback
	more  bool // than one operation takes
}

// add adds a text for the planner, or from outside one for the human, unless the board has it.
func (f *feedback) add(source, author string, outside bool, about func() string) {
	if f.known[source] {
		return
	}
	if len(f.to.Items) == maxItems {
		f.more = true
		return
	}
	f.known[source] = true
	if words := storable(about()); words != "" {
		f.to.Items = append(f.to.Items, board.Feedback{Source: source, Author: cmp.Or(text.Line(author, 100), "unknown"), Text: words, Outside: outside})
	}
}

// sourceOf names feedback on the board by a word.
func sourceOf(parts ...string) string {
	source := strings.Map(func(r rune) rune {
		if r <= ' ' || r == 0x7f {
			return '-'
		}
		return r
	}, strings.Join(parts, ":"))
	if len(source) > 150 {
		source = strings.ToValidUTF8(source[:120], "") + ":" + digest(source)
	}
	return source
}

// storable makes a text from outside one that a record may hold, of at most maxText bytes. Credentials are left
// out, line by line. The end of a log matters most.
func storable(about string) string {
	var lines []string
	key := false
	for line := range strings.Lines(text.Lines(strings.ToValidUTF8(about, ""))) {
		line = strings.TrimRight(line, "\n")
		if strings.Contains(line, "-----BEGIN ") {
			key = strings.Contains(line, "PRIVATE KEY")
		}
		hidden := key || !board.Storable(line)
		if strings.Contains(line, "-----END ") {
			key = false
		}
		if hidden {
			line = "(a line that looks like a credential is left out)"
		}
		lines = append(lines, line)
	}
	about = strings.TrimSpace(strings.Join(lines, "\n"))
	if len(about) <= maxText {
		return about
	}
	return strings.ToValidUTF8(about[:maxText/4], "") + "\n…\n" + strings.ToValidUTF8(about[len(about)-maxText*3/4:], "")
}

// reviewText is a review with its open comments, as one text.
func reviewText(r forge.Review) string {
	parts := []string{strings.TrimSpace(r.Text)}
	for _, c := range r.Comments {
		at := c.Path
		if c.Line > 0 {
			at = fmt.Sprintf("%s:%d", c.Path, c.Line)
		}
		if !c.Over {
			parts = append(parts, at+": "+strings.TrimSpace(c.Text))
		}
	}
	return strings.TrimSpace(strings.Join(parts, "\n"))
}

// wordsOf is all text of a review, so that an edit makes it new, and a resolved comment does not.
func wordsOf(r forge.Review) string {
	words := []string{r.Text}
	for _, c := range r.Comments {
		words = append(words, c.Path, c.Text)
	}
	return strings.Join(words, "\x00")
}

// Status returns a goal's pull request: from the board, and with fresh also as it is at the host now.
func Status(ctx context.Context, c *call.Call, goal string, fresh bool) (*board.PullRequest, *forge.PullRequest, []forge.Check, error) {
	v, err := c.View(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	g, err := offered(v.State, goal)
	if err != nil || !fresh {
		if err != nil {
			return nil, nil, nil, err
		}
		return g.PullRequest, nil, nil, nil
	}
	x := &exchange{c: c, last: &look{}}
	if err := x.begin(ctx, g.ID, nil); err != nil {
		return nil, nil, nil, err
	}
	pr, err := x.to.host.Get(ctx, g.PullRequest.Number)
	if err != nil {
		return nil, nil, nil, forged(err)
	}
	checks, err := x.to.host.Checks(ctx, pr.Head)
	return g.PullRequest, pr, checks, forged(err)
}
