package audit

import (
	"bytes"
	"fmt"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/text"
)

// faults are the rules that one commit breaks.
type faults []Finding

func (f *faults) add(code board.ErrorCode, format string, args ...any) {
	*f = append(*f, Finding{Code: code, Text: fmt.Sprintf(format, args...)})
}

func (f faults) of(l *entry) []Finding {
	for i := range f {
		f[i].Commit, f[i].Subject = l.oid, subject(l.commit)
	}
	return f
}

func subject(c plumbing.Commit) string { return text.Line(c.Subject(), 140) }

// parents checks that a commit has no more parents than one, and the board's first commit none.
func (f *faults) parents(c plumbing.Commit, last plumbing.OID) {
	switch {
	case len(c.Parents) > 1:
		f.add(CodeHistory, "it has %d parents: a board's history is one line", len(c.Parents))
	case last.IsZero() && len(c.Parents) == 1:
		f.add(CodeHistory, "the history is cut off here (a shallow clone?): what came before %s can't be proven", c.Parents[0].Short())
	}
}

// signatures checks names and times. An agent's commit must have exactly the agent's name, a
// human's any name that Check allows. Both times must be the operation's, in UTC.
func (f *faults) signatures(l *entry) {
	a, c := l.commit.Author, l.commit.Committer
	if l.opErr == nil {
		name, email := log.Author(l.op.Actor)
		switch {
		case a.Name != name || a.Email != email:
			f.add(CodeIdentity, "the author is %s <%s>, and should be %s <%s>", a.Name, a.Email, name, email)
		case a.Name == "" || a.Email == "":
			f.add(CodeIdentity, "the human who acted has no name or no address")
		}
	}
	if c.Name == "" || c.Email == "" {
		f.add(CodeIdentity, "the committer has no name or no address")
	}
	if !text.IsName(c.Name) || !text.IsName(c.Email) {
		f.add(CodeIdentity, "the committer's name or address holds a control character")
	}
	_, authorZone := a.When.Zone()
	_, committerZone := c.When.Zone()
	if authorZone != 0 || committerZone != 0 {
		f.add(CodeTime, "the times of author and committer are not UTC")
	}
	if !a.When.Equal(c.When) {
		f.add(CodeTime, "the author's time is %s, the committer's %s", board.At(a.When), board.At(c.When))
	}
}

// form checks that the commit object contains nothing beyond what has been checked so far.
func (f *faults) form(l *entry) {
	c := l.commit
	plain := plumbing.EncodeCommit(plumbing.Commit{
		Tree: c.Tree, Parents: c.Parents, Author: c.Author, Committer: c.Committer, Message: c.Message, GPGSig: c.GPGSig,
	})
	if !bytes.Equal(plain, l.data) {
		f.add(CodeForm, "it has headers, or a form of them, that a board's commit doesn't have")
	}
}
