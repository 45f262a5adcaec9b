package gitboard

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/git-liza/git-liza/gitboard/board"
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
		if last := b.lastMerge(ctx, v); last != "" {
			hint = fmt.Sprintf("make it again where it was; the last merge left it at %s: git branch %s %s", git.OID(last).Short(), name, last)
		}
		return "", board.Refuse(board.CodeNoIntegration, fmt.Sprintf("the integration branch %s is missing here", name), hint)
	}
	return tip, nil
}

// lastMerge returns the merge commit that contains all other merges, or "" if there is none.
func (b *Board) lastMerge(ctx context.Context, v *View) string {
	last := ""
	for _, brief := range v.State.Tasks() {
		t := v.State.Task(brief.ID)
		if brief.Status != board.Merged || t == nil {
			continue
		}
		after, err := b.Repo().IsAncestor(ctx, git.OID(last), git.OID(t.MergeCommit))
		if last == "" || err == nil && after {
			last = t.MergeCommit
		}
	}
	return last
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
