package web

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/git-liza/git-liza/cmd/internal/acts"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/text"
)

// submission is a submitted commit and its base.
type submission struct {
	Number       int
	Base, Commit string
	At           board.Time
	By           string
	Deleted      []string // deleted tests
	Early        []string
	NoTests      string
	Verified     string
	Iteration    int
	Verdict      string // of the review, "" if there is none yet
}

// submissionsOf are the submissions of a task, oldest first.
func submissionsOf(t *board.Task) []submission {
	var all []submission
	for _, e := range t.History {
		switch n := len(all); {
		case e.Event == board.EventReady:
			all = append(all, submission{n + 1, e.Base, e.Commit, e.Time, e.Agent, e.DeletedTests, e.EarlyCommits, e.NoTests, e.Verified.String(), e.Iteration, ""})
		case n > 0 && (e.Event == board.EventApproved || e.Event == board.EventRejected):
			all[n-1].Verdict = e.Event + " by " + e.Agent
		}
	}
	return all
}

// happened is an event of a task's story.
type happened struct {
	board.Event
	After string // the previous event
	Is    *submission
}

// task shows one task: what it is, its progress, its story and its submissions.
func (s *Server) task(ctx context.Context, l *look, id string, q query) (*page, error) {
	t := l.State.Task(id)
	if t == nil {
		if err := l.State.Err(); err != nil {
			return nil, err
		}
		return nil, &notFound{"There is no task of that name on the board."}
	}
	outlook := report.TaskOutlook{Brief: t.Brief(), Worker: report.Worker(t.Brief()), Review: report.ReviewOf(l.State, t.Brief())}
	if i := slices.IndexFunc(l.o.Tasks, func(o report.TaskOutlook) bool { return o.ID == id }); i >= 0 {
		outlook = l.o.Tasks[i]
	}
	outlook.Stage = report.StageOf(l.State, t.Brief())
	config := l.State.Config()
	if config == nil {
		return nil, l.State.Err()
	}
	subs := submissionsOf(t)
	iterations, cycles := config.Limits(t)
	about := map[string]any{
		"T": t, "O": outlook, "S": s.scene(l), "At": atOf(l), "Iterations": iterations, "Cycles": cycles,
		"Depends": named(l.State, t.DependsOn), "Needed": l.needs.of(l.State, t.ID), "Notes": report.NotesFor(l.State, t.ID), "Handoff": handoff(l.State, t), "Asked": report.AskedBy(t),
	}
	about["Reader"], about["When"] = acts.Reader(l.State, t.ID)
	p := &page{Title: t.ID, Nav: "Now"}
	p.Parts = []part{
		{ID: "task", Class: "lead", OffBoard: true, Head: markup("task", about)},
		{ID: "definition", Head: markup("task-definition", about)},
	}
	if s.Do != nil && !l.past {
		p.Parts = append(p.Parts, part{ID: "acts", Aside: true, Head: markup("task-acts", about)})
	}
	remarks, err := s.remarks(ctx, t)
	if err != nil {
		return nil, err
	}
	p.Parts = append(append(p.Parts, commentsPart(t, remarks)...), story(t, subs, l))
	diff, err := s.diffPart(ctx, l, t, subs, remarks, q)
	if err != nil {
		return nil, err
	}
	p.Parts = append(p.Parts, diff...)
	if form := s.review(l, t, outlook, min(max(pick(q.get("to"), len(subs), len(subs)), 1), len(subs))); form != nil {
		p.Parts = append(p.Parts, part{ID: "verdict", Class: "wide", Head: markup("verdict", form)})
	}
	return p, l.State.Err()
}

// story shows what happened to a task, newest first.
func story(t *board.Task, subs []submission, l *look) part {
	until := board.At(l.now)
	p := part{ID: "story", Aside: true, Class: "log story", Head: markup("story-head", map[string]any{"Spent": report.SpentOf(t, until), "Periods": bars(report.PeriodsOf(t, until), t.Created, max(until, t.Created), "")})}
	n := 0
	var rows []row
	for i, e := range t.History {
		h := happened{Event: e}
		if i > 0 {
			h.After = board.Span(e.Time.Sub(t.History[i-1].Time))
		}
		if e.Event == board.EventReady && n < len(subs) {
			h.Is = &subs[n]
			n++
		}
		rows = append(rows, row{strconv.Itoa(i), markup("event", map[string]any{"E": h, "ID": t.ID, "At": atOf(l)})})
	}
	slices.Reverse(rows)
	p.Rows = rows
	return p
}

// other is a task that another one names.
type other struct {
	ID     string
	Status board.Status
}

func named(s *board.State, ids []string) []other {
	var all []other
	for _, id := range ids {
		o := other{ID: id}
		if t := s.Task(id); t != nil {
			o.Status = t.Status
		}
		all = append(all, o)
	}
	return all
}

// needs are the tasks of a look that wait for each task. They are gathered for all tasks when a
// page first asks for those of one: a report has a page of each.
type needs struct {
	once sync.Once
	by   map[string][]other
}

// of lists the tasks that wait for one.
func (n *needs) of(s *board.State, id string) []other {
	n.once.Do(func() {
		n.by = map[string][]other{}
		for _, b := range s.Tasks() {
			for _, d := range b.DependsOn {
				n.by[d] = append(n.by[d], other{b.ID, b.Status})
			}
		}
	})
	return n.by[id]
}

func handoff(s *board.State, t *board.Task) *board.Handoff {
	if !t.HandoffPending {
		return nil
	}
	return s.Handoff(t.ID)
}

// diffPart shows what a submission changed: against its base, or since another submission.
func (s *Server) diffPart(ctx context.Context, l *look, t *board.Task, subs []submission, remarks []report.Remark, q query) ([]part, error) {
	if len(subs) == 0 {
		return nil, nil
	}
	to := pick(q.get("to"), len(subs), len(subs))
	from := pick(q.get("from"), 0, len(subs))
	if to = max(to, 1); from == to {
		from = 0
	}
	split := q.get("view") == "split"
	head := map[string]any{"Subs": subs, "From": from, "To": to, "Split": split, "ID": t.ID, "At": q.get("at"), "Sub": subs[to-1]}
	p := part{ID: "diff", Class: "wide diff"}
	d, err := s.diff(ctx, l, t, subs, from, to)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		head["Missing"] = err.Error()
	}
	v := fileView{Task: t.ID, Hidden: [][2]string{{"from", strconv.Itoa(from)}, {"to", strconv.Itoa(to)}, {"view", q.get("view")}}}
	v.Compare = query{nil}.with("from", strconv.Itoa(from), "to", strconv.Itoa(to), "view", q.get("view"))
	if s.mayComment(l, t, from, to, len(subs)) {
		v.Commit = subs[to-1].Commit
		head["Say"] = v
	}
	added, removed, left := 0, 0, remarks
	for _, f := range d.files {
		added, removed = added+f.Added, removed+f.Removed
		v.diffFile, v.asked = f, 0
		if q.get("path") == f.Path {
			v.asked, _ = strconv.Atoi(q.get("line"))
		}
		left = v.put(left, from, to)
		name := "file"
		if split {
			name = "file-split"
		}
		p.Rows = append(p.Rows, row{text.Shown(f.Path), markup(name, v)})
	}
	head["Files"], head["Added"], head["Removed"], head["Rewritten"] = d.files, added, removed, d.rewritten
	head["Left"] = slices.DeleteFunc(slices.Clone(left), func(r report.Remark) bool { return r.Submission != to })
	p.Head = markup("diff-head", head)
	return []part{p}, nil
}

// pick is the number in a text if it is from 0 to most, and otherwise the default.
func pick(text string, otherwise, most int) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > most {
		return min(otherwise, max(most, 0))
	}
	return n
}

// compared is the difference between two submissions, or between one and its base.
type compared struct {
	files     []diffFile
	rewritten bool // the commits of one do not follow from those of the other
}

// diff compares a submission with its base (from is 0) or with another one.
func (s *Server) diff(ctx context.Context, l *look, t *board.Task, subs []submission, from, to int) (compared, error) {
	names := []string{subs[to-1].Base, subs[to-1].Commit}
	if from > 0 {
		names = append(names, subs[from-1].Base, subs[from-1].Commit)
	}
	return s.diffs.get(fmt.Sprint(names), func() (compared, error) {
		for _, name := range names {
			if !plumbing.OID(name).Valid() {
				return compared{}, fmt.Errorf("the board does not name the submitted commit")
			}
		}
		objects, err := s.Board.Repo().Objects(ctx, names)
		if err != nil {
			return compared{}, err
		}
		for i, name := range names {
			if objects[i].OID == "" {
				return compared{}, fmt.Errorf("the commit %.10s is not in this clone: git liza sync fetches it", name)
			}
		}
		patch, err := s.Board.SubmissionDiff(ctx, t, from, to)
		if err != nil {
			return compared{}, err
		}
		return compared{parseDiff(patch.Text, l.State.Config()), patch.Rewritten}, nil
	})
}

// diffCache caches the last diffs, since commits never change.
type diffCache struct {
	mu  sync.Mutex
	all map[string]compared
}

func (c *diffCache) get(key string, make func() (compared, error)) (compared, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if d, known := c.all[key]; known {
		return d, nil
	}
	d, err := make()
	if err != nil {
		return compared{}, err
	}
	if c.all == nil || len(c.all) > 20 {
		c.all = map[string]compared{}
	}
	c.all[key] = d
	return d, nil
}
