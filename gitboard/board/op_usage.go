package board

import (
	"fmt"
	"slices"
	"time"

	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/text"
)

// Usage records the cost of an agent's run, as its CLI reported it. A run on a task is added to the
// task, any other to the sprint. If it uses up a budget, the same commit blocks the task or, once
// no goal may spend more, pauses the board.
type Usage struct {
	Task      string `json:"task,omitempty"`
	Goal      string `json:"goal,omitempty"` // of a planner's run; a run on a task has the task's
	Iteration int    `json:"iteration,omitempty"`
	CLI       string `json:"cli"`
	Model     string `json:"model,omitempty"`
	Cost      Cost   `json:"cost"`

	// Estimated means that the CLI was ended before it reported its usage: the tokens are estimated
	// from its output.
	Estimated bool `json:"estimated,omitempty"`
}

// Cost is the cost of runs. Input includes cached tokens. MicroDollars are millionths of a dollar
// as reported by CLIs; 0 if none reported any, as with a subscription.
type Cost struct {
	Requests     int `yaml:"requests,omitempty" json:"requests,omitempty"`
	Input        int `yaml:"input_tokens,omitempty" json:"input_tokens,omitempty"`
	Cached       int `yaml:"cached_tokens,omitempty" json:"cached_tokens,omitempty"`
	Output       int `yaml:"output_tokens,omitempty" json:"output_tokens,omitempty"`
	Seconds      int `yaml:"seconds,omitempty" json:"seconds,omitempty"`
	MicroDollars int `yaml:"micro_dollars,omitempty" json:"micro_dollars,omitempty"`
}

// Add adds d to c.
func (c *Cost) Add(d Cost) {
	c.Requests, c.Input, c.Cached, c.Output = c.Requests+d.Requests, c.Input+d.Input, c.Cached+d.Cached, c.Output+d.Output
	c.Seconds, c.MicroDollars = c.Seconds+d.Seconds, c.MicroDollars+d.MicroDollars
}

// Tokens is the total number of tokens, including cached ones.
func (c Cost) Tokens() int { return c.Input + c.Output }

// Spending is the cost of all runs of a role with a model, on a task or in a sprint.
type Spending struct {
	Role  roles.Role `yaml:"role" json:"role"`
	Model string     `yaml:"model,omitempty" json:"model,omitempty"`
	Runs  int        `yaml:"runs" json:"runs"`
	Cost  Cost       `yaml:"cost" json:"cost"`

	// The part of it used in iterations after the first: the price of rejections.
	ReworkTokens  int `yaml:"rework_tokens,omitempty" json:"rework_tokens,omitempty"`
	ReworkSeconds int `yaml:"rework_seconds,omitempty" json:"rework_seconds,omitempty"`

	Unreported string `yaml:"unreported,omitempty" json:"unreported,omitempty"` // the CLI of a run without a report of tokens
}

// Unreported is a CLI that has reported no tokens, "" for none.
func Unreported(lines []Spending) string {
	for _, l := range lines {
		if l.Unreported != "" {
			return l.Unreported
		}
	}
	return ""
}

// MaxUsage limits each number of a run's cost, and MaxModel the name of its model, in bytes.
const (
	MaxUsage = 1 << 40
	MaxModel = 200
)

// Op implements Payload.
func (p *Usage) Op() string { return "usage" }

// TaskID implements TaskPayload.
func (p *Usage) TaskID() string { return p.Task }

// Check implements Payload.
func (p *Usage) Check(s *State, op Operation) error {
	if err := s.knownGoal(p.Goal); err != nil {
		return err
	}
	if err := required("cli", p.CLI); err != nil {
		return err
	}
	if len(p.CLI) > 100 || len(p.Model) > MaxModel || text.Line(p.Model, MaxModel) != p.Model {
		return invalid("the names of CLI and model are one line each, of 100 and 200 bytes at most")
	}
	c := p.Cost
	for _, n := range []int{p.Iteration, c.Requests, c.Input, c.Cached, c.Output, c.Seconds, c.MicroDollars} {
		if n < 0 || n > MaxUsage {
			return invalid("%d is not what a run can have cost", n)
		}
	}
	if c.Cached > c.Input {
		return invalid("%d tokens from a cache are more than all %d", c.Cached, c.Input)
	}
	t, by := s.Task(p.Task), op.Actor
	switch {
	case t != nil && t.heldSince(by.ID) == "":
		return refuse(CodePermission, "%s does not hold %s, and its usage is reported by its holder", by.ID, t.ID).on(t)
	case t == nil && by.Role != roles.Planner && s.Team().PlanReviewer() != roles.NameOf(by.ID):
		return refuse(CodePermission, "%s plans nothing, and its usage names the task that it worked on", by.ID)
	}
	if most, longest := c.within(p.couldRun(s, by.ID, op.Time)); most != c {
		return invalid("a run of %d s with %d tokens costs more than is possible in the %s since it could begin", c.Seconds, c.Tokens(), Span(longest))
	}
	return nil
}

// maxTokenRate is how many tokens of input, and of output, a run can use a second, with all its
// parallel requests.
const maxTokenRate = 100_000

// couldRun is how long a run of an agent can have lasted: since its claim, or else its registration.
func (p *Usage) couldRun(s *State, agent string, now Time) time.Duration {
	since := now
	if t := s.Task(p.Task); t != nil {
		since = t.heldSince(agent)
	} else if a := s.Agent(agent); a != nil {
		since = a.RegisteredAt
	}
	return now.Sub(since) + ClockSlack
}

// within returns the cost, cut to the cost that is possible in a time, and that time.
func (c Cost) within(most time.Duration) (Cost, time.Duration) {
	seconds := int(max(0, most) / time.Second)
	c.Seconds = min(c.Seconds, seconds)
	c.Input, c.Output = min(c.Input, maxTokenRate*seconds), min(c.Output, maxTokenRate*seconds)
	c.Cached = min(c.Cached, c.Input)
	return c, most
}

// Bound cuts the cost to the cost that Check accepts of an agent at a time: agents write the output
// from which it was read.
func (p *Usage) Bound(s *State, agent string, now Time) {
	p.Cost, _ = p.Cost.within(p.couldRun(s, agent, now))
}

// heldSince is when an agent took the task in hand that is its last coder or reviewer, "" for any
// other agent.
func (t *Task) heldSince(agent string) (since Time) {
	coder, reviewer := Event{}, Event{}
	for _, e := range t.History {
		switch {
		case claimEvents[e.Event]:
			coder = e
		case e.Event == EventReviewClaimed:
			reviewer = e
		}
	}
	for _, e := range []Event{reviewer, coder} {
		if e.Agent == agent {
			since = e.Time
		}
	}
	return since
}

// Apply implements Payload.
func (p *Usage) Apply(s *State, op Operation) {
	sp := editSingle[Sprint](s, SprintPath)
	sp.Tokens += p.Cost.Tokens()
	if p.Cost.Tokens() == 0 {
		sp.Unreported = p.CLI
	}
	if p.Task != "" {
		t := s.editTask(p.Task)
		t.Usage = spend(t.Usage, p, op)
		blockSpent(s, t, p, op)
	} else {
		sp.Usage = spend(sp.Usage, p, op)
	}
	if g := p.goal(s); g != "" {
		edit[Goal](s, GoalPath(g)).Tokens += p.Cost.Tokens()
	}
	if b := spentBudget(s); b != nil && s.Control().Mode == Running {
		setMode(s, Paused, op, string(roles.System), b.String())
	}
}

// goal returns the goal of the run, "" if unknown.
func (p *Usage) goal(s *State) string {
	if t := s.Task(p.Task); t != nil && s.Goal(t.Goal) != nil {
		return t.Goal
	}
	if g := s.TheGoal(); p.Goal == "" && g != nil {
		return g.ID
	}
	return p.Goal
}

// spend adds a run to the entry of its role and model.
func spend(lines []Spending, p *Usage, op Operation) []Spending {
	all := slices.Clone(lines)
	i := slices.IndexFunc(all, func(l Spending) bool { return l.Role == op.Actor.Role && l.Model == p.Model })
	if i < 0 {
		i, all = len(all), append(all, Spending{Role: op.Actor.Role, Model: p.Model})
	}
	l := &all[i]
	l.Runs++
	l.Cost.Add(p.Cost)
	if p.Cost.Tokens() == 0 {
		l.Unreported = p.CLI
	}
	if p.Iteration > 1 {
		l.ReworkTokens += p.Cost.Tokens()
		l.ReworkSeconds += p.Cost.Seconds
	}
	return all
}

// Subject implements Payload.
func (p *Usage) Subject(_, _ *State, _ Operation) (string, string) {
	on := "planning"
	if p.Task != "" {
		on = p.Task
	}
	if p.Cost.Tokens() == 0 {
		return fmt.Sprintf("%s, tokens %s, %d s", on, Unknown(p.CLI), p.Cost.Seconds), ""
	}
	about := ""
	if p.Estimated {
		about = "about "
	}
	return fmt.Sprintf("%s, %s%d tokens in (%d cached), %d out, %d s", on, about, p.Cost.Input, p.Cost.Cached, p.Cost.Output, p.Cost.Seconds), ""
}
