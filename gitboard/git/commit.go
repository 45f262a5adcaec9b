package git

import (
	"fmt"
	"strings"
)

// RequestTrailer is the trailer that holds the caller's request id. A retry after an unclear
// failure finds its own commit by it.
const RequestTrailer = "Liza-Request"

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

	others string // the lines of all other headers
}

// EncodeCommit returns the content of the commit object. As in git, names and addresses lose the
// characters that would end them (<, >, line feed, NUL). The message is used as it is and should
// end in a line feed.
func EncodeCommit(c Commit) []byte {
	data := make([]byte, 0, 256+len(c.others)+len(c.GPGSig)+len(c.Message))
	data = fmt.Appendf(data, "tree %s\n", c.Tree.OrZero())
	for _, parent := range c.Parents {
		data = fmt.Appendf(data, "parent %s\n", parent)
	}
	data = c.Author.appendTo(append(data, "author "...))
	data = c.Committer.appendTo(append(data, "\ncommitter "...))
	data = append(append(data, '\n'), c.others...)
	if c.GPGSig != "" {
		lines := strings.TrimSuffix(c.GPGSig, "\n")
		data = fmt.Appendf(data, "gpgsig %s\n", strings.ReplaceAll(lines, "\n", "\n "))
	}
	return append(append(data, '\n'), c.Message...)
}

// DecodeCommit decodes a commit object. EncodeCommit restores the same bytes for every commit that
// it or git has written in git's usual form. It returns an error for another type, for malformed
// content, and if o.OID is given and does not match the content.
func DecodeCommit(o Object) (Commit, error) {
	if o.Type != CommitObject {
		return Commit{}, fmt.Errorf("decode commit %s: it is a %s", o.OID.Short(), o.Type)
	}
	id := hashObject(CommitObject, o.Data)
	if o.OID != "" && o.OID != id {
		return Commit{}, fmt.Errorf("decode commit: it is named %s, and its content makes it %s", o.OID, id)
	}
	head, message, _ := strings.Cut(string(o.Data), "\n\n")
	c := Commit{OID: id, Message: message}
	lines := headers(strings.TrimSuffix(head, "\n"))
	tree, _ := lines.take("tree")
	if c.Tree = OID(tree); !c.Tree.Valid() {
		return Commit{}, fmt.Errorf("decode commit %s: it is malformed: it does not begin with its tree", id.Short())
	}
	for parent, more := lines.take("parent"); more; parent, more = lines.take("parent") {
		if c.Parents = append(c.Parents, OID(parent)); !OID(parent).Valid() {
			return Commit{}, fmt.Errorf("decode commit %s: it is malformed: a parent is not an id", id.Short())
		}
	}
	// Git reads commits that lack these two.
	author, _ := lines.take("author")
	committer, _ := lines.take("committer")
	c.Author, c.Committer = ParseSignature(author), ParseSignature(committer)
	c.GPGSig, c.others = lines.signature()
	return c, nil
}

// headers are the lines above a commit's message that are not decoded yet.
type headers string

// take removes the first line if it has that name, and returns its value.
func (h *headers) take(name string) (value string, found bool) {
	line, rest, _ := strings.Cut(string(*h), "\n")
	if value, found = strings.CutPrefix(line, name+" "); !found {
		return "", false
	}
	*h = headers(rest)
	return value, true
}

// signature splits the headers into the first signature's value and the lines of all others. A line
// that begins with a space continues the one above it.
func (h headers) signature() (value, others string) {
	if h == "" {
		return "", ""
	}
	text := "\n" + string(h) + "\n"
	before, rest, found := strings.Cut(text, "\ngpgsig ")
	if !found {
		return "", text[1:]
	}
	end := strings.IndexByte(rest, '\n') + 1
	for end < len(rest) && rest[end] == ' ' {
		end += strings.IndexByte(rest[end:], '\n') + 1
	}
	value = strings.ReplaceAll(rest[:end], "\n ", "\n")
	return value, strings.TrimPrefix(before+"\n", "\n") + rest[end:]
}
