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
)

// lineOf is a line of one of the two files of a diff.
type lineOf struct {
	old bool
	n   int
}

// fileView is a file of a diff with what was said about its lines, and what says more.
type fileView struct {
	diffFile
	Task    string
	Commit  string      // that is commented on; "" where nothing may be said
	Compare string      // the query of this comparison
	Hidden  [][2]string // the same, as fields
	said    map[lineOf][]report.Remark
	asked   int // the line under which the form is open, 0 for none
}

// Said is what was said about a line.
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

// SaidBeside is what was said about both lines of a row of two columns.
func (v fileView) SaidBeside(s side) []report.Remark {
	if s.Left.Kind == "same" {
		return v.Said(s.Left)
	}
	return slices.Concat(v.Said(s.Left), v.Said(s.Right))
}

// Place is the number of a line that may be commented on, 0 for another: of a deleted file it is that of the old one.
func (v fileView) Place(l diffLine) int {
	switch {
	case v.Commit == "":
		return 0
	case v.State == "deleted":
		return l.Old
	}
	return l.New
}

// Asked reports whether the form is open under a line.
func (v fileView) Asked(l diffLine) bool { return v.asked > 0 && v.Place(l) == v.asked }

// Where is the place that the open form is about.
func (v fileView) Where() string { return fmt.Sprintf("%s:%d", v.Path, v.asked) }

// put puts the remarks on a comparison where they belong, and returns those that belong to none of its lines.
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

// mayComment reports whether the human of this server may comment on the submission that is shown.
func (s *Server) mayComment(l *look, t *board.Task, from, to, of int) bool {
	return s.Do != nil && !l.past && t.Status == board.ReadyForReview && from == 0 && to == of
}

// review is the form of a verdict, nil where there is none to give.
func (s *Server) review(l *look, t *board.Task, outlook report.TaskOutlook) map[string]any {
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
		"T": t, "Mine": mine, "Free": free && by != "agent", "By": by, "Open": t.OpenComments(), "Again": t.HasPriorFeedback(), "Commit": t.ReviewCommit, "Number": t.Submissions(),
	}
}

// remarkCache remembers the last remarks: they change with a comment or a submission.
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

// commentsPart lists what was said about lines, the newest first.
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
