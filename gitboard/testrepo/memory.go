package testrepo

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log/codec"
)

// Memory is a log.Store without a repository. It is safe for concurrent use.
type Memory struct {
	mu      sync.Mutex
	objects map[plumbing.OID]plumbing.Object
	refs    map[string]plumbing.OID
}

// NewMemory returns an empty store.
func NewMemory() *Memory {
	return &Memory{objects: map[plumbing.OID]plumbing.Object{}, refs: map[string]plumbing.OID{}}
}

// Object implements log.Store.
func (m *Memory) Object(_ context.Context, name string) (plumbing.Object, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if oid, ok := m.refs[name]; ok {
		name = string(oid)
	}
	at, path, within := strings.Cut(name, ":")
	o, ok := m.objects[plumbing.OID(at)]
	if within {
		for _, step := range strings.Split(path, "/") {
			o, ok = m.entry(o, step)
		}
	}
	if !ok {
		return plumbing.Object{}, fmt.Errorf("object %s: %w", name, git.ErrNotFound)
	}
	return o, nil
}

// entry returns the object under a name in a tree, or in a commit's tree.
func (m *Memory) entry(o plumbing.Object, name string) (plumbing.Object, bool) {
	if o.Type == plumbing.CommitObject {
		c, _ := plumbing.DecodeCommit(o)
		o = m.objects[c.Tree]
	}
	if o.Type != plumbing.TreeObject {
		return plumbing.Object{}, false
	}
	entries, _ := plumbing.DecodeTree(o.Data)
	for _, e := range entries {
		if e.Name == name {
			found, ok := m.objects[e.OID]
			return found, ok
		}
	}
	return plumbing.Object{}, false
}

// Objects implements log.Store.
func (m *Memory) Objects(ctx context.Context, names []string) ([]plumbing.Object, error) {
	out := make([]plumbing.Object, len(names))
	for i, n := range names {
		out[i], _ = m.Object(ctx, n)
	}
	return out, nil
}

// WriteObjects implements log.Store.
func (m *Memory) WriteObjects(_ context.Context, objects []plumbing.Object) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, o := range objects {
		m.objects[o.OID] = o
	}
	return nil
}

// Ref implements log.Store.
func (m *Memory) Ref(_ context.Context, name string) (plumbing.OID, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if oid, ok := m.refs[name]; ok {
		return oid, nil
	}
	return plumbing.ZeroOID, nil
}

// Refs implements log.Store.
func (m *Memory) Refs(_ context.Context, prefixes ...string) ([]plumbing.Ref, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var refs []plumbing.Ref
	for _, name := range slices.Sorted(maps.Keys(m.refs)) {
		below := func(prefix string) bool {
			prefix = strings.TrimSuffix(prefix, "/")
			return name == prefix || strings.HasPrefix(name, prefix+"/")
		}
		if len(prefixes) == 0 || slices.ContainsFunc(prefixes, below) {
			refs = append(refs, plumbing.Ref{Name: name, OID: m.refs[name], Type: m.objects[m.refs[name]].Type})
		}
	}
	return refs, nil
}

// UpdateRefs implements log.Store.
func (m *Memory) UpdateRefs(_ context.Context, updates []plumbing.RefUpdate, _ string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, u := range updates {
		if current := m.refs[u.Ref]; current != u.Old && !(current.IsZero() && u.Old.IsZero()) {
			return fmt.Errorf("%s: %w", u.Ref, git.ErrRefMoved)
		}
		if _, there := m.objects[u.New]; !there && !u.New.IsZero() {
			return fmt.Errorf("update %s to %s: %w", u.Ref, u.New, git.ErrNotFound)
		}
	}
	for _, u := range updates {
		if u.New.IsZero() {
			delete(m.refs, u.Ref)
		} else {
			m.refs[u.Ref] = u.New
		}
	}
	return nil
}

// Log implements log.Store.
func (m *Memory) Log(ctx context.Context, from, to plumbing.OID) ([]plumbing.Commit, error) {
	var commits []plumbing.Commit
	for oid := to; !oid.IsZero() && oid != from; {
		c, err := m.commit(ctx, oid)
		if err != nil {
			return nil, err
		}
		commits = append(commits, c)
		oid = plumbing.ZeroOID
		if len(c.Parents) > 0 {
			oid = c.Parents[0]
		}
	}
	slices.Reverse(commits)
	return commits, nil
}

// RequestCommit implements log.Store.
func (m *Memory) RequestCommit(ctx context.Context, tip plumbing.OID, request string, depth int) (plumbing.OID, error) {
	for oid := tip; !oid.IsZero() && depth > 0; depth-- {
		c, err := m.commit(ctx, oid)
		if err != nil {
			return "", err
		}
		if h, err := codec.ParseHead(c.Message); err == nil && h.Request == request {
			return oid, nil
		}
		oid = plumbing.ZeroOID
		if len(c.Parents) > 0 {
			oid = c.Parents[0]
		}
	}
	return "", fmt.Errorf("request %s: %w", request, git.ErrNotFound)
}

func (m *Memory) commit(ctx context.Context, oid plumbing.OID) (plumbing.Commit, error) {
	o, err := m.Object(ctx, string(oid))
	if err != nil {
		return plumbing.Commit{}, err
	}
	return plumbing.DecodeCommit(o)
}
