package plumbing

import (
	"fmt"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing/object"
)

// RequestTrailer is the trailer that holds the caller's request id. A retry after an unclear
// failure finds its own commit by it.
const RequestTrailer = "Liza-Request"

// Signature is a person and a time. Git keeps whole seconds and the time zone.
type Signature struct {
	Name  string
	Email string
	When  time.Time
}

// Commit is the content of a commit. What git stores beyond these fields (encoding, merge tags,
// extra headers) is preserved from DecodeCommit to EncodeCommit.
type Commit struct {
	OID       OID // set by DecodeCommit, not read by EncodeCommit
	Tree      OID
	Parents   []OID
	Author    Signature
	Committer Signature
	Message   string
	GPGSig    string // armored; ends in a line feed

	rest *rest
}

// Subject is the first line of the message, as it is stored.
func (c Commit) Subject() string {
	subject, _, _ := strings.Cut(c.Message, "\n")
	return subject
}

// rest holds what only other programs put into commits.
type rest struct {
	mergeTag string
	encoding object.MessageEncoding
	headers  []object.ExtraHeader
}

// EncodeCommit returns the content of the commit object. As in git, names and addresses lose the
// characters that would end them (<, >, line feed, NUL). The message is used as it is and should
// end in a line feed.
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

// DecodeCommit decodes a commit object. EncodeCommit restores the same bytes for every commit that
// it or git has written in git's usual form. It returns an error for another type, for malformed
// content, and if o.OID is given and does not match the content.
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

// plumbing converts s to go-git's type, without characters that can't be written.
func (s Signature) plumbing() object.Signature {
	return object.Signature{Name: unsigned.Replace(s.Name), Email: unsigned.Replace(s.Email), When: s.When}
}

// ParseSignature parses a signature as git writes it in a commit: "Name <email> seconds zone".
func ParseSignature(line []byte) Signature {
	var s object.Signature
	s.Decode(line)
	return signature(s)
}

func signature(s object.Signature) Signature {
	return Signature{Name: s.Name, Email: s.Email, When: s.When}
}
