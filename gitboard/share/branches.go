package share

import (
	"context"
	"fmt"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// Some hosts accept only branches, and let them only grow (git.Remote.OnlyBranches). The board's
// refs are branches below liza/ there. Leases and the branches of tasks, which are replaced and
// deleted elsewhere, are kept by carriers (plumbing.Carrier): this clone remembers the carriers below
// refs/liza/remotes/<name>/carriers/, and has what they carry under the usual names. A host that
// only lets no branch be deleted gets a carrier for a task's branch that can't be fast-forwarded.
// Only this file knows of them.

// carries reports whether the remote keeps a ref of this clone by carriers.
func (s *Store) carries(ref string) bool {
	return s.remote.Load().OnlyBranches && (strings.HasPrefix(ref, plumbing.LeasePrefix) || strings.HasPrefix(ref, s.Task("")))
}

// mirror is the ref to which what the remote has for a ref of this clone is fetched.
func (s *Store) mirror(ref string) string {
	if !s.carries(ref) {
		return ref
	}
	return s.tracking("carriers/" + strings.TrimPrefix(s.there(ref), plumbing.BoardPrefix))
}

// carry returns the push that gives a ref a new value, and adds to the plan what this clone
// remembers of it.
func (s *Store) carry(ctx context.Context, p *plan, u plumbing.RefUpdate) (git.Push, error) {
	at, err := s.repo.Ref(ctx, s.mirror(u.Ref))
	if err != nil {
		return git.Push{}, err
	}
	value, err := s.carried(ctx, at)
	if err != nil {
		return git.Push{}, err
	}
	if value != u.Old.OrZero() { // a fetch or a push ended halfway: the next fetch shows what is there
		return git.Push{}, orMoved(s.Fetch(ctx), u.Ref)
	}
	push := git.Push{Ref: s.there(u.Ref), Exactly: true, Old: at, New: at}
	if u.Old != u.New {
		push.New, err = s.grow(ctx, at, u.New)
		p.carriers = append(p.carriers, plumbing.RefUpdate{Ref: s.mirror(u.Ref), Old: at, New: push.New})
	}
	return push, err
}

// grow returns the commit to which a branch moves from a commit, zero for none, so that it has a
// new value: a commit that follows is its own carrier.
func (s *Store) grow(ctx context.Context, from, value plumbing.OID) (plumbing.OID, error) {
	kind, tree := plumbing.ObjectType(""), plumbing.NewObject(plumbing.TreeObject, nil)
	if !value.IsZero() {
		o, err := s.repo.Object(ctx, string(value))
		if err != nil {
			return "", err
		}
		kind, tree = o.Type, plumbing.CarryTree(value)
		if kind == plumbing.CommitObject {
			if follows, err := s.extends(ctx, from, value); follows || err != nil {
				return value, err
			}
			c, err := plumbing.DecodeCommit(o)
			if err != nil {
				return "", err
			}
			tree.OID = c.Tree
		}
	}
	by, err := s.repo.Settings().Identity(ctx)
	if err != nil {
		return "", err
	}
	carrier := plumbing.Carrier(from, value, kind, tree.OID, by)
	made := []plumbing.Object{carrier}
	if kind != plumbing.CommitObject {
		made = append(made, tree)
	}
	return carrier.OID, s.repo.WriteObjects(ctx, made)
}

// regrow makes the branches of tasks that a plan could not retire grow to carriers. What this clone
// remembers of such a branch is where the remote has it, as on all hosts that accept other refs.
func (s *Store) regrow(ctx context.Context, p *plan) error {
	for _, r := range p.retired {
		for i, push := range p.pushes {
			if push.Ref != plumbing.PublishedRef(r.task) {
				continue
			}
			carrier, err := s.grow(ctx, r.from, push.New)
			if err != nil {
				return err
			}
			p.pushes[i].New = carrier
			p.carriers = append(p.carriers, plumbing.RefUpdate{Ref: s.Task(r.task), Old: r.from, New: carrier})
		}
	}
	for _, c := range p.carriers {
		for i, u := range p.moves {
			if u.Ref == c.Ref {
				p.moves[i].New = c.New
			}
		}
	}
	return nil
}

// Published returns where this clone last saw a task's branch at the remote, and the commit that it
// stands for there; zero for none.
func (s *Store) Published(ctx context.Context, task string) (seen, commit plumbing.OID, err error) {
	seen, err = s.repo.Ref(ctx, s.Task(task))
	if err != nil {
		return "", "", err
	}
	commit, err = s.carried(ctx, seen)
	return seen, commit, err
}

// extends reports whether a branch can be fast-forwarded from a commit, zero for none.
func (s *Store) extends(ctx context.Context, from, to plumbing.OID) (bool, error) {
	if from.IsZero() {
		return true, nil
	}
	return s.repo.History().IsAncestor(ctx, from, to)
}

// carried is the value that a commit of the remote stands for.
func (s *Store) carried(ctx context.Context, at plumbing.OID) (plumbing.OID, error) {
	if at.IsZero() {
		return plumbing.ZeroOID, nil
	}
	o, err := s.repo.Object(ctx, string(at))
	if err != nil {
		return "", err
	}
	return valueOf(o), nil
}

// valueOf is the value of a remote's ref: the object itself unless it is a carrier.
func valueOf(o plumbing.Object) plumbing.OID {
	c, err := plumbing.DecodeCommit(o)
	if err != nil {
		return o.OID // pushed by somebody, and no obstacle to all other refs
	}
	return c.Carried()
}

// unpacked returns the updates that move this clone's leases and branches of tasks to the values of
// the fetched carriers.
func (s *Store) unpacked(ctx context.Context) ([]plumbing.RefUpdate, error) {
	stale := map[string]plumbing.OID{}
	var updates []plumbing.RefUpdate
	for _, prefix := range []string{plumbing.LeasePrefix, s.Task("")} {
		here, err := s.repo.Refs(ctx, prefix)
		if err != nil {
			return nil, err
		}
		for _, r := range here {
			stale[r.Name] = r.OID
		}
		mirrored := s.mirror(prefix)
		carriers, err := s.repo.Refs(ctx, mirrored)
		if err != nil {
			return nil, err
		}
		values, err := s.values(ctx, carriers)
		if err != nil {
			return nil, err
		}
		for i, r := range carriers {
			ref := prefix + strings.TrimPrefix(r.Name, mirrored)
			if now := stale[ref]; now.OrZero() != values[i] {
				updates = append(updates, plumbing.RefUpdate{Ref: ref, Old: now, New: values[i]})
			}
			delete(stale, ref)
		}
	}
	for ref, now := range stale {
		updates = append(updates, plumbing.RefUpdate{Ref: ref, Old: now})
	}
	return updates, nil
}

// values returns what the commits of refs stand for, in their order.
func (s *Store) values(ctx context.Context, refs []plumbing.Ref) ([]plumbing.OID, error) {
	names := make([]string, len(refs))
	for i, r := range refs {
		names[i] = string(r.OID)
	}
	objects, err := s.repo.Objects(ctx, names)
	if err != nil {
		return nil, err
	}
	values := make([]plumbing.OID, len(refs))
	for i, o := range objects {
		if o.OID == "" {
			return nil, fmt.Errorf("object %s: %w", refs[i].OID, git.ErrNotFound)
		}
		values[i] = valueOf(o)
	}
	return values, nil
}

// offerLeases adds carriers of this clone's leases to the first push of a board.
func (s *Store) offerLeases(ctx context.Context, offered map[string]string) error {
	leases, err := s.repo.Refs(ctx, plumbing.LeasePrefix)
	for _, r := range leases {
		var carrier plumbing.OID
		if carrier, err = s.grow(ctx, plumbing.ZeroOID, r.OID); err != nil {
			break
		}
		offered[string(carrier)] = plumbing.AsBranch(r.Name)
	}
	return err
}
