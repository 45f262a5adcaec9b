package gitboard

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/gitio"
)

// IntegrationRef is the full name of the board's integration branch.
func (v *View) IntegrationRef() string { return "refs/heads/" + v.State.Config().IntegrationBranch }

// Integration is the tip of the integration branch.
func (b *Board) Integration(ctx context.Context, v *View) (gitio.OID, error) {
	oid, err := b.store.Ref(ctx, v.IntegrationRef())
	if err != nil {
		return "", err
	}
	if oid.IsZero() {
		return "", board.Refuse("no-integration", fmt.Sprintf("the integration branch %s is gone", v.State.Config().IntegrationBranch), "git liza doctor")
	}
	return oid, nil
}

// SpecOID is the blob that a spec_ref (path, optionally #anchor) names in integration's tree, "" when there
// is no such file.
func (b *Board) SpecOID(ctx context.Context, v *View, specRef string) (string, error) {
	path, _, _ := strings.Cut(specRef, "#")
	if path == "" || strings.ContainsAny(path, "\n\x00") {
		return "", nil
	}
	tip, err := b.Integration(ctx, v)
	if err != nil {
		return "", err
	}
	oid, err := b.repo.FileOID(ctx, tip, path)
	if errors.Is(err, gitio.ErrNotFound) {
		return "", nil
	}
	return string(oid), err
}
