package oplog

import (
	"context"

	"github.com/git-liza/git-liza/gitboard/gitio"
)

// Store is what a log needs of a repository. *gitio.Repo is one, Memory is another; tests wrap either to
// make steps fail.
type Store interface {
	// Object reads an object by id, ref, or <tree>:<path>; gitio.ErrNotFound when there is none.
	Object(ctx context.Context, name string) (gitio.Object, error)
	// Objects reads many; one that is missing has no OID.
	Objects(ctx context.Context, names []string) ([]gitio.Object, error)
	// WriteObjects stores objects durably.
	WriteObjects(ctx context.Context, objects []gitio.Object) error
	// Ref is a ref's value, zero when there is none.
	Ref(ctx context.Context, name string) (gitio.OID, error)
	// UpdateRefs moves refs in one transaction; gitio.ErrRefMoved or gitio.ErrBusy when the race is lost.
	UpdateRefs(ctx context.Context, updates []gitio.RefUpdate, reflog string) error
	// Log reads the commits after from up to to, the oldest first; all of them for a zero from.
	Log(ctx context.Context, from, to gitio.OID) ([]gitio.Commit, error)
	// RequestCommit finds a request among the newest commits; gitio.ErrNotFound when it isn't there.
	RequestCommit(ctx context.Context, tip gitio.OID, request string, depth int) (gitio.OID, error)
}
