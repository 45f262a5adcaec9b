package testrepo

import (
	"context"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
)

// Between is a store whose calls go through a function. It gets the name of the method, and makes
// the call, or lets it fail.
type Between struct {
	log.Store
	Call func(method string, call func() error) error
}

// Object implements log.Store.
func (b *Between) Object(ctx context.Context, name string) (o plumbing.Object, err error) {
	err = b.Call("Object", func() error { o, err = b.Store.Object(ctx, name); return err })
	return o, err
}

// Objects implements log.Store.
func (b *Between) Objects(ctx context.Context, names []string) (all []plumbing.Object, err error) {
	err = b.Call("Objects", func() error { all, err = b.Store.Objects(ctx, names); return err })
	return all, err
}

// WriteObjects implements log.Store.
func (b *Between) WriteObjects(ctx context.Context, objects []plumbing.Object) error {
	return b.Call("WriteObjects", func() error { return b.Store.WriteObjects(ctx, objects) })
}

// Ref implements log.Store.
func (b *Between) Ref(ctx context.Context, name string) (oid plumbing.OID, err error) {
	err = b.Call("Ref", func() error { oid, err = b.Store.Ref(ctx, name); return err })
	return oid, err
}

// UpdateRefs implements log.Store.
func (b *Between) UpdateRefs(ctx context.Context, updates []plumbing.RefUpdate, reflog string) error {
	return b.Call("UpdateRefs", func() error { return b.Store.UpdateRefs(ctx, updates, reflog) })
}

// Log implements log.Store.
func (b *Between) Log(ctx context.Context, from, to plumbing.OID) (all []plumbing.Commit, err error) {
	err = b.Call("Log", func() error { all, err = b.Store.Log(ctx, from, to); return err })
	return all, err
}

// RequestCommit implements log.Store.
func (b *Between) RequestCommit(ctx context.Context, tip plumbing.OID, request string, depth int) (oid plumbing.OID, err error) {
	err = b.Call("RequestCommit", func() error { oid, err = b.Store.RequestCommit(ctx, tip, request, depth); return err })
	return oid, err
}
