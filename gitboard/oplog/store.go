package oplog

import (
	"context"

	"github.com/git-liza/git-liza/gitboard/git"
)

// Store is what a log needs of a repository. *gitio.Repo is one, Memory is another; tests wrap either to
// make steps fail.
type Store interface {
	// Object reads an object by id, ref, or <tree>:<path>; gitio.ErrNotFound when there is none.
	Object(ctx context.Context, name string) (git.Object, error)
	// Objects reads many; one that is missing has no OID.
	Objects(ctx context.Context, names []string) ([]git.Object, error)
	// WriteObjects stores objects durably.
	WriteObjects(ctx context.Context, objects []git.Object) error
	// Ref is a ref's value, zero when there is none.
	Ref(ctx context.Context, name string) (git.OID, error)
	// Refs lists the refs below prefixes, sorted by name; all of them without any.
	Refs(ctx context.Context, prefixes ...string) ([]git.Ref, error)
	// UpdateRefs moves refs in one transaction; gitio.ErrRefMoved or gitio.ErrBusy when the race is lost.
	UpdateRefs(ctx context.Context, updates []git.RefUpdate, reflog string) error
	// Log reads the commits after from up to to, the oldest first; all of them for a zero from.
	Log(ctx context.Context, from, to git.OID) ([]git.Commit, error)
	// RequestCommit finds a request among the newest commits; gitio.ErrNotFound when it isn't there.
	RequestCommit(ctx context.Context, tip git.OID, request string, depth int) (git.OID, error)
}
