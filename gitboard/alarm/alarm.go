// Package alarm knows what a human must hear of (protocol section 10): which conditions a board meets at a
// moment, which of them are to be told now, and when time alone will change the answer.
//
// It is pure: the board, the leases and the clock's reading come in, and what was told goes from one look to
// the next.
//
// It may import gitboard/board, gitboard/plain, gitboard/report and gitboard/roles.
package alarm

import (
	"maps"
	"strings"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/plain"
	"github.com/git-liza/git-liza/gitboard/report"
)

// Level says how urgent an alarm is.
type Level string

// The levels.
const (
	Warn  Level = "warn"
	Grave Level = "alarm"
)

// Facts are what alarms are judged by.
type Facts struct {
	State   *board.State
	Leases  map[string]board.Lease // by agent
	Halts   []report.Halt          // by files of this clone
	Strays  []report.Stray         // what came to integration past the board
	Now     board.Time
	Invalid string // why the tip does not replay or parse, "" when it does; nothing else can be judged then
}

// Alarm is a condition that stands.
type Alarm struct {
	Rule     string     `json:"rule"`
	Level    Level      `json:"level"`
	Line     string     `json:"line"`
	Task     string     `json:"task,omitempty"`
	Agent    string     `json:"agent,omitempty"`
	Since    board.Time `json:"since,omitempty"` // when the condition began, where the board tells
	Do       string     `json:"do"`              // a command that looks closer or goes on
	Escalate bool       `json:"escalate,omitempty"`
}

// Told is what has been told of the conditions that still stand, by their keys. It is carried from one look
// to the next.
type Told map[string]Said

// Said is how far a condition has been told: up to which step of its rule, and of which beginning. A condition
// that cleared and came back between two looks has another beginning.
type Said struct {
	Step  int        `json:"step"`
	Since board.Time `json:"since,omitempty"`
}

// Report is the answer of a look.
type Report struct {
	Standing []Alarm    // every condition that stands, in the order of the table
	News     []Alarm    // those of them that are to be told now: new, worse, or back
	Told     Told       // for the next look
	Next     board.Time // when time alone changes the answer next; none: never
}

// Evaluate judges a board. An error is a record that couldn't be read.
func Evaluate(f Facts, told Told) (Report, error) {
	if f.State != nil {
		f.State = f.State.ForRules()
	}
	r := Report{Told: Told{}}
	if f.Invalid != "" {
		// What else stands can't be seen now; it isn't over.
		maps.Copy(r.Told, told)
	}
	e := newRuleInput(f)
	for i := range Rules {
		rule := &Rules[i]
		for _, s := range rule.find(e) {
			r.weigh(rule, s, f.Now, told)
		}
	}
	if f.State == nil {
		return r, nil
	}
	return r, f.State.Err()
}

// weigh takes in what a rule has seen: as an alarm when a step of the rule is reached, and as a moment to look
// again when time will reach the next.
func (r *Report) weigh(rule *Rule, s sight, now board.Time, told Told) {
	reached := -1
	for i, step := range rule.Steps {
		due := s.since
		if step.After > 0 {
			due = s.since.Add(step.After)
		}
		switch {
		case s.n < step.Least:
		case due <= now:
			reached = i
		case r.Next == "" || due < r.Next:
			r.Next = due
		}
	}
	if reached < 0 {
		return
	}
	a := rule.alarm(reached, s, now)
	r.Standing = append(r.Standing, a)
	key := rule.Name + "/" + s.about
	if was, known := told[key]; !known || was.Since != s.since || was.Step < reached {
		r.News = append(r.News, a)
	}
	r.Told[key] = Said{reached, s.since}
}

func (rule *Rule) alarm(reached int, s sight, now board.Time) Alarm {
	step := rule.Steps[reached]
	words := []string{"{duration}", board.Span(now.Sub(s.since))}
	for name, value := range s.words {
		words = append(words, "{"+name+"}", plain.Line(value, 300))
	}
	do := rule.Do
	if s.do != "" {
		do = s.do
	}
	fill := strings.NewReplacer(words...)
	return Alarm{
		Rule: rule.Name, Level: step.Level, Line: fill.Replace(step.Line), Task: s.words["task"], Agent: s.words["agent"],
		Since: s.since, Do: fill.Replace(do), Escalate: step.Escalate,
	}
}
