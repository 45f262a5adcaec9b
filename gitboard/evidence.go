package gitboard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/report"
)

// IntegrationRef returns the full name of the board's integration branch.
func (v *View) IntegrationRef() string { return plumbing.BranchRef(v.State.Config().IntegrationBranch) }

// TaskBranch returns the name of a task's branch in this clone.
func (v *View) TaskBranch(task string) string { return v.State.TaskBranches().Of(task) }

// TaskRef returns the full name of a task's branch in this clone.
func (v *View) TaskRef(task string) string { return plumbing.BranchRef(v.TaskBranch(task)) }

// Branches lists the branches that only git liza moves in this clone: integration, and what those
// of tasks are below.
func (v *View) Branches() []string {
	return []string{v.State.TaskBranches().Dir(), v.State.Config().IntegrationBranch}
}

// IntegrationTip returns the tip of the integration branch, zero if the branch does not exist.
func (v *View) IntegrationTip(ctx context.Context) (plumbing.OID, error) {
	return v.refs().Ref(ctx, v.IntegrationRef())
}

// Integration returns the tip of the integration branch, or a refusal if the branch does not exist.
func (v *View) Integration(ctx context.Context) (plumbing.OID, error) {
	tip, err := v.IntegrationTip(ctx)
	if err != nil {
		return "", err
	}
	if tip.IsZero() {
		name := v.State.Config().IntegrationBranch
		hint := "make it where it should begin: git branch " + name + " COMMIT"
		proven, err := v.ProvenIntegration(ctx)
		if err != nil {
			return "", err
		}
		if proven.By != "" {
			hint = fmt.Sprintf("make it again where it was; %s %s: git branch %s %s", proven.By, proven.Commit.Short(), name, proven.Commit)
		}
		return "", board.Refuse(board.CodeNoIntegration, fmt.Sprintf("the integration branch %s is missing here", name), hint)
	}
	return tip, nil
}

// KeptIntegration returns the tip of the integration branch, or a refusal if integration is not
// where the board left it: the branch lacks the last landing, or is missing. A shared board asks
// the remote again before it refuses.
func (v *View) KeptIntegration(ctx context.Context) (plumbing.OID, error) {
	err := v.SetBack(ctx)
	if refused := (*board.Refusal)(nil); errors.As(err, &refused) && v.board.Remote() != "" {
		err = cmp.Or(v.board.Refresh(ctx), v.SetBack(ctx))
	}
	if err != nil {
		return "", err
	}
	return v.Integration(ctx)
}

// SetBack returns a refusal if integration is not where the board left it, as far as this clone has
// seen.
func (v *View) SetBack(ctx context.Context) error {
	meta, b := v.State.Meta(), v.board
	if meta == nil || meta.Landed == "" || b.Repo() == nil || b.Repo().Shallow() {
		return v.State.Err()
	}
	tip, err := v.Integration(ctx)
	landed := plumbing.OID(meta.Landed)
	if err != nil || tip == landed {
		return err
	}
	name := v.State.Config().IntegrationBranch
	lacks := board.Refusef(board.CodeSetBack, "%s was set back: it lacks %s", name, landed.Short())
	switch o, err := b.Repo().Object(ctx, meta.Landed); {
	case errors.Is(err, git.ErrNotFound):
		return lacks.Advise("that commit isn't in this clone; in a clone that has it: %s", board.ActOn("land", meta.Landed))
	case err != nil || o.Type != plumbing.CommitObject:
		return err
	}
	if has, err := b.Repo().History().IsAncestor(ctx, landed, tip); has || err != nil {
		return err
	}
	forward, err := b.Repo().History().IsAncestor(ctx, tip, landed)
	if err != nil {
		return err
	}
	if !forward {
		return lacks.Advise("a human merges the two on a branch, git switch -c both %s && git merge %s, then: %s", name, landed.Short(), board.ActOn("land", "both"))
	}
	return lacks.Way(board.ActOn("land", landed.Short()))
}

// SeenSetBack is SetBack as overviews and alarms show it, nil if integration is where it belongs.
func (v *View) SeenSetBack(ctx context.Context) (*report.SetBack, error) {
	err := v.SetBack(ctx)
	if refused := (*board.Refusal)(nil); errors.As(err, &refused) {
		return &report.SetBack{Text: refused.Message, Do: refused.Hint}, nil
	}
	return nil, err
}

// Completing is the intent that ends a goal, which is refused while integration lacks a landing.
func Completing(p *board.GoalComplete) Intent {
	return func(ctx context.Context, v *View) (board.Payload, []plumbing.RefUpdate, error) {
		return p, nil, v.SetBack(ctx)
	}
}

// keepLanding returns the update by which plumbing.LandedRef follows operations that moved integration.
func (b *Board) keepLanding(ctx context.Context, before, after *board.State) ([]plumbing.RefUpdate, error) {
	was, now := before.Meta(), after.Meta()
	if b.Repo() == nil || was == nil || now == nil || was.Landed == now.Landed {
		return nil, cmp.Or(before.Err(), after.Err())
	}
	at, err := b.Repo().Ref(ctx, plumbing.LandedRef)
	return []plumbing.RefUpdate{{Ref: plumbing.LandedRef, Old: at, New: plumbing.OID(now.Landed)}}, err
}

// keepFetched moves plumbing.LandedRef to a landing that a fetch has brought. If that fails, the commit
// is kept only while integration has it.
func (b *Board) keepFetched(ctx context.Context) {
	v, err := b.View(ctx)
	if err != nil || v.State.Meta() == nil {
		return
	}
	landed := plumbing.OID(v.State.Meta().Landed)
	at, err := b.Repo().Ref(ctx, plumbing.LandedRef)
	if err != nil || landed == "" || at == landed {
		return
	}
	if o, err := b.Repo().Object(ctx, string(landed)); err == nil && o.Type == plumbing.CommitObject {
		_ = b.Repo().UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: plumbing.LandedRef, Old: at, New: landed}}, "")
	}
}

// Complete returns a *git.DamagedError if this clone lacks objects that a task's submitted commit
// would bring to integration.
func (b *Board) Complete(ctx context.Context, t *board.Task, integration plumbing.OID) error {
	return b.Repo().History().WholeSince(ctx, integration, plumbing.OID(t.ReviewCommit))
}

// Proven is the newest commit of integration that the board proves.
type Proven struct {
	Commit plumbing.OID
	By     string // what proves it, as the beginning of a sentence that ends in the commit; "" for no proof
}

// ProvenIntegration returns the commit of integration that contains all others which the board
// names and which are in this clone: those of merges, of the last land, and those that claims began
// from.
func (v *View) ProvenIntegration(ctx context.Context) (Proven, error) {
	var merged, claimed Proven
	for _, brief := range v.State.Tasks() {
		t := v.State.Task(brief.ID)
		if t == nil {
			return Proven{}, v.State.Err()
		}
		if brief.Status == board.Merged {
			merged = v.board.newer(ctx, merged, Proven{plumbing.OID(t.MergeCommit), "the last merge left it at"})
		}
		claimed = v.board.newer(ctx, claimed, Proven{plumbing.OID(t.BaseCommit), "the last claim began at"})
	}
	landed := Proven{plumbing.OID(v.State.Meta().Landed), "the last landing left it at"}
	return v.board.newer(ctx, v.board.newer(ctx, merged, landed), claimed), cmp.Or(ctx.Err(), v.State.Err())
}

// newer returns the one of two that contains the other; known if neither does, or if other is not
// in this clone.
func (b *Board) newer(ctx context.Context, known, other Proven) Proven {
	if o, err := b.Repo().Object(ctx, string(other.Commit)); other.Commit == "" || err != nil || o.Type != plumbing.CommitObject {
		return known
	}
	if known.By == "" {
		return other
	}
	if after, err := b.Repo().History().IsAncestor(ctx, known.Commit, other.Commit); err != nil || !after || known.Commit == other.Commit {
		return known
	}
	return other
}

// Instructions returns the text of the instructions of a team's role, "" for none. It is the text
// of the file when the team was set.
func (b *Board) Instructions(ctx context.Context, r *board.Role) (string, error) {
	if r.Blob == "" {
		return "", nil
	}
	found, err := b.Repo().Objects(ctx, []string{r.Blob})
	if err != nil {
		return "", err
	}
	if found[0].Type != "blob" {
		return "", board.Refusef(board.CodeMissing, "the instructions of the role %s, %s at %.10s, are not in this clone", r.Name, r.Instructions, r.Blob).
			Advise("git fetch, or a human sets the team again: %s", board.ActOn("team"))
	}
	return string(found[0].Data), nil
}

// NoSpec lists the goals in progress and the drafts whose specification is not a file in integration's
// tree. Without an integration branch that is missing first, and none is listed.
func (v *View) NoSpec(ctx context.Context) (goals, drafts []string, err error) {
	if tip, err := v.IntegrationTip(ctx); err != nil || tip.IsZero() {
		return nil, nil, err
	}
	known := map[string]bool{}
	absent := func(spec string) bool {
		if _, seen := known[spec]; !seen && err == nil {
			oid := ""
			oid, err = v.SpecOID(ctx, spec)
			known[spec] = oid != ""
		}
		return !known[spec]
	}
	for _, g := range v.State.Running() {
		if absent(g.Spec()) {
			goals = append(goals, g.ID)
		}
	}
	for _, id := range report.Unfinalized(v.State) {
		if t := v.State.Task(id); t != nil && t.SpecRef != "" && absent(t.SpecRef) {
			drafts = append(drafts, id)
		}
	}
	return goals, drafts, cmp.Or(err, v.State.Err())
}

// SpecOID returns the id of the blob that a spec_ref (a path with an optional #anchor) names in
// integration's tree, or "" if there is no such file.
func (v *View) SpecOID(ctx context.Context, specRef string) (string, error) {
	path, _, _ := strings.Cut(specRef, "#")
	if path == "" || strings.ContainsAny(path, "\n\x00") {
		return "", nil
	}
	tip, err := v.Integration(ctx)
	if err != nil {
		return "", err
	}
	oid, err := v.board.Repo().History().FileOID(ctx, tip, path)
	if errors.Is(err, git.ErrNotFound) {
		return "", nil
	}
	return string(oid), err
}
