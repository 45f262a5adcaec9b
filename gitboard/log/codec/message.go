package codec

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/text"
)

// The trailers of a board commit.
const (
	TrailerOp      = "Liza-Op"
	TrailerAgent   = "Liza-Agent"
	TrailerRole    = "Liza-Role"
	TrailerTask    = "Liza-Task"
	TrailerFrom    = "Liza-From"
	TrailerTo      = "Liza-To"
	TrailerRequest = plumbing.RequestTrailer
	TrailerPayload = "Liza-Payload"
)

const maxBody = 2000 // maximum characters of a body; the records hold the whole text

// Message returns the commit message of an operation that leads from one state to another. If the
// payload is too long for the message, its text is returned as payloadFile.
func Message(before, after *board.State, op board.Operation) (message, payloadFile string, err error) {
	payload, err := EncodePayload(op)
	if err != nil {
		return "", "", err
	}
	if len(payload) > MaxInline {
		payload, payloadFile = PayloadReference(), payload
	}
	before, after = before.ForRules(), after.ForRules()
	line, body := op.Payload.Subject(before, after, op)
	var b strings.Builder
	b.WriteString(op.Name())
	if task := op.TaskID(); task != "" {
		b.WriteString("(" + task + ")")
	}
	b.WriteString(": " + text.Line(line, 120) + "\n\n")
	writeBody(&b, line, body)
	trailer := func(key, value string) { fmt.Fprintf(&b, "%s: %s\n", key, value) }
	trailer(TrailerOp, op.Name())
	trailer(TrailerAgent, op.Actor.ID)
	trailer(TrailerRole, string(op.Actor.Role))
	if task := op.TaskID(); task != "" {
		trailer(TrailerTask, task)
		from, to := statusOf(before, task), statusOf(after, task)
		if from != "" {
			trailer(TrailerFrom, from)
		}
		trailer(TrailerTo, to)
	}
	trailer(TrailerRequest, op.Request)
	trailer(TrailerPayload, payload)
	// If a record could not be read, the message would be incomplete.
	return b.String(), payloadFile, cmp.Or(before.Err(), after.Err())
}

// writeBody writes the body indented, so that its lines can't be taken for a subject or a trailer.
func writeBody(b *strings.Builder, line, body string) {
	body = strings.TrimSpace(text.Visible(body))
	if body == "" || strings.HasSuffix(line, body) {
		return
	}
	if r := []rune(body); len(r) > maxBody {
		body = strings.TrimSpace(string(r[:maxBody])) + " ..."
	}
	for _, l := range strings.Split(body, "\n") {
		b.WriteString(strings.TrimRight("  "+l, " \t") + "\n")
	}
	b.WriteString("\n")
}

func statusOf(s *board.State, task string) string {
	if t := s.Task(task); t != nil {
		return string(t.Status)
	}
	return ""
}

// Head is a commit message's description of its operation, without decoding the payload.
type Head struct {
	Subject, Op, Agent, Role, Task, From, To, Request, Payload string
}

// Identity names an operation itself, in whatever commit it is.
func Identity(agent, request string) string { return agent + " " + request }

// ParseHead parses the subject and trailers of a message. Only the last paragraph holds trailers.
func ParseHead(message string) (Head, error) {
	h := Head{}
	h.Subject, _, _ = strings.Cut(message, "\n")
	fields := map[string]*string{
		TrailerOp: &h.Op, TrailerAgent: &h.Agent, TrailerRole: &h.Role, TrailerTask: &h.Task, TrailerFrom: &h.From,
		TrailerTo: &h.To, TrailerRequest: &h.Request, TrailerPayload: &h.Payload,
	}
	block := strings.TrimSuffix(message, "\n")
	if i := strings.LastIndex(block, "\n\n"); i >= 0 {
		block = block[i+2:]
	}
	for _, line := range strings.Split(block, "\n") {
		key, value, ok := strings.Cut(line, ": ")
		field := fields[key]
		if !ok || field == nil || *field != "" {
			return h, fmt.Errorf("the message's last paragraph is not a board commit's trailers: %.60q", line)
		}
		*field = value
	}
	if h.Op == "" || h.Agent == "" || h.Role == "" || h.Request == "" || h.Payload == "" {
		return h, fmt.Errorf("the message lacks a trailer of a board commit")
	}
	return h, nil
}

// ReadOperation reads the operation in a commit, and its message. file is the text of the payload
// file, if the tree has one.
func ReadOperation(c plumbing.Commit, file string) (h Head, op board.Operation, err error) {
	if h, err = ParseHead(c.Message); err == nil {
		op, err = h.Operation(file, c.Author)
	}
	return h, op, err
}

// Operation decodes the operation in a message. file is the text of the payload file, if the tree
// has one, and author the commit's.
func (h Head) Operation(file string, author plumbing.Signature) (board.Operation, error) {
	text := h.Payload
	switch {
	case text == PayloadReference():
		text = file
		if len(text) <= MaxInline {
			return board.Operation{}, fmt.Errorf("the payload of %s is in %s although it is short", h.Op, PayloadFile)
		}
	case file != "":
		return board.Operation{}, fmt.Errorf("%s has a %s that its message doesn't name", h.Op, PayloadFile)
	case len(text) > MaxInline:
		return board.Operation{}, fmt.Errorf("the payload of %s is too long for a message", h.Op)
	}
	op, err := DecodePayload(h.Op, text)
	if err != nil {
		return op, err
	}
	op.Actor.ID, op.Actor.Role = h.Agent, roles.Role(h.Role)
	if op.Actor.Role == roles.Human {
		op.Actor.Name, op.Actor.Email = author.Name, author.Email
	}
	op.Time, op.Request = board.At(author.When), h.Request
	return op, nil
}
