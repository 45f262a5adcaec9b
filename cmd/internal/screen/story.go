package screen

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/records"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/cmdline"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/text"
)

// Story shows a task from beginning to end; with brief without its history, but with the last
// rejection.
func (f *taskFacts) Story(p call.Page, brief bool) []string {
	l := call.Labels{Page: p, Names: 14}
	for i, line := range call.Wrap(f.t.ID+": "+f.t.Description, p.Width-2) {
		if i > 0 {
			line = "  " + line // no text by an agent begins a line
		}
		l.Lines = append(l.Lines, p.Bold(line))
	}
	l.Lines = append(l.Lines, "")
	f.progress(&l)
	f.definition(&l)
	f.trouble(&l)
	f.work(&l)
	f.comments(&l)
	if brief {
		l.Add("rejected", f.t.Rejection.Prose())
		return l.Lines
	}
	l.Lines = append(l.Lines, "", "timeline")
	l.Add("  spent", f.spent())
	l.Add("  tokens", f.tokens())
	for i := range f.t.History {
		f.event(&l, i)
	}
	return l.Lines
}

// progress adds the task's progress, and whose turn it is.
func (f *taskFacts) progress(l *call.Labels) {
	t, o := f.t, f.outlook
	status := string(t.Status) + " for " + call.Since(f.now, t.StatusChangedAt)
	if o.Worker != "" {
		status += ", " + o.Worker
	}
	if o.LeaseExpires != "" {
		status += ", lease " + LeaseLeft(f.now, o.LeaseExpires)
	}
	switch {
	case len(o.WaitsFor) > 0:
		status += "; waits for " + strings.Join(o.WaitsFor, ", ")
	case o.IsStuck() && t.Status != board.Blocked:
		status += "; " + o.Stuck.String()
	}
	if o.AfterGoal != "" {
		status += "; its goal comes after " + o.AfterGoal
	}
	if t.Status.Terminal() {
		status = string(t.Status) + " " + call.Since(f.now, t.StatusChangedAt) + " ago"
		if sprint := board.ArchivedIn(f.state, t.ID); sprint != "" {
			status += ", archived in " + sprint
		}
	}
	l.Add("status", status)
	if needed, g := report.WaitsForEnded(f.state, t.Brief()); g != nil {
		l.Add("stuck", needed+" is of "+g.ID+", which is "+string(g.Status)+": "+cmdline.Hint(report.WayOutOfEnded(t.ID, g)))
	}
	if needed, g := report.WaitsForLater(f.state, t.Brief()); g != nil {
		l.Add("stuck", needed+" is of "+g.ID+", which comes after "+t.Goal+": "+cmdline.Hint(report.DependOnOthers(t.ID)))
	}
	if o.Turn != "" {
		l.Add("turn", "it waits for a "+strings.ReplaceAll(string(o.Turn), "_", " "))
	}
	if t.Iteration > 0 {
		iterations, cycles := f.config.Limits(t)
		l.Add("iteration", fmt.Sprintf("%d of %s, review cycle %d of %s", t.Iteration, iterations, t.ReviewCyclesTotal, cycles))
	}
}

func (f *taskFacts) definition(l *call.Labels) {
	t := f.t
	l.Add("priority", fmt.Sprintf("%d, %s", t.Priority, t.Kind))
	l.Add("stage", report.StageOf(f.state, t.Brief()))
	l.Add("done when", t.DoneWhen)
	l.Add("scope", t.Scope)
	l.Add("spec", t.SpecRef)
	l.Add("depends on", f.named(t.DependsOn))
	l.Add("needed by", strings.Join(f.neededBy(), ", "))
	l.Add("touches", strings.Join(t.Touches, ", "))
	l.Add("supersedes", strings.Join(t.Supersedes, ", "))
	l.Add("superseded by", f.named(t.SupersededBy))
	l.Add("because", t.RescopeReason)
	l.Add("notes", strings.Join(NoteLines(report.NotesFor(f.state, t.ID)), "\n"))
}

// named adds to each task its status.
func (f *taskFacts) named(ids []string) string {
	parts := slices.Clone(ids)
	for i, id := range ids {
		if t := f.state.Task(id); t != nil {
			parts[i] += " (" + string(t.Status) + ")"
		}
	}
	return strings.Join(parts, ", ")
}

func (f *taskFacts) neededBy() (ids []string) {
	for _, b := range f.state.Tasks() {
		if slices.Contains(b.DependsOn, f.t.ID) {
			ids = append(ids, b.ID)
		}
	}
	return ids
}

// trouble adds why the task does not continue, and what would help.
func (f *taskFacts) trouble(l *call.Labels) {
	t := f.t
	l.Add("blocked", t.BlockedReason)
	for _, q := range t.BlockedQuestions {
		l.Add("", "? "+q)
	}
	l.Add("attempted", strings.Join(t.Attempted, "\n"))
	asked := report.AskedBy(t)
	l.Add("asked by", strings.Join(asked, ", "))
	l.Add("failed by", strings.Join(t.FailedBy, ", "))
	h := board.HandoffTo(f.state, roles.CodeReviewer, t)
	if t.HandoffPending {
		h = f.state.Handoff(t.ID)
	}
	if h != nil {
		l.Add("hand-off", h.Summary+"\nnext: "+h.NextAction)
	}
}

// maxCommits is how many commits of the work a story names.
const maxCommits = 12

// work adds the branch, its commits and the worktree.
func (f *taskFacts) work(l *call.Labels) {
	t := f.t
	var commits []string
	for _, c := range slices.Backward(f.commits) {
		commits = append(commits, c.OID.Short()+" "+text.Line(c.Subject(), 100))
	}
	if more := len(commits) - maxCommits; more > 0 {
		commits = append(commits[:maxCommits], fmt.Sprintf("and %d more", more))
	}
	l.Add("commits", strings.Join(commits, "\n"))
	l.Add("submitted", t.ReviewCommit)
	if t.Status == board.ReadyForReview {
		l.Add("review", report.ReviewOf(f.state, t.Brief()))
	} else if len(t.Approvals) > 1 {
		l.Add("approved by", strings.Join(t.Approvers(), ", "))
	}
	merged := t.MergeCommit
	if merged != "" && t.DriftCommits > 0 {
		merged += ", integration had moved by " + text.Plural(t.DriftCommits, "commit")
	}
	l.Add("merged as", merged)
	l.Add("worktree", f.worktreeText())
	if f.unknown != nil {
		l.Add("unknown", f.unknown.Error())
	}
}

// comments adds the comments on lines of submissions, each with its line of code.
func (f *taskFacts) comments(l *call.Labels) {
	var lines []string
	for _, r := range f.remarks {
		head := fmt.Sprintf("%s, submission %d, by %s", r.Where(), r.Submission, r.Author())
		if r.Deleted {
			head += " (deleted)"
		}
		lines = append(lines, head)
		if code := strings.TrimSpace(r.Code); code != "" {
			lines = append(lines, "| "+text.Line(code, 200))
		}
		lines = append(lines, r.Text)
		if fate := r.Fate(); fate != "" {
			lines = append(lines, "("+fate+")")
		}
	}
	l.Add("comments", strings.Join(lines, "\n"))
}

func (f *taskFacts) worktreeText() string {
	w := f.worktree
	switch {
	case w == nil:
		return f.t.Worktree
	case !w.Exists && w.Head.IsZero():
		return f.t.Worktree + ", not in this clone"
	case !w.Exists:
		return f.t.Worktree + ", missing here; its branch is " + w.Branch
	}
	line := fmt.Sprintf("%s, %s at %s, ", f.t.Worktree, w.Branch, w.Head.Short())
	if len(w.Dirty) == 0 {
		return line + "clean"
	}
	return line + text.Plural(len(w.Dirty), "file") + " not committed: " + text.Line(strings.Join(w.Dirty, ", "), 200)
}

// spent describes how long the task was in each phase.
func (f *taskFacts) spent() string {
	s := report.SpentOf(f.t, board.At(f.now))
	text := board.Span(s.Total()) + " in all: waiting " + board.Span(s.Waiting) + ", work " + board.Span(s.Work) + ", review " + board.Span(s.Review)
	if s.Merge > 0 {
		text += ", merge " + board.Span(s.Merge)
	}
	if s.Blocked > 0 {
		text += ", blocked " + board.Span(s.Blocked)
	}
	return text
}

// tokens describes what the task's runs have cost, and the share of its budget.
func (f *taskFacts) tokens() string {
	text := report.UsageText(f.t.Usage)
	if b := board.TaskBudget(f.config, f.t); b != nil && (b.Used > 0 || b.Unreported != "") {
		text = strings.TrimPrefix(text+fmt.Sprintf("; %s of the budget of %s", b.Share(), report.Count(b.Most)), "; ")
	}
	return text
}

const eventIndent = "        "

// event adds an entry of the history: when, how long after the previous one, what and by whom, and
// its texts.
func (f *taskFacts) event(l *call.Labels, i int) {
	e := f.t.History[i]
	after := ""
	if i > 0 {
		after = "+" + board.Span(e.Time.Sub(f.t.History[i-1].Time))
	}
	head := "  " + string(e.Time) + "  " + call.Pad(after, 8)
	for n, line := range call.Wrap(e.Event+" by "+e.Author()+eventDetail(e), l.Width-call.Breadth(head)) {
		if n > 0 {
			head = strings.Repeat(" ", call.Breadth(head))
		}
		l.Lines = append(l.Lines, head+line)
	}
	add := func(name, text string) {
		if text = strings.TrimSpace(text); text != "" {
			for _, line := range call.Wrap(name+text, l.Width-len(eventIndent)) {
				l.Lines = append(l.Lines, strings.TrimRight(eventIndent+line, " "))
			}
		}
	}
	if cp := e.Checkpoint; cp != nil {
		add("intent: ", cp.Intent)
		add("assumptions: ", strings.Join(cp.Assumptions, "; "))
		add("risks: ", cp.Risks)
		add("validation: ", cp.Validation)
		add("files: ", strings.Join(cp.FilesToModify, ", "))
	}
	if s, known := f.submissions[e.Commit]; known && e.Event == board.EventReady {
		f.changed(l, s)
	}
	for _, was := range formerly(e) {
		add("was ", was)
	}
	add("no tests because: ", e.NoTests)
	add("verified by ", e.Verified.String())
	add("checked: ", e.Checked)
	for _, q := range e.Questions {
		add("? ", q)
	}
	add("attempted: ", strings.Join(e.Attempted, "\n"))
	add("answer: ", e.Answer)
	add("", e.Why())
	for _, line := range strings.Split(strings.TrimRight(e.Log, "\n"), "\n") {
		add("| ", line)
	}
}

// maxFiles is how many files of a submission a story names.
const maxFiles = 10

// changed adds what a submission changed, file by file.
func (f *taskFacts) changed(l *call.Labels, s submission) {
	if len(s.files) == 0 {
		return
	}
	title := "submission 1: " + totals(s.files)
	if s.since > 0 {
		title = fmt.Sprintf("submission %d, since submission %d: %s", s.number, s.since, totals(s.files))
	}
	l.Lines = append(l.Lines, eventIndent+title)
	shown := s.files[:min(len(s.files), maxFiles)]
	width := 0
	for _, file := range shown {
		width = max(width, call.Breadth(file.Path))
	}
	width = min(width, l.Width-len(eventIndent)-20)
	for _, file := range shown {
		l.Lines = append(l.Lines, eventIndent+"  "+call.Pad(l.Fit(file.Path, width), width+2)+counted(file))
	}
	if more := len(s.files) - len(shown); more > 0 {
		l.Lines = append(l.Lines, eventIndent+fmt.Sprintf("  and %d more", more))
	}
}

func counted(f git.FileStat) string {
	if f.Binary {
		return "binary"
	}
	return plus(f.Added) + " " + minus(f.Deleted)
}

func plus(n int) string  { return "+" + strconv.Itoa(n) }
func minus(n int) string { return "-" + strconv.Itoa(n) }

func eventDetail(e board.Event) string {
	var parts []string
	if e.Iteration > 0 {
		parts = append(parts, fmt.Sprintf("iteration %d", e.Iteration))
	}
	if e.Commit != "" {
		parts = append(parts, fmt.Sprintf("commit %.10s", e.Commit))
	}
	if e.MergeType != "" {
		parts = append(parts, e.MergeType)
	}
	if len(e.Files) > 0 {
		parts = append(parts, strings.Join(e.Files, ", "))
	}
	if e.Kept != "" {
		parts = append(parts, fmt.Sprintf("work kept as %.10s", e.Kept))
	}
	if len(parts) == 0 {
		return ""
	}
	return ", " + strings.Join(parts, ", ")
}

// formerly lists what an amendment or an edit replaced; fields that were empty are not in the
// history.
func formerly(e board.Event) []string {
	if e.Was == nil {
		return nil
	}
	was, err := records.FieldTexts(e.Was)
	if err != nil {
		return nil
	}
	var lines []string
	for _, name := range was.Names {
		if name != "spec_oid" {
			lines = append(lines, name+": "+text.Line(was.Text[name], 200))
		}
	}
	return lines
}
