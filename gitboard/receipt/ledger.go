package receipt

import (
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/audit"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/roles"
)

// Who acted: an agent by its id, a human by the address in lower case.
type Who struct {
	ID    string `json:"id"`
	Class string `json:"class"`         // Robot or Human
	Key   string `json:"key,omitempty"` // the fingerprint of the key that signed
}

// The classes of actors.
const (
	Robot = "robot"
	Human = "human"
)

func whoOf(o audit.Replayed) Who {
	w := Who{ID: o.Op.Actor.ID, Class: Robot}
	if o.Op.Actor.Role == roles.Human {
		w = Who{ID: strings.ToLower(o.Op.Actor.Email), Class: Human}
	}
	if o.Signer != "" {
		w.Key = board.Fingerprint(board.KeyID(o.Signer))
	}
	return w
}

// Approval is one approval of exactly the commit that landed.
type Approval struct {
	By Who          `json:"by"`
	Op plumbing.OID `json:"op"`
}

// Move is an operation that moved integration, with all that led to it.
type Move struct {
	Task       string       `json:"task,omitempty"` // "" for a human's landing
	By         Who          `json:"by"`
	Op         plumbing.OID `json:"op"`
	Before     plumbing.OID `json:"before"`
	Commit     plumbing.OID `json:"commit"` // where it left integration
	Type       string       `json:"type"`   // fast-forward, merge-commit, found or landing
	Submission plumbing.OID `json:"submission,omitempty"`
	WrittenBy  Who          `json:"writtenBy,omitzero"`
	Planned    string       `json:"plannedBy,omitempty"`
	Finalized  string       `json:"finalizedBy,omitempty"`
	Approvals  []Approval   `json:"approvals"`
	Test       string       `json:"test,omitempty"` // the command that passed before the move

	began   int             // the index of the task's first operation
	authors map[string]bool // of its commits
	merged  bool            // Commit is a merge that was computed
	landed  plumbing.OID    // it brings forward this commit of another branch, which has as.Head
	head    plumbing.OID    // see landed
	workers []string        // agents that ever held the task
}

// The types of moves, in addition to those of merges.
const (
	typeFound   = "found"
	typeLanding = "landing"
	typeRevert  = "revert"
)

// ledger is the result of a board's replay, for receipts.
type ledger struct {
	root  plumbing.OID
	index map[plumbing.OID]int
	moves []*Move
	tests plumbing.OID // the first merge from which on all merges were tested

	tasks map[string]*course

	keys     map[string]*key // by the public key
	recorded map[string]int  // the index of the operation that records a statement, by its SHA-256
}

// key is a key that was on the board.
type key struct {
	principal string
	runner    bool
	revoked   int // the index of the operation that revoked it, 0 for none
}

// course is a task's way so far.
type course struct {
	began              int
	planned, finalized string
	written            Who
	submission         string
	approvals          []Approval
}

func newLedger() *ledger {
	return &ledger{index: map[plumbing.OID]int{}, tasks: map[string]*course{}, keys: map[string]*key{}, recorded: map[string]int{}}
}

// see takes an operation.
func (l *ledger) see(o audit.Replayed) {
	if o.First {
		*l = *newLedger()
		l.root = o.Commit
	}
	l.index[o.Commit] = len(l.index)
	who := whoOf(o)
	if id := o.Op.TaskID(); id != "" && l.tasks[id] == nil {
		l.tasks[id] = &course{began: l.index[o.Commit], planned: who.ID}
	}
	t := l.tasks[o.Op.TaskID()]
	switch p := o.Op.Payload.(type) {
	case *board.Finalize:
		t.finalized = who.ID
	case *board.Submit:
		t.written, t.submission, t.approvals = who, p.Commit, nil
	case *board.Verdict:
		if p.Verdict == board.VerdictApproved && p.Commit == t.submission {
			t.approvals = append(t.approvals, Approval{who, o.Commit})
		} else {
			t.approvals = nil
		}
	}
	l.seeKeys(o)
	if m := l.move(o, t, who); m != nil {
		l.moves = append(l.moves, m)
		switch {
		case m.Test == "":
			l.tests = ""
		case l.tests == "":
			l.tests = o.Commit
		}
	}
}

// seeKeys follows the keys and the recorded statements.
func (l *ledger) seeKeys(o audit.Replayed) {
	at := l.index[o.Commit]
	switch p := o.Op.Payload.(type) {
	case *board.Init:
		if p.Key != "" {
			l.keys[p.Key] = &key{principal: strings.ToLower(o.Op.Actor.Email)}
		}
	case *board.KeysAdd:
		for _, k := range l.keys {
			if p.Replaces && k.principal == p.Principal && k.revoked == 0 {
				k.revoked = at
			}
		}
		l.keys[p.Public] = &key{principal: p.Principal, runner: (&board.Key{Principal: p.Principal}).Runner()}
	case *board.KeysRevoke:
		for public, k := range l.keys {
			if board.KeyID(public) == p.Key {
				k.revoked = at
			}
		}
	case *board.Attest:
		if l.recorded[p.SHA256] == 0 {
			l.recorded[p.SHA256] = at
		}
	}
}

// move returns the move of integration that an operation records, nil for none.
func (l *ledger) move(o audit.Replayed, t *course, who Who) *Move {
	moved := o.Op.Landing()
	if moved == nil {
		return nil
	}
	m := &Move{By: who, Op: o.Commit, Before: plumbing.OID(moved.Before), Commit: plumbing.OID(moved.After), Type: typeLanding, Approvals: []Approval{},
		began: l.index[o.Commit], authors: map[string]bool{}}
	switch p := o.Op.Payload.(type) {
	case *board.Merge:
		m.Type, m.Test, m.Submission = p.MergeType, p.Test, plumbing.OID(p.ReviewCommit)
	case *board.FinishMerge:
		m.Type, m.Before, m.Submission = typeFound, plumbing.OID(p.Before), plumbing.OID(p.ReviewCommit)
	case *board.Land:
		m.Test, m.merged = p.Test, p.Merged != "" && p.Merged != p.Commit
		if p.As != nil {
			m.head, m.landed = plumbing.OID(p.As.Head), plumbing.OID(p.As.Landed)
		}
		return m
	case *board.Revert:
		m.Type, m.Test, m.merged = typeRevert, p.Test, p.Merged != p.Commit
		return m
	}
	m.Task = o.Op.TaskID()
	m.Planned, m.Finalized, m.WrittenBy, m.began = t.planned, t.finalized, t.written, t.began
	if t.submission == string(m.Submission) {
		m.Approvals = slices.Clone(t.approvals)
	}
	if task := o.Before.Task(m.Task); task != nil {
		m.workers = task.Workers()
		if m.Type == typeFound && m.Before == "" {
			m.Before = plumbing.OID(task.ReviewBase)
		}
	}
	return m
}
