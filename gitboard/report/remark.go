package report

import (
	"fmt"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/text"
)

// Remark is a comment on a line, with the line itself and what later submissions did to it.
type Remark struct {
	board.LineComment
	Code    string `json:"code"`              // the line; "" if the submission is not in this clone
	Touched int    `json:"touched,omitempty"` // the first later submission that changed the lines around it; 0 for none
	// Elsewhere is the first later submission that changed the file, but not near the line; 0 for
	// none.
	Elsewhere int  `json:"elsewhere,omitempty"`
	Later     int  `json:"-"` // the last submission that it was compared with
	Open      bool `json:"open"`
}

// Fate describes what became of the comment.
func (r Remark) Fate() string {
	switch {
	case r.Touched > 0:
		return fmt.Sprintf("submission %d changed it there", r.Touched)
	case r.Elsewhere > 0:
		return fmt.Sprintf("submission %d changed the file, but not there", r.Elsewhere)
	case r.Later > r.Submission:
		return fmt.Sprintf("not changed up to submission %d", r.Later)
	}
	return ""
}

// String is the comment in one line, with the line of code it refers to.
func (r Remark) String() string {
	line := r.Where()
	if r.Deleted {
		line += " (deleted)"
	}
	if r.Code != "" {
		line += " `" + text.Line(r.Code, 120) + "`"
	}
	line += ": " + r.Text + " [" + r.Author()
	if fate := r.Fate(); fate != "" {
		line += "; " + fate
	}
	return line + "]"
}

// Unsettled returns the remarks that a coder has to look at: those on the last submission, and
// earlier ones whose lines have not changed since.
func Unsettled(all []Remark, last int) []Remark {
	var left []Remark
	for _, r := range all {
		if r.Submission == last || r.Touched == 0 {
			left = append(left, r)
		}
	}
	return left
}
