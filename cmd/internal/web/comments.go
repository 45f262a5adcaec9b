package web

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/text"
)

// lineOf identifies a line of one of a diff's two files.
type lineOf struct {
	old bool
	n   int
}

// fileView is a file of a diff with the comments on its lines, and the input of the form for
// comments that it needs.
type fileView struct {
	diffFile
	Task    string
	Commit  string      // the commit to comment on, "" if comments are not allowed
	Compare string      // the query of this comparison
	Hidden  [][2]string // Compare as form fields
	said    map[lineOf][]report.Remark
	asked   int // the line with the open form below it, 0 for none
}

// Said returns the comments on a line.
func (v fileView) Said(l diffLine) []report.Remark {
	var all []report.Remark
	if l.Old > 0 {
		all = slices.Concat(all, v.said[lineOf{true, l.Old}])
	}
	if l.New > 0 {
		all = slices.Concat(all, v.said[lineOf{false, l.New}])
	}
	return all
}

// SaidOnRow returns the comments on both lines of a row in two columns.
func (v fileView) SaidOnRow(s side) []report.Remark {
	if s.Left.Kind == "same" {
		return v.Said(s.Left)
	}
	return slices.Concat(v.Said(s.Left), v.Said(s.Right))
}

// Place is the number by which a line can be commented on, 0 if it can't. In a deleted file it is
// the old number.
func (v fileView) Place(l diffLine) int {
	switch {
	case v.Commit == "":
		return 0
	case v.State == "deleted":
		return l.Old
	}
	return l.New
}

// Asked reports whether the form is open below a line.
func (v fileView) Asked(l diffLine) bool { return v.asked > 0 && v.Place(l) == v.asked }

// Where is the file and line of the open form.
func (v fileView) Where() string { return text.Place(v.Path, v.asked) }

// put assigns the remarks to the lines of a comparison, and returns the rest.
func (v *fileView) put(all []report.Remark, from, to int) (left []report.Remark) {
	v.said = map[lineOf][]report.Remark{}
	shown := map[lineOf]bool{}
	for _, l := range v.Lines {
		shown[lineOf{true, l.Old}], shown[lineOf{false, l.New}] = true, true
	}
	for _, r := range all {
		at := lineOf{r.Submission != to || r.Deleted, r.Line}
		name := v.Path
		if at.old && v.Was != "" {
			name = v.Was
		}
		if r.Path != name || r.Submission != to && (r.Submission != from || r.Deleted) || r.Deleted && from != 0 || !shown[at] {
			left = append(left, r)
			continue
		}
		v.said[at] = append(v.said[at], r)
	}
	return left
}

// mayComment reports whether the server's human may comment on the displayed submission.
func (s *Server) mayComment(l *look, t *board.Task, from, to, of int) bool {
	return s.Do != nil && !l.past && t.Status == board.ReadyForReview && from == 0 && to == of
}

// review is the form of a verdict, nil if there is none to give. On a page that shows an older
// submission it only leads to the one to judge.
func (s *Server) review(l *look, t *board.Task, outlook report.TaskOutlook, shown int) map[string]any {
	if s.Do == nil || l.past || t.Status != board.ReadyForReview {
		return nil
	}
	mine := t.ReviewingBy == roles.HumanID
	free := t.ReviewingBy == "" || mine || outlook.LeaseExpires != "" && outlook.LeaseExpires < l.o.Now
	by := ""
	if c := l.State.Config(); c != nil {
		by = c.ReviewBy
	}
	return map[string]any{
		"T": t, "Mine": mine, "Free": free && (by != "agent" || board.ProgressOf(l.State, t).AwaitsHuman()), "By": by, "Open": t.OpenComments(), "Again": t.HasPriorFeedback(), "Commit": t.ReviewCommit, "Number": t.Submissions(), "Shown": shown,
	}
}

// remarkCache caches the last remarks, which only change with a comment or a submission.
type remarkCache struct {
	mu  sync.Mutex
	all map[string][]report.Remark
}

func (s *Server) remarks(ctx context.Context, t *board.Task) ([]report.Remark, error) {
	if len(t.Comments) == 0 {
		return nil, nil
	}
	last := t.Comments[len(t.Comments)-1]
	key := fmt.Sprint(t.ID, t.Status, len(t.Comments), t.Submissions(), last.Time, last.Text)
	c := &s.said
	c.mu.Lock()
	defer c.mu.Unlock()
	if all, known := c.all[key]; known {
		return all, nil
	}
	all, err := s.Board.Remarks(ctx, t)
	if err != nil {
		return nil, err
	}
	if c.all == nil || len(c.all) > 50 {
		c.all = map[string][]report.Remark{}
	}
	c.all[key] = all
	return all, nil
}

// commentsPart lists the comments on lines, newest first.
func commentsPart(t *board.Task, all []report.Remark) []part {
	if len(all) == 0 {
		return nil
	}
	p := part{ID: "comments", Aside: true, Class: "log story", Head: markup("heading", "Comments on lines")}
	for i, r := range slices.Backward(all) {
		p.Rows = append(p.Rows, row{strconv.Itoa(i), markup("comment", map[string]any{"R": r, "ID": t.ID})})
	}
	return []part{p}
}
