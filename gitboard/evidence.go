package gitboard

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/codec"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/gitio"
)

// IntegrationRef returns the full name of the board's integration branch.
func (v *View) IntegrationRef() string { return git.BranchRef(v.State.Config().IntegrationBranch) }

// TaskBranch returns the name of a task's branch in this clone.
func (v *View) TaskBranch(task string) string { return v.State.TaskBranches().Of(task) }

// TaskRef returns the full name of a task's branch in this clone.
func (v *View) TaskRef(task string) string { return git.BranchRef(v.TaskBranch(task)) }

// Branches lists the branches that only git liza moves in this clone: integration, and what those
// of tasks are below.
func (v *View) Branches() []string {
	return []string{v.State.TaskBranches().Dir(), v.State.Config().IntegrationBranch}
}

// IntegrationTip returns the tip of the integration branch, zero if the branch does not exist.
func (b *Board) IntegrationTip(ctx context.Context, v *View) (git.OID, error) {
	return b.store.Ref(ctx, v.IntegrationRef())
}

// Integration returns the tip of the integration branch, or a refusal if the branch does not exist.
func (b *Board) Integration(ctx context.Context, v *View) (git.OID, error) {
	tip, err := b.IntegrationTip(ctx, v)
	if err != nil {
		return "", err
	}
	if tip.IsZero() {
		name := v.State.Config().IntegrationBranch
		hint := "make it where it should begin: git branch " + name + " COMMIT"
		proven, err := b.ProvenIntegration(ctx, v)
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

// Complete returns a *gitio.DamagedError if this clone lacks a part of what a task's submitted
// commit would bring to integration.
func (b *Board) Complete(ctx context.Context, t *board.Task, integration git.OID) error {
	return b.Repo().WholeSince(ctx, integration, git.OID(t.ReviewCommit))
}

// Proven is the newest commit of integration that the board proves.
type Proven struct {
	Commit git.OID
	By     string // what proves it, as the beginning of a sentence that ends in the commit; "" if nothing does
}

// ProvenIntegration returns the commit of integration that contains all others which the board
// names and which are in this clone: those of merges, of the last land, and those that claims began
// from.
func (b *Board) ProvenIntegration(ctx context.Context, v *View) (Proven, error) {
	var merged, claimed Proven
	for _, brief := range v.State.Tasks() {
		t := v.State.Task(brief.ID)
		if t == nil {
			return Proven{}, v.State.Err()
		}
		if brief.Status == board.Merged {
			merged = b.newer(ctx, merged, Proven{git.OID(t.MergeCommit), "the last merge left it at"})
		}
		claimed = b.newer(ctx, claimed, Proven{git.OID(t.BaseCommit), "the last claim began at"})
	}
	landed, err := b.lastLanding(ctx, v)
	if err != nil {
		return Proven{}, err
	}
	return b.newer(ctx, b.newer(ctx, merged, landed), claimed), nil
}

// newer returns the one of two that contains the other; known if neither does, or if other is not
// in this clone.
func (b *Board) newer(ctx context.Context, known, other Proven) Proven {
	if o, err := b.Repo().Object(ctx, string(other.Commit)); other.Commit == "" || err != nil || o.Type != git.CommitObject {
		return known
	}
	if known.By == "" {
		return other
	}
	if after, err := b.Repo().IsAncestor(ctx, known.Commit, other.Commit); err != nil || !after || known.Commit == other.Commit {
		return known
	}
	return other
}

// lastLanding returns the commit to which the last merge or land moved integration, if any did.
func (b *Board) lastLanding(ctx context.Context, v *View) (Proven, error) {
	by := map[string]string{(&board.Merge{}).Op(): "the last merge left it at", (&board.Land{}).Op(): "the last land left it at"}
	commits, err := b.log.Store().Log(ctx, git.ZeroOID, v.Commit)
	if err != nil {
		return Proven{}, err
	}
	for _, c := range slices.Backward(commits) {
		head, err := codec.ParseHead(c.Message)
		if err != nil || by[head.Op] == "" {
			continue
		}
		file, err := b.log.Store().Object(ctx, string(c.OID)+":"+codec.PayloadFile)
		if err != nil && !errors.Is(err, gitio.ErrNotFound) {
			return Proven{}, err
		}
		op, err := head.Operation(string(file.Data), c.Author)
		if landing := op.Landing(); err == nil && landing != nil {
			return Proven{git.OID(landing.After), by[head.Op]}, nil
		}
	}
	return Proven{}, nil
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
		return "", board.Refuse(board.CodeMissing, fmt.Sprintf("the instructions of the role %s, %s at %.10s, are not in this clone", r.Name, r.Instructions, r.Blob), "git fetch, or a human sets the team again: git liza team edit")
	}
	return string(found[0].Data), nil
}

// SpecOID returns the id of the blob that a spec_ref (a path with an optional #anchor) names in
// integration's tree, or "" if there is no such file.
func (b *Board) SpecOID(ctx context.Context, v *View, specRef string) (string, error) {
	path, _, _ := strings.Cut(specRef, "#")
	if path == "" || strings.ContainsAny(path, "\n\x00") {
		return "", nil
	}
	tip, err := b.Integration(ctx, v)
	if err != nil {
		return "", err
	}
	oid, err := b.Repo().FileOID(ctx, tip, path)
	if errors.Is(err, gitio.ErrNotFound) {
		return "", nil
	}
	return string(oid), err
}
