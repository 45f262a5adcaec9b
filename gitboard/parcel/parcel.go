// Package parcel owns the form in which a clone passes operations to a server that sequences them:
// a push option, with a request to delete Ref that the server answers but never obeys. So git packs,
// unpacks and walks nothing. Larger requests, above all with a task's commits, are one commit that is
// pushed to the server's inbox; its parents and files carry whatever the refs need. Neither carries
// the board's commits: the server makes them itself, with the same content if the board has not
// moved. If it has, the answer brings what the clone lacks in the same way (News). It is pure.
//
// It may import gitboard/git/plumbing.
package parcel

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// Format is the format of parcels that this program writes and reads. A server advertises it by
// Ref.
const Format = 1

// Ref is the ref by which a server shows that it sequences parcels of this format. Clones remember
// it as the tracking ref Tracked.
var (
	Ref     = plumbing.SequencerPrefix + strconv.Itoa(Format)
	Tracked = strings.TrimPrefix(Ref, plumbing.OwnPrefix)
)

// Parcel is the operations that a clone has decided and its remote has not taken yet, oldest first.
type Parcel struct {
	// Has is the commit of the board that the clone has. If the board moved in the meantime, the
	// server may answer with the operations after it (News). A server that does not know about it
	// ignores it.
	Has          plumbing.OID  `json:"has,omitempty"`
	Transactions []Transaction `json:"transactions"`
	Blobs        []string      `json:"blobs,omitempty"` // contents that the refs need, in a parcel that is a text
}

// Transaction is a part of a parcel that is taken as a whole or not at all. It was decided after
// the transactions before it that have the same base, and without knowing the others.
type Transaction struct {
	Base        plumbing.OID         `json:"base"`                  // the commit of the board that it was decided on
	Integration plumbing.OID         `json:"integration,omitempty"` // where the clone saw integration
	Operations  []Operation          `json:"operations,omitempty"`
	Refs        []plumbing.RefUpdate `json:"refs,omitempty"` // of the server, except the board
}

// Operation is an operation as the clone has committed it.
type Operation struct {
	Commit  string `json:"commit"`            // the content of the commit
	Payload string `json:"payload,omitempty"` // its payload's file, if it has one
}

// Decode returns the operation's commit.
func (o Operation) Decode() (plumbing.Commit, error) {
	c := plumbing.NewObject(plumbing.CommitObject, []byte(o.Commit))
	return plumbing.DecodeCommit(c)
}

// Base is the commit of the board that the first transaction was decided on.
func (p *Parcel) Base() plumbing.OID {
	if len(p.Transactions) == 0 {
		return plumbing.ZeroOID
	}
	return p.Transactions[0].Base
}

// Tip is the clone's last commit of the board, the base if the parcel has no operation. It is zero
// if the transactions do not all follow each other.
func (p *Parcel) Tip() plumbing.OID {
	tip := p.Base()
	for _, l := range p.Transactions {
		if l.Base != p.Base() {
			return plumbing.ZeroOID
		}
		for _, o := range l.Operations {
			tip = plumbing.NewObject(plumbing.CommitObject, []byte(o.Commit)).OID
		}
	}
	return tip
}

// maxText is how long the text of an option may be. Git's protocol has lines of at most 65 516
// bytes, and hooks get it in their environment.
const maxText = 60_000

// Text returns the parcel as the option of a push, and whether it is short enough.
func (p *Parcel) Text() (text string, short bool) {
	encoded, err := json.Marshal(p)
	return string(encoded), err == nil && len(encoded) <= maxText
}

// planFile is the file of the commit that holds the parcel itself.
const planFile = "parcel.json"

// Path names the parcel in a commit that Encode made, as git resolves it.
func Path(commit plumbing.OID) string { return string(commit) + ":" + planFile }

// Encode returns the objects of a parcel, the commit last. commits and blobs are the objects that
// its refs need.
func (p *Parcel) Encode(commits, blobs []plumbing.OID, at time.Time) ([]plumbing.Object, error) {
	text, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	plan := plumbing.NewObject(plumbing.BlobObject, text)
	entries := []plumbing.TreeEntry{{Name: planFile, Mode: filemode.Regular, OID: plan.OID}}
	for _, oid := range blobs {
		entries = append(entries, plumbing.TreeEntry{Name: string(oid), Mode: filemode.Regular, OID: oid})
	}
	tree := plumbing.NewObject(plumbing.TreeObject, plumbing.EncodeTree(entries))
	by := plumbing.Signature{Name: "git liza", Email: "parcel@liza", When: at.UTC()}
	commit := plumbing.NewObject(plumbing.CommitObject, plumbing.EncodeCommit(plumbing.Commit{
		Tree: tree.OID, Parents: commits, Author: by, Committer: by, Message: "git liza: operations for a server to sequence\n",
	}))
	return []plumbing.Object{plan, tree, commit}, nil
}

// Parse reads a parcel, and refuses names of objects and refs that git could take for something
// else.
func Parse(text []byte) (*Parcel, error) {
	p := &Parcel{}
	if err := json.Unmarshal(text, p); err != nil {
		return nil, fmt.Errorf("this is not a parcel: %w", err)
	}
	named := []plumbing.OID{p.Has.OrZero()}
	for _, l := range p.Transactions {
		named = append(named, l.Base, l.Integration.OrZero())
		for _, u := range l.Refs {
			if err := plumbing.CheckRefName(u.Ref); err != nil {
				return nil, err
			}
			named = append(named, u.Old, u.New)
		}
	}
	for _, oid := range named {
		if !oid.Valid() {
			return nil, fmt.Errorf("%q is not the id of an object", oid)
		}
	}
	return p, nil
}

// InboxRef is the ref to which a parcel is pushed.
func InboxRef(commit plumbing.OID) string { return plumbing.InboxPrefix + string(commit) }

// Answer is what became of a parcel.
type Answer string

// The answers of a server. It gives the first two as the name of the ref that was moved, below that
// of the parcel, and the others as the reason of its refusal.
const (
	AsPushed  Answer = "as-pushed"           // every commit is on the board as the clone made it
	Rewritten Answer = "rewritten"           // some operations are, as other commits; with news, perhaps none
	Overtaken Answer = "liza: overtaken"     // nothing in it applies to the board any more
	Declined  Answer = "liza: not sequenced" // the clone has to push the refs itself
)

// AnswerRef is the name of a ref by which a server answers. news is the text of the news that it
// adds, "" for none.
func AnswerRef(inbox string, a Answer, news string) string {
	return strings.TrimSuffix(inbox+"/"+string(a)+"/"+news, "/")
}

// ReadAnswer returns the answer in git's report on a pushed parcel, "" if there is none, and the
// text of its news.
func ReadAnswer(inbox, said string) (answer Answer, news string) {
	for _, a := range []Answer{AsPushed, Rewritten} {
		if rest, is := strings.CutPrefix(said+"/", AnswerRef(inbox, a, "")+"/"); is {
			return a, strings.TrimSuffix(rest, "/")
		}
	}
	for _, a := range []Answer{Overtaken, Declined} {
		if strings.Contains(said, string(a)) {
			return a, ""
		}
	}
	return "", ""
}
