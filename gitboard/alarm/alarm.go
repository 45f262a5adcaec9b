// Package alarm decides what a human must know (protocol section 10): which conditions a board
// meets at a given time, which of them to report now, and when time alone will change the answer.
//
// It is pure: the board, the leases and the time come in, and the reported conditions are passed
// from one evaluation to the next.
//
// It may import gitboard/board, gitboard/report and gitboard/text.
package alarm

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/text"
)

// Level is the urgency of an alarm.
type Level string

// The levels.
const (
	Warn  Level = "warn"
	Grave Level = "alarm"
)

// Facts are the input of the rules.
type Facts struct {
	State   *board.State
	Leases  map[string]board.Lease // by agent
	Halts   []report.Halt          // files that stop this clone
	Strays  []report.Stray         // commits on integration that the board has not recorded
	SetBack *report.SetBack        // nil if integration is where the board left it
	Handled map[string]string      // see report.Outside
	Now     board.Time
	Invalid string // why the tip does not replay or parse, "" if it does; otherwise no rule can be judged
}

// Alarm is a condition that is met.
type Alarm struct {
	Rule     string     `json:"rule"`
	Level    Level      `json:"level"`
	Line     string     `json:"line"`
	Task     string     `json:"task,omitempty"`
	Agent    string     `json:"agent,omitempty"`
	Since    board.Time `json:"since,omitempty"` // when the condition began, if the board shows it
	Do       board.Hint `json:"do"`              // an act to look closer or to continue
	Escalate bool       `json:"escalate,omitempty"`
}

// Reported is the reported conditions that are still met, by key. It is carried
// from one evaluation to the next.
type Reported map[string]Said

// Said is how far a condition has been reported: up to which step of its rule, and since when it
// was met. If it cleared and came back between two evaluations, Since differs.
type Said struct {
	Step  int        `json:"step"`
	Since board.Time `json:"since,omitempty"`
}

// Report is the result of an evaluation.
type Report struct {
	Met      []Alarm    // all conditions that are met, in the order of Rules
	News     []Alarm    // those to report now: new, worse, or back again
	Reported Reported   // for the next evaluation
	Next     board.Time // when time alone changes the answer next, "" for never
}

// Evaluate applies the rules to a board. It returns an error if a record could not be read.
func Evaluate(f Facts, reported Reported) (Report, error) {
	if f.State != nil {
		f.State = f.State.ForRules()
	}
	r := Report{Reported: Reported{}}
	if f.Invalid != "" {
		// Other conditions can't be judged now, but they may still be met.
		maps.Copy(r.Reported, reported)
	}
	e := newRuleInput(f)
	for i := range Rules {
		rule := &Rules[i]
		for _, s := range rule.find(e) {
			r.weigh(rule, s, f.Now, reported)
		}
	}
	if f.State == nil {
		return r, nil
	}
	return r, f.State.Err()
}

// weigh adds an alarm if a step of the rule is reached, and sets Next if time alone will reach a
// step.
func (r *Report) weigh(rule *Rule, s finding, now board.Time, reported Reported) {
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
	r.Met = append(r.Met, a)
	key := rule.Name + "/" + s.about
	if was, known := reported[key]; !known || was.Since != s.since || was.Step < reached {
		r.News = append(r.News, a)
	}
	r.Reported[key] = Said{reached, s.since}
}

func (rule *Rule) alarm(reached int, s finding, now board.Time) Alarm {
	step := rule.Steps[reached]
	words := []string{"{duration}", board.Span(now.Sub(s.since))}
	for name, value := range s.words {
		words = append(words, "{"+name+"}", text.Line(value, 300))
	}
	do := s.do
	if do.Text == "" {
		act := rule.Do
		act.On = slices.Clone(act.On)
		for i, on := range act.On {
			act.On[i] = cmp.Or(s.words[on], on)
		}
		do = act.Hint()
	}
	fill := strings.NewReplacer(words...)
	return Alarm{
		Rule: rule.Name, Level: step.Level, Line: fill.Replace(step.Line), Task: s.words["task"], Agent: s.words["agent"],
		Since: s.since, Do: do, Escalate: step.Escalate,
	}
}
