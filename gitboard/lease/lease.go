// Package lease owns leases: "this agent owns this until then". A lease is a ref,
// refs/liza/leases/<agent>, that points to a small object and is moved by compare-and-swap. It
// leaves no history.
//
// An expired lease makes a claim takeable, not void. Safety rests on compare-and-swap alone: clocks
// only decide when a take-over is tried.
//
// It may import gitboard/board, gitboard/git, gitboard/git/plumbing and gitboard/proc.
package lease

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/proc"
)

// Content is the content of a lease's object.
type Content struct {
	board.Lease
	// Process identifies the holder's process (proc.This) if a single process holds the
	// lease.
	Process proc.ID `json:"process,omitempty"`

	// The remaining fields are for the merge lease only.
	Tasks   []string   `json:"tasks,omitempty"`   // on the train
	Testing []string   `json:"testing,omitempty"` // those of Tasks that are being tested together
	Commit  string     `json:"commit,omitempty"`  // the commit being tested
	Since   board.Time `json:"since,omitempty"`
}

// By returns the agent in a merge lease's session, which has the form <agent>/<token>.
func (c Content) By() string {
	agent, _, _ := strings.Cut(c.Session, "/")
	return agent
}

// Held is a lease as it is in the repository, with the value that a compare-and-swap must name.
type Held struct {
	Content
	OID     plumbing.OID
	Damaged bool // the object is not a lease of that agent; it counts as long expired and can be replaced
}

// Live reports whether the lease still protects its holder: it has not expired, and its process may
// be running.
func (h *Held) Live(now time.Time) bool {
	return h != nil && now.Before(h.Expires.Std()) && !h.Process.Ended()
}

// Ahead returns by how much the clock was ahead with which the lease was renewed last; 0 if it is
// no more than clocks may differ. Such a lease is live for longer than it was meant to be, also if
// its holder has been killed on another machine.
func (h *Held) Ahead(now time.Time) time.Duration {
	if ahead := h.Heartbeat.Std().Sub(now); !h.Damaged && ahead > board.ClockSlack {
		return ahead
	}
	return 0
}

// Store is what leases need from a repository.
type Store interface {
	Object(ctx context.Context, name string) (plumbing.Object, error)
	Ref(ctx context.Context, name string) (plumbing.OID, error)
	WriteObjects(ctx context.Context, objects []plumbing.Object) error
	UpdateRefs(ctx context.Context, updates []plumbing.RefUpdate, reflog string) error
}

// ErrTaken means that someone else moved or fenced the lease. Its holder must stop at once.
var ErrTaken = errors.New("the lease has been taken")

// Read returns an agent's lease, or nil if there is none. Any other object in its place is returned
// as Damaged. It protects nobody, since nobody could renew it.
func Read(ctx context.Context, s Store, agent string) (*Held, error) {
	oid, err := s.Ref(ctx, plumbing.LeaseRef(agent))
	if err == nil && oid.IsZero() {
		return nil, nil
	}
	var o plumbing.Object
	if err == nil {
		o, err = s.Object(ctx, string(oid))
	}
	if err != nil {
		return nil, fmt.Errorf("read the lease of %s: %w", agent, err)
	}
	h := &Held{OID: o.OID}
	if c := Decode(o); c != nil && c.Agent == agent && c.Session != "" {
		h.Content = *c
	} else {
		h.Agent, h.Damaged = agent, true
	}
	return h, nil
}

// Decode returns what an object contains if it is a lease, nil otherwise.
func Decode(o plumbing.Object) *Content {
	var c Content
	if o.Type != plumbing.BlobObject || json.Unmarshal(o.Data, &c) != nil {
		return nil
	}
	for _, t := range []board.Time{c.Expires, c.Heartbeat} {
		if _, err := board.ParseTime(string(t)); err != nil {
			return nil
		}
	}
	return &c
}

// Object returns the object in which a lease is stored.
func (c Content) Object() plumbing.Object {
	data, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		panic("a lease is always JSON: " + err.Error())
	}
	return plumbing.NewObject("blob", append(data, '\n'))
}

// Renew returns the update that replaces the current lease (nil for none) by a new one, and the
// object that it needs.
func Renew(was *Held, next Content) (plumbing.RefUpdate, plumbing.Object) {
	o := next.Object()
	return plumbing.RefUpdate{Ref: plumbing.LeaseRef(next.Agent), Old: old(was), New: o.OID}, o
}

// Fence returns the update that deletes a lease, provided that it is unchanged. If was is nil, the
// update verifies that no lease exists.
func Fence(agent string, was *Held) plumbing.RefUpdate {
	return plumbing.RefUpdate{Ref: plumbing.LeaseRef(agent), Old: old(was), New: plumbing.ZeroOID}
}

func old(was *Held) plumbing.OID {
	if was == nil {
		return plumbing.ZeroOID
	}
	return was.OID
}

// Beat renews a lease without an operation: a heartbeat. It returns ErrTaken if the lease is no
// longer the one that was last renewed. Any other error is a failure of network or disk and says
// nothing about the lease. If a command of the same session has renewed it at the same time, that
// renewal is returned.
func Beat(ctx context.Context, s Store, was *Held, next Content) (*Held, error) {
	update, o := Renew(was, next)
	if err := s.WriteObjects(ctx, []plumbing.Object{o}); err != nil {
		return nil, err
	}
	err := s.UpdateRefs(ctx, []plumbing.RefUpdate{update}, "")
	if errors.Is(err, git.ErrRefMoved) {
		now, err := Read(ctx, s, next.Agent)
		if err != nil {
			return nil, err
		}
		if now != nil && now.Session == next.Session {
			return now, nil
		}
		return nil, fmt.Errorf("%s: %w", next.Agent, ErrTaken)
	}
	if err != nil {
		return nil, err
	}
	return &Held{Content: next, OID: o.OID}, nil
}
