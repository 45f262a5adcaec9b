package web

import (
	"html/template"
	"strings"

	"github.com/git-liza/git-liza/gitboard/cmdline"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/roles"
)

// item is an entry of the inbox and the form that answers it.
type item struct {
	report.Item
	Acts bool
}

// Key identifies the item. Agents are missing by role, and the command that starts one names it.
func (i item) Key() string {
	if i.Kind == report.ItemNoAgent {
		return string(i.Kind) + " " + cmdline.Hint(i.Do[0].Do)
	}
	return string(i.Kind) + " " + i.ID
}

// forms are the templates that answer the kinds of items; other kinds only show their commands.
var forms = map[report.ItemKind]string{
	report.ItemBlocked: "blocked", report.ItemStopped: "resume", report.ItemPaused: "resume-task", report.ItemBreaker: "resolve", report.ItemReserved: "reserved",
	report.ItemQuestion: "question", report.ItemAmbiguity: "ambiguity", report.ItemDrafts: "finalize", report.ItemGoalOver: "goal-complete", report.ItemReview: "review",
	report.ItemAhead: "ahead", report.ItemDiscovery: "discovery", report.ItemAgentGone: "agent-gone",
}

// Form is the template of the item's form, "" for none.
func (i item) Form() string {
	if i.Lost != "" {
		return "lost"
	}
	return forms[i.Kind]
}

// Planners reports whether a planner looks at it first.
func (i item) Planners() bool { return i.Turn == roles.Planner }

// About is the page of the item's subject, "" for none.
func (i item) About() string {
	switch i.Kind {
	case report.ItemBlocked, report.ItemPaused, report.ItemReserved, report.ItemReview, report.ItemEndedGoal:
		return "/task/" + i.ID
	case report.ItemAgentGone:
		return "/agent/" + i.ID
	}
	return ""
}

// Heading is the item's title, without a blocked task's reason, which is shown in full below.
func (i item) Heading() string {
	if i.Kind == report.ItemBlocked {
		return i.ID + " is BLOCKED"
	}
	if i.Text != "" {
		title, _, _ := strings.Cut(i.Title, ": ")
		return title
	}
	return i.Title
}

// inbox is everything that waits for the human, with the forms to answer it.
func (s *Server) inbox(l *look) part {
	p := part{ID: "inbox", Class: "inbox", OffBoard: true, Empty: "Nothing waits for you."}
	title := "Waits for you"
	if len(l.inbox.Items) > 0 && waiting(l.inbox) == 0 {
		title = "A planner looks at these first"
	}
	p.Head = template.HTML(`<h2 id="h-inbox">` + title + `</h2>`)
	for _, i := range l.inbox.Items {
		p.Rows = append(p.Rows, inboxRow(item{i, s.Do != nil && !l.past}))
	}
	return p
}

func inboxRow(i item) row { return row{i.Key(), markup("inbox-row", i)} }

// waiting is the number of items for the human.
func waiting(in *report.Inbox) int {
	n := 0
	for _, i := range in.Items {
		if i.Turn != roles.Planner {
			n++
		}
	}
	return n
}
