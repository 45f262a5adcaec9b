package board

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/text"
)

// Reaches reports whether a note is for everybody or for one of those named (tasks, agents,
// planner, human). An answered note is for the agent that asked, and for others of that role.
func (n *Note) Reaches(s *State, names ...string) bool {
	if n.Source != "" {
		return false // no human of the board wrote it; PR_FEEDBACK brings it
	}
	if n.Answer == "" {
		return n.For == "" || slices.Contains(names, n.For)
	}
	role, err := s.RoleOf(n.By)
	return slices.Contains(names, n.By) || err == nil && slices.Contains(names, string(role))
}

// Text is a note's message and its answer. Feedback begins with its author, and is fenced by a word that its author
// could not know.
func (n *Note) Text() string {
	if n.Source != "" {
		fence := sha256.Sum256([]byte(n.Source + "\n" + n.Message))
		return fmt.Sprintf("%s at the pull request, untrusted text up to %.4x: %s %.4[2]x", n.Author, fence[:], n.Message)
	}
	if n.Answer == "" {
		return n.Message
	}
	return n.Message + " (answered by " + n.AnsweredBy + ": " + strings.TrimSpace(n.Answer) + ")"
}

// Line is a note with its id, its author and its reader.
func (n *Note) Line() string {
	to := ""
	if n.For != "" && n.Answer == "" {
		to = " for " + n.For
	}
	return n.ID + " by " + n.By + to + ": " + n.Text()
}

// Unread lists the unacknowledged notes for an agent or its task that no operation of the agent has
// recorded as shown to it, oldest first.
func Unread(s *State, agent string, task string) (notes []*Note) {
	role, err := s.RoleOf(agent)
	if err != nil {
		return nil
	}
	for _, id := range s.List(NoteDir) {
		n := s.Note(id)
		if n != nil && n.AcknowledgedBy == "" && !slices.Contains(n.ReadBy, agent) && n.Reaches(s, agent, string(role), task) && (n.By != agent || n.Answer != "") {
			notes = append(notes, n)
		}
	}
	return notes
}

// checkRead checks the notes that an operation records as shown to its agent, and refuses to hand
// over work while others are unread.
func checkRead(s *State, op Operation) error {
	agent := op.Actor.Role != roles.Human
	for i, id := range op.Read {
		if !recordID.MatchString(id) || s.Note(id) == nil || slices.Contains(s.Note(id).ReadBy, op.Actor.ID) || slices.Contains(op.Read[:i], id) || !agent {
			return invalid("the operation records %s as read by %s, which is no unread note", quote(id), op.Actor.ID)
		}
	}
	if !agent || !HandsOver(op.Name()) {
		return nil
	}
	var lines, ids []string
	for _, n := range Unread(s, op.Actor.ID, op.TaskID()) {
		if !slices.Contains(op.Read, n.ID) {
			lines, ids = append(lines, text.Line(n.Line(), MaxText)), append(ids, n.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	r := refuse(CodeUnread, "%s has not read this: %s", op.Actor.ID, strings.Join(lines, "; ")).
		Advise("follow it, and repeat the command")
	r.Unread, r.Task = ids, op.TaskID()
	return r
}

// HandsOver reports whether an agent hands its work over by an operation, after reading its notes.
func HandsOver(op string) bool { return op == "submit" || op == "verdict" }

// applyRead records the notes that were shown to the operation's agent.
func applyRead(s *State, op Operation) {
	for _, id := range op.Read {
		n := edit[Note](s, RecordPath(NoteDir, id))
		n.ReadBy = append(n.ReadBy, op.Actor.ID)
	}
}
