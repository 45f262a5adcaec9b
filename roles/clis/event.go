package clis

import (
	"strconv"
	"strings"
	"time"
)

// Kind is what an event is about.
type Kind string

// The kinds of events. An event of a kind that a CLI adds later is Other.
const (
	Began  Kind = "began"  // the CLI says which session and model it works with
	Said   Kind = "said"   // a text of the model
	Called Kind = "called" // a tool was called
	Result Kind = "result" // a tool has answered
	Spent  Kind = "spent"  // a request was answered: Usage is that request's alone
	Waits  Kind = "waits"  // the CLI itself tries again, for the Fault
	Failed Kind = "failed" // the run comes to nothing, for the Fault
	Ended  Kind = "ended"  // the turn is over: Usage is the whole run's
	Plain  Kind = "plain"  // a line that is not an event
	Other  Kind = "other"  // an event that says nothing here
)

// Event is something that a CLI has told while it ran.
type Event struct {
	Kind    Kind
	Text    string // what was said, called, answered or went wrong
	Session string // of Began: by which the CLI finds the conversation again
	Usage   Usage
	Fault   *Fault
}

// Usage is what requests to a model have cost. Input counts the cached tokens, too.
type Usage struct {
	Model                           string
	Requests, Input, Cached, Output int
	Dollars                         float64 // as the CLI reports it; 0 where it reports none, as with a subscription
}

// Add adds the usage of further requests.
func (u *Usage) Add(v Usage) {
	u.Requests, u.Input, u.Cached, u.Output = u.Requests+v.Requests, u.Input+v.Input, u.Cached+v.Cached, u.Output+v.Output
	u.Dollars += v.Dollars
	if v.Model != "" {
		u.Model = v.Model
	}
}

// Tokens are all of them.
func (u Usage) Tokens() int { return u.Input + u.Output }

// Trouble is a sort of failure: what a supervisor does about it depends on nothing else.
type Trouble string

// The sorts of failures.
const (
	Limit    Trouble = "limit"    // a quota, a rate limit, an overloaded service: it passes
	Setup    Trouble = "setup"    // a missing login, a wrong key, an unknown model: it stays until a human acts
	Shell    Trouble = "shell"    // its tools do not find git liza: it stays until a human acts
	Overflow Trouble = "overflow" // the conversation is too long for the model: a new one is not
	Unknown  Trouble = "unknown"
)

// Fault is why a run came to nothing.
type Fault struct {
	Trouble Trouble
	Text    string    // in the CLI's words
	Until   time.Time // when a limit ends; zero when nobody says
}

// Line is the event as a log shows it, in one or several lines; "" when there is nothing to show.
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

// clipped leaves out the middle of a long text.
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
