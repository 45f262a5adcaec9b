package clis

import (
	"strconv"
	"strings"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
)

// Kind is the kind of an event.
type Kind string

// The kinds of events. Kinds that a CLI adds later are Other.
const (
	Began  Kind = "began"  // the CLI reports its session and model
	Said   Kind = "said"   // text by the model
	Called Kind = "called" // a tool was called
	Result Kind = "result" // a tool has answered
	Spent  Kind = "spent"  // a request was answered; Usage is for that request alone
	Waits  Kind = "waits"  // the CLI itself retries because of the Fault
	Failed Kind = "failed" // the run failed because of the Fault
	Ended  Kind = "ended"  // the turn ended; Usage is for the whole run
	Plain  Kind = "plain"  // a line that is not an event
	Other  Kind = "other"  // any other event
)

// Event is something that a CLI reported while it ran.
type Event struct {
	Kind    Kind
	Text    string // of a message, call, answer or failure
	Session string // of Began: the CLI's own id of the conversation
	Usage   Usage
	Fault   *Fault
}

// Usage is the cost of requests to a model. Input includes cached tokens.
type Usage struct {
	Model                           string
	Requests, Input, Cached, Output int
	Dollars                         float64 // as reported; 0 if not, as with a subscription
}

// Add adds the usage of further requests.
func (u *Usage) Add(v Usage) {
	u.Requests, u.Input, u.Cached, u.Output = u.Requests+v.Requests, u.Input+v.Input, u.Cached+v.Cached, u.Output+v.Output
	u.Dollars += v.Dollars
	if v.Model != "" {
		u.Model = v.Model
	}
	*u = u.bounded()
}

// bounded is the usage without figures that no run can have: an agent can print what it likes, and
// its output must neither lower its usage nor keep that off the board.
func (u Usage) bounded() Usage {
	u.Requests, u.Input, u.Cached, u.Output = bounded(u.Requests), bounded(u.Input), bounded(u.Cached), bounded(u.Output)
	u.Dollars = min(max(u.Dollars, 0), board.MaxUsage/1e6)
	return u
}

func bounded(n int) int { return min(max(n, 0), board.MaxUsage) }

// Tokens is the number of all tokens.
func (u Usage) Tokens() int { return u.Input + u.Output }

// Trouble classifies a failure; what a supervisor does about it depends only on this.
type Trouble string

// The classes of failures.
const (
	Limit    Trouble = "limit"    // a quota, a rate limit or an overloaded service; it passes
	Setup    Trouble = "setup"    // a missing login, wrong key or unknown model; a human must act
	Shell    Trouble = "shell"    // its tools can't find git liza; a human must act
	Overflow Trouble = "overflow" // the conversation is too long for the model; a new one is not
	Outage   Trouble = "outage"   // the service can't be reached; it passes
	Unknown  Trouble = "unknown"
)

// Fault is why a run failed.
type Fault struct {
	Trouble Trouble
	Text    string    // in the CLI's words
	Until   time.Time // when a limit ends, zero if unknown
}

// Line is the event as a log shows it, on one or more lines; "" if there is nothing to show.
func (e Event) Line() string {
	switch e.Kind {
	case Said, Plain:
		return e.Text
	case Called:
		return "$ " + clipped(e.Text, 400)
	case Result:
		return indented(clipped(e.Text, 1200))
	case Waits:
		return "… " + clipped(e.Text, 300)
	case Failed:
		return "! " + clipped(e.Text, 600)
	}
	return ""
}

// clipped cuts the middle out of a long text.
func clipped(text string, most int) string {
	text = strings.TrimSpace(text)
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most*2/3], "") + "\n… (" + strconv.Itoa(len(text)-most) + " bytes left out) …\n" + strings.ToValidUTF8(text[len(text)-most/3:], "")
}

func indented(text string) string {
	if text == "" {
		return ""
	}
	return "  " + strings.ReplaceAll(text, "\n", "\n  ")
}
