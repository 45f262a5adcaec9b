package oplog

import (
	"context"

	"github.com/git-liza/git-liza/gitboard/git"
)

// Store is a log's view of a repository. *gitio.Repo and Memory implement it; tests wrap
// either to make steps fail.
type Store interface {
	// Object reads an object by id, ref, or <tree>:<path>. It returns gitio.ErrNotFound if there is
	// none.
	Object(ctx context.Context, name string) (git.Object, error)
	// Objects reads many objects. A missing one has no OID.
	Objects(ctx context.Context, names []string) ([]git.Object, error)
	// WriteObjects stores objects durably.
	WriteObjects(ctx context.Context, objects []git.Object) error
	// Ref returns a ref's value, or zero if it does not exist.
	Ref(ctx context.Context, name string) (git.OID, error)
	// Refs lists the refs below prefixes, sorted by name, or all refs if there are no prefixes.
	Refs(ctx context.Context, prefixes ...string) ([]git.Ref, error)
	// UpdateRefs moves refs in one transaction. It returns gitio.ErrRefMoved or gitio.ErrBusy if
	// the race was lost.
	UpdateRefs(ctx context.Context, updates []git.RefUpdate, reflog string) error
	// Log returns the commits after from up to to, oldest first, or all of them if from is zero.
	Log(ctx context.Context, from, to git.OID) ([]git.Commit, error)
	// RequestCommit finds a request among the newest commits. It returns gitio.ErrNotFound if it is
	// missing.
	RequestCommit(ctx context.Context, tip git.OID, request string, depth int) (git.OID, error)
}
