package plumbing

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
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

// rest holds what only other programs put into commits. Its values have several lines.
type rest struct {
	mergeTag string
	encoding string
	headers  []header
}

type header struct{ name, value string }

// usualEncoding is the encoding of a commit without such a header.
const usualEncoding = "UTF-8"

// EncodeCommit returns the content of the commit object. As in git, names and addresses lose the
// characters that would end them (<, >, line feed, NUL). The message is used as it is and should
// end in a line feed.
func EncodeCommit(c Commit) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "tree %s\n", c.Tree.OrZero())
	for _, parent := range c.Parents {
		fmt.Fprintf(&b, "parent %s\n", parent.OrZero())
	}
	fmt.Fprintf(&b, "author %s\ncommitter %s\n", c.Author.encode(), c.Committer.encode())
	if r := c.rest; r != nil {
		if r.mergeTag != "" {
			writeHeader(&b, "mergetag", r.mergeTag)
		}
		if r.encoding != "" && r.encoding != usualEncoding {
			writeHeader(&b, "encoding", r.encoding)
		}
		for _, h := range r.headers {
			writeHeader(&b, h.name, h.value)
		}
	}
	if c.GPGSig != "" {
		writeHeader(&b, "gpgsig", c.GPGSig)
	}
	b.WriteString("\n" + c.Message)
	return b.Bytes()
}

// writeHeader writes a header; a space continues it on the next line.
func writeHeader(b *bytes.Buffer, name, value string) {
	b.WriteString(name)
	if value != "" {
		b.WriteString(" " + strings.ReplaceAll(strings.TrimSuffix(value, "\n"), "\n", "\n "))
	}
	b.WriteByte('\n')
}

// DecodeCommit decodes a commit object. EncodeCommit restores the same bytes for every commit that
// it or git has written in git's usual form. It returns an error for another type, for malformed
// content, and if o.OID is given and does not match the content.
//
// Headers at another place than git's are ignored, and so is a repetition of one that git writes
// once, as git does.
func DecodeCommit(o Object) (Commit, error) {
	if o.Type != CommitObject {
		return Commit{}, fmt.Errorf("decode commit %s: it is a %s", o.OID.Short(), o.Type)
	}
	d := commitDecoder{text: string(o.Data), rest: rest{encoding: usualEncoding}}
	d.OID = hashObject(o.Type, o.Data)
	if o.OID != "" && o.OID != d.OID {
		return Commit{}, fmt.Errorf("decode commit: it is named %s, and its content makes it %s", o.OID, d.OID)
	}
	if err := d.decode(); err != nil {
		return Commit{}, fmt.Errorf("decode commit %s: %w", o.OID.Short(), err)
	}
	if d.rest.mergeTag != "" || d.rest.encoding != usualEncoding || len(d.rest.headers) > 0 {
		d.Commit.rest = &d.rest
	}
	return d.Commit, nil
}

type commitDecoder struct {
	Commit
	text    string // the rest of the content
	rest    rest
	encoded bool // its encoding was found
	merged  bool // its tag was found
}

var errMalformedCommit = errors.New("its headers are malformed")

// line takes a line; whole is false for the last one if it does not end.
func (d *commitDecoder) line() (name, value string, whole bool) {
	line, text, whole := strings.Cut(d.text, "\n")
	d.text = text
	name, value, _ = strings.Cut(line, " ")
	return name, value, whole
}

// next reports whether the next line has a header of that name, and takes it.
func (d *commitDecoder) next(name string) (value string, is bool) {
	if strings.HasPrefix(d.text, name+" ") || d.text == name || strings.HasPrefix(d.text, name+"\n") {
		_, value, _ = d.line()
		return value, true
	}
	return "", false
}

func (d *commitDecoder) decode() error {
	tree, is := d.next("tree")
	if !is || !isID(tree) {
		return errMalformedCommit
	}
	d.Tree = OID(strings.ToLower(tree))
	for parent, is := d.next("parent"); is; parent, is = d.next("parent") {
		if !isID(parent) {
			return errMalformedCommit
		}
		d.Parents = append(d.Parents, OID(strings.ToLower(parent)))
	}
	if line, is := d.next("author"); is {
		d.Author = ParseSignature([]byte(line))
	}
	if line, is := d.next("committer"); is {
		d.Committer = ParseSignature([]byte(line))
	}
	for d.text != "" {
		if message, ends := strings.CutPrefix(d.text, "\n"); ends {
			d.Message = message
			return nil
		}
		d.header()
	}
	return nil
}

// header takes a header that follows the committer.
func (d *commitDecoder) header() {
	bare := !strings.Contains(d.text[:len(d.text)-len(afterLine(d.text))], " ")
	name, value, whole := d.line()
	switch name {
	case "tree", "parent", "author", "committer":
	case "encoding":
		if !d.encoded {
			d.rest.encoding, d.encoded = value, true
		}
	case "mergetag":
		value = d.continued(value)
		if !d.merged {
			d.rest.mergeTag, d.merged = value, true
		}
	case "gpgsig":
		d.GPGSig += d.continued(value)
	case "gpgsig-sha256":
		d.continued("")
	default:
		switch {
		case bare:
			d.rest.headers = append(d.rest.headers, header{name, ""})
		case whole: // git ends every header
			d.rest.headers = append(d.rest.headers, header{name, strings.TrimRight(d.continued(value), "\n")})
		}
	}
}

func afterLine(text string) string {
	_, after, _ := strings.Cut(text, "\n")
	return after
}

// continued takes the lines that continue a value, and returns all of its lines.
func (d *commitDecoder) continued(value string) string {
	value += "\n"
	for strings.HasPrefix(d.text, " ") {
		line, after, whole := strings.Cut(d.text[1:], "\n")
		value, d.text = value+line, after
		if whole {
			value += "\n"
		}
	}
	return value
}

// isID reports whether a text is the id of an object, in letters of any case.
func isID(text string) bool { return OID(strings.ToLower(text)).Valid() }

var unsigned = strings.NewReplacer("<", "", ">", "", "\n", "", "\x00", "")

// encode returns the signature as a commit has it, without characters that can't be written.
func (s Signature) encode() string {
	return fmt.Sprintf("%s <%s> %d %s", unsigned.Replace(s.Name), unsigned.Replace(s.Email), max(s.When.Unix(), 0), s.When.Format("-0700"))
}

// ParseSignature parses a signature as git writes it in a commit: "Name <email> seconds zone". It
// leaves out the parts that are malformed.
func ParseSignature(line []byte) (s Signature) {
	opens, closes := bytes.LastIndexByte(line, '<'), bytes.LastIndexByte(line, '>')
	if opens < 0 || closes < opens {
		return s
	}
	s.Name, s.Email = strings.Trim(string(line[:opens]), " "), string(line[opens+1:closes])
	if closes+2 >= len(line) {
		return s
	}
	seconds, zone, _ := strings.Cut(string(line[closes+2:]), " ")
	at, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return s
	}
	s.When = time.Unix(at, 0).UTC()
	if len(zone) < len("+0000") {
		return s
	}
	hours, err1 := strconv.Atoi(zone[:3])
	minutes, err2 := strconv.Atoi(zone[3:5])
	if err1 != nil || err2 != nil {
		return s
	}
	if hours < 0 {
		minutes = -minutes
	}
	s.When = s.When.In(time.FixedZone("", (hours*60+minutes)*60))
	return s
}
