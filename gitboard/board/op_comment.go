package board

import (
	"cmp"
	"fmt"
	"path"
	"strings"
	"unicode"

	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/text"
)

// The limits of comments: the bytes of one text, the number on one submission, and the bytes of a
// task's record that all its comments may fill.
const (
	MaxComment  = 2000
	MaxComments = 40
	maxComments = 64 << 10
)

// maxPath is the maximum length in bytes of the path in a comment.
const maxPath = 1000

// Comment is a reviewer's or a human's comment on a line of the submission under review. Commit,
// Lines and Deleted are facts of the repository that verify checks.
type Comment struct {
	About
	Commit string `json:"commit"`
	Path   string `json:"path"`
	Line   int    `json:"line"`
	// Lines is how many lines the file has or, if the submission deletes it (Deleted), had.
	Lines   int    `json:"lines"`
	Deleted bool   `json:"deleted,omitempty"`
	Text    string `json:"text"`
}

// Op implements Payload.
func (p *Comment) Op() string { return "comment" }

// Where is the commented place, as FILE:LINE.
func (p *Comment) Where() string { return text.Place(p.Path, p.Line) }

// Check implements Payload.
func (p *Comment) Check(s *State, op Operation) error {
	t := s.Task(p.Task)
	switch {
	case op.Actor.Role != roles.Human && t.ReviewingBy != op.Actor.ID:
		return refuse(CodePermission, "%s is %s; its reviewer and humans comment on it", t.ID, t.describe()).on(t)
	case p.Commit != t.ReviewCommit:
		return refuse(CodeStale, "the comment is on %.10s, but %s was submitted at %.10s", p.Commit, t.ID, t.ReviewCommit).on(t).Way(ActOn("review", t.ID).With("diff", ""))
	case !IsFilePath(p.Path):
		return invalid("%s is not the path of a file of the project", quote(p.Path)).Way(ActOn("comment", t.ID).With("place", "src/file.go:12", "text", exampleText))
	case p.Line < 1 || p.Line > p.Lines:
		return invalid("%s has %s, and no line %d", quote(p.Path), text.Plural(p.Lines, "line"), p.Line)
	case len(p.Text) > MaxComment:
		return invalid("the comment has %d bytes; %d are allowed", len(p.Text), MaxComment).Advise("say it in fewer words, or in the reason of the verdict")
	case len(t.OpenComments()) >= MaxComments:
		return refuse(CodeInvalid, "%s has %d comments on this submission, and more are not allowed", t.ID, MaxComments).on(t)
	}
	if size := Size(t.Comments) + Size(p.comment(t, op)); size > maxComments {
		return refuse(CodeInvalid, "the comments on %s would have %d bytes; %d are allowed", t.ID, size, maxComments).on(t).
			Advise("say it in the reason of the verdict")
	}
	return required("text", p.Text)
}

// IsFilePath reports whether a text can be the path of a file in a tree.
func IsFilePath(file string) bool {
	return file != "" && len(file) <= maxPath && !strings.HasPrefix(file, "/") && file != ".." && !strings.HasPrefix(file, "../") && path.Clean(file) == file &&
		file != "." && !strings.ContainsFunc(file, unicode.IsControl)
}

func (p *Comment) comment(t *Task, op Operation) LineComment {
	return LineComment{
		Time: op.Time, By: op.Actor.ID, As: op.Actor.Identity(), Submission: t.Submissions(), Commit: p.Commit,
		Path: p.Path, Line: p.Line, Deleted: p.Deleted, Text: p.Text,
	}
}

// Apply implements Payload.
func (p *Comment) Apply(s *State, op Operation) {
	t := s.editTask(p.Task)
	t.Comments = append(t.Comments[:len(t.Comments):len(t.Comments)], p.comment(t, op))
}

// Subject implements Payload.
func (p *Comment) Subject(_, _ *State, op Operation) (string, string) {
	return fmt.Sprintf("%s by %s: %s", p.Where(), cmp.Or(op.Actor.Name, op.Actor.ID), text.Line(p.Text, 80)), p.Text
}

// Where is the commented place, as FILE:LINE.
func (c LineComment) Where() string { return text.Place(c.Path, c.Line) }

// Author is the author of the comment; a human is given by name.
func (c LineComment) Author() string {
	name, _, _ := strings.Cut(c.As, " <")
	return cmp.Or(name, c.By)
}

// OpenComments returns the comments on the submission under review; a rejection includes them.
func (t *Task) OpenComments() []LineComment {
	if t.Status != ReadyForReview {
		return nil
	}
	return t.CommentsOn(t.Submissions())
}

// CommentsOn returns the comments on a task's nth submission.
func (t *Task) CommentsOn(n int) []LineComment {
	var all []LineComment
	for _, c := range t.Comments {
		if c.Submission == n {
			all = append(all, c)
		}
	}
	return all
}
