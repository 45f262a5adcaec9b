package board

import (
	"cmp"
	"fmt"
	"path"
	"strings"
	"unicode"

	"github.com/git-liza/git-liza/gitboard/plain"
	"github.com/git-liza/git-liza/gitboard/roles"
)

// What comments may be: the text of one in bytes, how many one submission may have, and the bytes
// that all of a task's may fill of its record.
const (
	MaxComment  = 2000
	MaxComments = 40
	maxComments = 64 << 10
)

// maxPath is how many bytes the path of a file may have that a comment is about.
const maxPath = 1000

// Comment is what a reviewer or a human says about a line of the submission under review. Commit, Lines and Deleted
// are facts of the repository: verify checks them.
type Comment struct {
	About
	Commit string `json:"commit"`
	Path   string `json:"path"`
	Line   int    `json:"line"`
	// Lines is how many lines the file has; of one that the submission deletes (Deleted), how many it had.
	Lines   int    `json:"lines"`
	Deleted bool   `json:"deleted,omitempty"`
	Text    string `json:"text"`
}

// Op implements Payload.
func (p *Comment) Op() string { return "comment" }

// Where is the place that the comment is about, as FILE:LINE.
func (p *Comment) Where() string { return fmt.Sprintf("%s:%d", p.Path, p.Line) }

// Check implements Payload.
func (p *Comment) Check(s *State, op Operation) error {
	t := s.Task(p.Task)
	switch {
	case op.Actor.Role != roles.Human && t.ReviewingBy != op.Actor.ID:
		return refuse(CodePermission, "%s is %s; its reviewer and humans comment on it", t.ID, t.standing()).on(t)
	case p.Commit != t.ReviewCommit:
		return refuse(CodeStale, "the comment is on %.10s, but %s was submitted at %.10s", p.Commit, t.ID, t.ReviewCommit).on(t).hint("git liza review %s --diff", t.ID)
	case !IsFilePath(p.Path):
		return invalid("%s is not the path of a file of the project", quote(p.Path)).hint("git liza comment %s src/file.go:12 TEXT", t.ID)
	case p.Line < 1 || p.Line > p.Lines:
		return invalid("%s has %s, and no line %d", quote(p.Path), plain.Plural(p.Lines, "line"), p.Line)
	case len(p.Text) > MaxComment:
		return invalid("the comment has %d bytes; %d are allowed", len(p.Text), MaxComment).hint("say it in fewer words, or in the reason of the verdict")
	case len(t.OpenComments()) >= MaxComments:
		return refuse(CodeInvalid, "%s has %d comments on this submission, and more are not allowed", t.ID, MaxComments).on(t)
	}
	if size := Size(t.Comments) + Size(p.comment(t, op)); size > maxComments {
		return refuse(CodeInvalid, "the comments on %s would have %d bytes; %d are allowed", t.ID, size, maxComments).on(t).
			hint("say it in the reason of the verdict")
	}
	return required("text", p.Text)
}

// IsFilePath reports whether a text can be the path of a file, from the top of a tree.
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
	return fmt.Sprintf("%s by %s: %s", p.Where(), cmp.Or(op.Actor.Name, op.Actor.ID), plain.Line(p.Text, 80)), p.Text
}

// Where is the place that the comment is about, as FILE:LINE.
func (c LineComment) Where() string { return fmt.Sprintf("%s:%d", c.Path, c.Line) }

// Author is who wrote the comment: a human by name.
func (c LineComment) Author() string {
	name, _, _ := strings.Cut(c.As, " <")
	return cmp.Or(name, c.By)
}

// OpenComments are those on the submission under review: a rejection takes them along.
func (t *Task) OpenComments() []LineComment {
	if t.Status != ReadyForReview {
		return nil
	}
	return t.CommentsOn(t.Submissions())
}

// CommentsOn are the comments on a task's nth submission.
func (t *Task) CommentsOn(n int) []LineComment {
	var all []LineComment
	for _, c := range t.Comments {
		if c.Submission == n {
			all = append(all, c)
		}
	}
	return all
}
