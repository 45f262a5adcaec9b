package web

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/git-liza/git-liza/cmd/internal/acts"
	"github.com/git-liza/git-liza/cmd/internal/history"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/text"
	"github.com/git-liza/git-liza/roles/transcript"
)

// maxOperations is how many operations a page of the history shows.
const maxOperations = 100

// history shows the operations, newest first.
func (s *Server) history(ctx context.Context, l *look, q query) (*page, error) {
	return s.operations(ctx, l, q, maxOperations)
}

// operations is a page of up to most operations.
func (s *Server) operations(ctx context.Context, l *look, q query, most int) (*page, error) {
	lines, err := s.linesUpTo(ctx, l)
	if err != nil {
		return nil, err
	}
	before, _ := strconv.Atoi(q.get("before"))
	p := part{ID: "operations", Title: "History", Class: "log", Empty: "No operation is like that."}
	more, shown := "", 0
	for i, o := range lines {
		number := len(lines) - i
		if before > 0 && number >= before || !passes(o, q) {
			continue
		}
		if shown++; shown > most {
			more = q.with("before", strconv.Itoa(number+1))
			break
		}
		p.Rows = append(p.Rows, row{string(o.Commit), markup("operation", map[string]any{"L": o, "N": number, "At": atOf(l)})})
	}
	p.Head = markup("history-head", map[string]any{
		"Total": len(lines), "Q": q.get("q"), "Task": q.get("task"), "Agent": q.get("agent"), "Op": q.get("op"), "Ops": opsOf(lines), "Agents": agentsOf(lines), "At": q.get("at"), "More": more,
	})
	return &page{Title: "History", Nav: "History", Parts: []part{p}}, nil
}

// linesUpTo returns the operations up to a look, newest first.
func (s *Server) linesUpTo(ctx context.Context, l *look) ([]history.Line, error) {
	if !l.past { // already under the hub's lock
		return s.hub.operations(ctx, l.Commit)
	}
	var lines []history.Line
	err := s.hub.with(ctx, func(tip *look, _ string) error {
		all, err := s.hub.operations(ctx, tip.Commit)
		if i := slices.IndexFunc(all, func(o history.Line) bool { return o.Commit == l.Commit }); i >= 0 {
			lines = all[i:]
		}
		return err
	})
	return lines, err
}

func passes(o history.Line, q query) bool {
	text := strings.ToLower(o.Subject + " " + o.Agent + " " + o.Op)
	return (q.get("task") == "" || o.Task == q.get("task")) && (q.get("agent") == "" || o.Agent == q.get("agent")) && (q.get("op") == "" || o.Op == q.get("op")) &&
		strings.Contains(text, strings.ToLower(q.get("q")))
}

func opsOf(lines []history.Line) []string {
	return distinct(lines, func(o history.Line) string { return o.Op })
}

func agentsOf(lines []history.Line) []string {
	return distinct(lines, func(o history.Line) string { return o.Agent })
}

func distinct(lines []history.Line, of func(history.Line) string) []string {
	seen := map[string]bool{}
	var all []string
	for _, l := range lines {
		if v := of(l); v != "" && !seen[v] {
			seen[v], all = true, append(all, v)
		}
	}
	slices.Sort(all)
	return all
}

// agents shows the agents on the board, and those that ran in this clone.
func (s *Server) agents(_ context.Context, l *look, _ query) (*page, error) {
	here, err := transcript.Agents(s.Board.Dir())
	if err != nil {
		return nil, err
	}
	here = slices.DeleteFunc(here, func(id string) bool { return l.past || l.State.Agent(id) != nil })
	gone := part{ID: "gone", Title: "Ran here before", OffBoard: true, Head: markup("heading", "Ran here before"), Empty: "No other agent has a transcript in this clone."}
	for _, id := range here {
		gone.Rows = append(gone.Rows, row{id, markup("agent-link", id)})
	}
	return &page{Title: "Agents", Nav: "Agents", Parts: []part{whole(agentsPart(l)), gone}}, l.State.Err()
}

// whole moves a part to the first column.
func whole(p part) part {
	p.Aside = false
	return p
}

// agent shows one agent: its task, its operations, and its output in this clone.
func (s *Server) agent(ctx context.Context, l *look, id string, q query) (*page, error) {
	if !roles.IsID(id) {
		return nil, &notFound{"There is no agent of that name."}
	}
	lines, err := s.linesUpTo(ctx, l)
	if err != nil {
		return nil, err
	}
	record := l.State.Agent(id)
	var has []report.TaskOutlook
	for _, t := range l.o.Tasks {
		if !t.Status.Terminal() && slices.Contains([]string{t.AssignedTo, t.ReviewingBy, t.ApprovedBy}, id) {
			has = append(has, t)
		}
	}
	var lease board.Time
	for _, a := range l.o.Agents {
		if a.ID == id {
			lease = a.LeaseExpires
		}
	}
	about := part{ID: "agent", Class: "lead", OffBoard: true, Head: markup("agent", map[string]any{"ID": id, "R": record, "Has": has, "Lease": lease, "Now": l.o.Now, "At": atOf(l), "Last": l.last[id]})}
	did := part{ID: "did", Title: "Did last", Class: "log", Head: markup("heading", "Did last"), Empty: "Nothing on this board."}
	for i, o := range lines {
		if o.Agent == id && len(did.Rows) < 40 {
			did.Rows = append(did.Rows, row{string(o.Commit), markup("operation", map[string]any{"L": o, "N": len(lines) - i, "At": atOf(l)})})
		}
	}
	parts := []part{about}
	if s.Do != nil && !l.past && record != nil {
		reader, when := acts.Reader(l.State, id)
		parts = append(parts, part{ID: "acts", Aside: true, Head: markup("agent-acts", map[string]any{"ID": id, "R": record, "Reader": reader, "When": when})})
	}
	if !l.past {
		parts = append(parts, part{ID: "transcript", Class: "transcript", Head: markup("transcript", map[string]any{"ID": id, "Lines": s.printed(ctx, id, q)})})
	}
	return &page{Title: id, Nav: "Agents", Parts: append(parts, did)}, l.State.Err()
}

// maxPrinted is how many lines of a transcript are shown.
const maxPrinted = 300

// printedLine is a line of a transcript.
type printedLine struct {
	Text string
	Own  bool // it is the supervisor's
}

func (s *Server) printed(ctx context.Context, id string, _ query) []printedLine {
	var lines []printedLine
	_ = transcript.Read(ctx, s.Board.Dir(), id, maxPrinted, false, func(line []byte) error { // most agents of a shared board have no transcript here
		lines = append(lines, printedAs(line))
		return nil
	})
	return lines
}

func printedAs(line []byte) printedLine {
	raw := text.Visible(text.Unstyled(strings.ToValidUTF8(string(line), "?")))
	_, _, own := transcript.Parse(raw)
	return printedLine{plainly(raw, 4000), own}
}

// plainly truncates a text that is too long.
func plainly(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}

// transcript streams an agent's output, one event per line.
func (s *Server) transcript(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("agent")
	flusher, _ := w.(http.Flusher)
	if !roles.IsID(id) || flusher == nil {
		refuse(w, http.StatusNotFound, "There is no agent of that name.", "")
		return
	}
	leave, ok := s.stream(w)
	if !ok {
		return
	}
	defer leave()
	ctx, stop := s.untilEnd(r)
	defer stop()
	_, _ = w.Write([]byte("retry: 2000\nevent: begin\ndata: \n\n"))
	flusher.Flush()
	_ = transcript.Read(ctx, s.Board.Dir(), id, maxPrinted, true, func(line []byte) error { // ends with the request
		l := printedAs(line)
		_, err := w.Write([]byte("event: line\ndata: " + jsonText(string(markup("printed", l))) + "\n\n"))
		flusher.Flush()
		return err
	})
}

// sprint shows the progress of the sprint, in text and figures.
func (s *Server) sprint(_ context.Context, l *look, _ query) (*page, error) {
	r, err := report.ReviewSprint(l.State, l.now)
	if err != nil {
		return nil, err
	}
	used := report.UsedFor(l.State, l.goal)
	parts := []part{
		{ID: "sprint", Class: "lead", Head: markup("sprint", map[string]any{"R": r, "O": l.o, "M": r.Metrics, "S": s.scene(l)})},
		pacePart(l),
		{ID: "spent", Title: "Where the time went", Head: markup("spent", spentOf(l))},
		{ID: "finished", Title: "Finished", Head: markup("finished", map[string]any{"F": r.Finished, "At": atOf(l)})},
	}
	if used.Runs > 0 {
		parts = append(parts, part{ID: "usage", Title: "Used", Head: markup("usage", used)})
	}
	parts = append(parts, part{ID: "retrospective", Title: "Retrospective", Head: markup("retrospective", r)})
	return &page{Title: "Sprint", Nav: "Sprint", Parts: parts}, l.State.Err()
}
