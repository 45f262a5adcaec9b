package log

import (
	"context"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// Store is a log's view of a repository. *git.Repo and testrepo.Memory implement it;
// tests wrap either to make steps fail.
type Store interface {
	// Object reads an object by id, ref, or <tree>:<path>. It returns git.ErrNotFound if there is
	// none.
	Object(ctx context.Context, name string) (plumbing.Object, error)
	// Objects reads many objects. A missing one has no OID.
	Objects(ctx context.Context, names []string) ([]plumbing.Object, error)
	// WriteObjects stores objects durably.
	WriteObjects(ctx context.Context, objects []plumbing.Object) error
	// Ref returns a ref's value, or zero if it does not exist.
	Ref(ctx context.Context, name string) (plumbing.OID, error)
	// Refs lists the refs below prefixes, sorted by name, or all refs if there are no prefixes.
	Refs(ctx context.Context, prefixes ...string) ([]plumbing.Ref, error)
	// UpdateRefs moves refs in one transaction. It returns git.ErrRefMoved or git.ErrBusy if
	// the race was lost.
	UpdateRefs(ctx context.Context, updates []plumbing.RefUpdate, reflog string) error
	// Log returns the commits after from up to to, oldest first, or all of them if from is zero.
	Log(ctx context.Context, from, to plumbing.OID) ([]plumbing.Commit, error)
	// RequestCommit finds a request among the newest commits. It returns git.ErrNotFound if it is
	// missing.
	RequestCommit(ctx context.Context, tip plumbing.OID, request string, depth int) (plumbing.OID, error)
}
