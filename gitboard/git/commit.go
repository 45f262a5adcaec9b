package git

import (
	"fmt"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing/object"
)

// Signature says who and when. Git keeps whole seconds and the zone.
type Signature struct {
	Name  string
	Email string
	When  time.Time
}

// Commit is a commit's content. What git knows beyond these fields (encoding,
// merge tags, further headers) is carried from DecodeCommit to EncodeCommit
// unseen.
type Commit struct {
	OID       OID // set by DecodeCommit, not read by EncodeCommit
	Tree      OID
	Parents   []OID
	Author    Signature
	Committer Signature
	Message   string
	GPGSig    string // armoured; it ends in a line feed

	rest *rest
}

// rest is what only other programs put into commits.
type rest struct {
	mergeTag string
	encoding object.MessageEncoding
	headers  []object.ExtraHeader
}

// EncodeCommit returns the content of the commit object. Names and addresses
// lose the characters that would end them (<, >, line feed, NUL), as they do
// in git; the message goes in as it is, so give it its final line feed.
func EncodeCommit(c Commit) []byte {
	commit := object.Commit{
		TreeHash:     c.Tree.hash(),
		Author:       c.Author.plumbing(),
		Committer:    c.Committer.plumbing(),
		Message:      c.Message,
		PGPSignature: c.GPGSig,
	}
	for _, parent := range c.Parents {
		commit.ParentHashes = append(commit.ParentHashes, parent.hash())
	}
	if c.rest != nil {
		commit.MergeTag = c.rest.mergeTag
		commit.Encoding = c.rest.encoding
		commit.ExtraHeaders = c.rest.headers
	}
	return encode(&commit)
}

// DecodeCommit reads a commit object. EncodeCommit gives the same bytes back
// for every commit that it or git has written in git's usual form. An error
// for another type, for malformed content, and when o.OID is given and is not
// the name of the content.
func DecodeCommit(o Object) (c Commit, err error) {
	defer rescue("commit", &err)
	var commit object.Commit
	if err := commit.Decode(o.memory()); err != nil {
		return Commit{}, fmt.Errorf("decode commit %s: %w", o.OID.Short(), err)
	}
	c = Commit{
		OID:       OID(commit.Hash.String()),
		Tree:      OID(commit.TreeHash.String()),
		Author:    signature(commit.Author),
		Committer: signature(commit.Committer),
		Message:   commit.Message,
		GPGSig:    commit.PGPSignature,
	}
	if o.OID != "" && o.OID != c.OID {
		return Commit{}, fmt.Errorf("decode commit: it is named %s, and its content makes it %s", o.OID, c.OID)
	}
	for _, parent := range commit.ParentHashes {
		c.Parents = append(c.Parents, OID(parent.String()))
	}
	const usual = object.MessageEncoding("UTF-8")
	if commit.MergeTag != "" || commit.Encoding != usual || len(commit.ExtraHeaders) > 0 {
		c.rest = &rest{mergeTag: commit.MergeTag, encoding: commit.Encoding, headers: commit.ExtraHeaders}
	}
	return c, nil
}

var unsigned = strings.NewReplacer("<", "", ">", "", "\n", "", "\x00", "")

// plumbing returns s in go-git's form, without what cannot be written.
func (s Signature) plumbing() object.Signature {
	return object.Signature{Name: unsigned.Replace(s.Name), Email: unsigned.Replace(s.Email), When: s.When}
}

// ParseSignature reads a signature as git writes it in a commit: "Name <email> seconds zone".
func ParseSignature(line []byte) Signature {
	var s object.Signature
	s.Decode(line)
	return signature(s)
}

func signature(s object.Signature) Signature {
	return Signature{Name: s.Name, Email: s.Email, When: s.When}
}
