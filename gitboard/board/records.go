package board

import (
	"cmp"
	"fmt"

	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/text"
)

// Format is the epoch of boards that this program writes. It refuses a board of a later epoch.
const Format = 1

// Meta is board.yaml: the board's format and creation.
type Meta struct {
	Format  int    `yaml:"format"`
	Created Time   `yaml:"created"`
	Landed  string `yaml:"landed,omitempty"` // where the last landing left integration
	Extra   any    `yaml:"extra,omitempty"`
}

// Goal is goals/<id>.yaml: what tasks are for. Several goals may be worked on at the same time.
type Goal struct {
	ID               string       `yaml:"id"`
	Description      string       `yaml:"description"`
	Vision           string       `yaml:"vision,omitempty"` // why it is wanted
	SpecRef          string       `yaml:"spec_ref,omitempty"`
	Priority         int          `yaml:"priority"`
	After            string       `yaml:"after,omitempty"` // it waits until this goal ends
	Created          Time         `yaml:"created"`
	Status           Phase        `yaml:"status"`
	Ended            Time         `yaml:"ended,omitempty"`
	EndedBy          string       `yaml:"ended_by,omitempty"`
	Reopened         Time         `yaml:"reopened,omitempty"`
	AlignmentHistory []Alignment  `yaml:"alignment_history"`
	Archived         int          `yaml:"archived,omitempty"` // the number of its archived tasks
	Tokens           int          `yaml:"tokens,omitempty"`   // of all runs
	PullRequest      *PullRequest `yaml:"pull_request,omitempty"`
	Issue            *Issue       `yaml:"issue,omitempty"` // that it was made of
	Extra            any          `yaml:"extra,omitempty"`
}

// UsualSpec is the specification of a goal that names none.
const UsualSpec = "specs/vision.md"

// Spec is the goal's specification, a path that may have an anchor.
func (g *Goal) Spec() string { return cmp.Or(g.SpecRef, UsualSpec) }

// Alignment is one line about how the plan moved, and why.
type Alignment struct {
	Timestamp Time   `yaml:"timestamp" json:"timestamp"`
	Event     string `yaml:"event" json:"event"`
	Summary   string `yaml:"summary" json:"summary"`
}

// Sprint is sprint.yaml.
type Sprint struct {
	ID            string      `yaml:"id"`
	Scope         SprintScope `yaml:"scope"`
	Timeline      Timeline    `yaml:"timeline"`
	Status        Phase       `yaml:"status"`
	Retrospective string      `yaml:"retrospective,omitempty"`
	Usage         []Spending  `yaml:"usage,omitempty"`      // of runs not on a task
	Tokens        int         `yaml:"tokens,omitempty"`     // of all runs since it started
	Unreported    string      `yaml:"unreported,omitempty"` // a CLI that reported no tokens of a run
	Extra         any         `yaml:"extra,omitempty"`
}

// SprintScope names the tasks of a sprint.
type SprintScope struct {
	Planned []string `yaml:"planned"`
	Stretch []string `yaml:"stretch"`
}

// Timeline holds the times of a sprint.
type Timeline struct {
	Started      Time `yaml:"started" json:"started"`
	Deadline     Time `yaml:"deadline,omitempty" json:"deadline,omitempty"`
	CheckpointAt Time `yaml:"checkpoint_at,omitempty" json:"checkpoint_at,omitempty"`
	Ended        Time `yaml:"ended,omitempty" json:"ended,omitempty"`
}

// Control is control.yaml: whether work may continue.
type Control struct {
	Mode   Mode   `yaml:"mode"`
	Since  Time   `yaml:"since"`
	By     string `yaml:"by"`
	Reason string `yaml:"reason,omitempty"`
	Extra  any    `yaml:"extra,omitempty"`
}

// Breaker is breaker.yaml: the circuit breaker.
type Breaker struct {
	LastCheck      Time          `yaml:"last_check,omitempty"`
	Status         string        `yaml:"status"`
	CurrentTrigger *Trigger      `yaml:"current_trigger,omitempty"`
	History        []BreakerPast `yaml:"history,omitempty"`
	Extra          any           `yaml:"extra,omitempty"`
}

// The states of the breaker.
const (
	BreakerOK        = "OK"
	BreakerTriggered = "TRIGGERED"
)

// trigger is why the breaker tripped; empty if the board lacks it, which validate reports.
func (b *Breaker) trigger() Trigger {
	if b.CurrentTrigger == nil {
		return Trigger{}
	}
	return *b.CurrentTrigger
}

// Trigger is the reason why the breaker tripped.
type Trigger struct {
	Timestamp  Time   `yaml:"timestamp" json:"timestamp"`
	Pattern    string `yaml:"pattern" json:"pattern"`
	Severity   string `yaml:"severity" json:"severity"`
	ReportFile string `yaml:"report_file,omitempty" json:"report_file,omitempty"`
}

// BreakerPast is a past trigger and how a human resolved it.
type BreakerPast struct {
	Timestamp  Time   `yaml:"timestamp"`
	Pattern    string `yaml:"pattern"`
	Severity   string `yaml:"severity"`
	Result     string `yaml:"result"`
	Resolution string `yaml:"resolution,omitempty"`
	ResolvedAt Time   `yaml:"resolved_at,omitempty"`
	Through    string `yaml:"through,omitempty"` // the last anomaly that the resolution covers; "" where imported
}

// Agent is agents/<id>.yaml: one process that acts under an id.
type Agent struct {
	Role            roles.Role  `yaml:"role"`
	Status          AgentStatus `yaml:"status"`
	CurrentTask     string      `yaml:"current_task,omitempty"`
	Goal            string      `yaml:"goal,omitempty"` // the goal that a planner plans
	Session         string      `yaml:"session"`
	Clone           string      `yaml:"clone,omitempty"`
	Terminal        string      `yaml:"terminal,omitempty"`
	Host            string      `yaml:"host,omitempty"`
	PID             int         `yaml:"pid,omitempty"`
	CLI             string      `yaml:"cli,omitempty"`   // its program, by its own account
	Model           string      `yaml:"model,omitempty"` // likewise
	IterationsTotal int         `yaml:"iterations_total"`
	ContextPercent  int         `yaml:"context_percent,omitempty"`
	WaitingFor      string      `yaml:"waiting_for,omitempty"`
	RegisteredAt    Time        `yaml:"registered_at"`
	Extra           any         `yaml:"extra,omitempty"`
}

// ByHand reports whether the agent was registered by a command, and not by a supervisor.
func (a *Agent) ByHand() bool { return a.PID == 0 }

// Discovery is a record of discovered/: an adjacent problem that an agent or a human found.
type Discovery struct {
	ID              string      `yaml:"id"`
	By              string      `yaml:"by"`
	During          string      `yaml:"during,omitempty"`
	Goal            string      `yaml:"goal,omitempty"` // if it names no task
	Description     string      `yaml:"description"`
	Severity        string      `yaml:"severity"`
	Urgency         string      `yaml:"urgency"`
	Recommendation  string      `yaml:"recommendation,omitempty"`
	Created         Time        `yaml:"created"`
	ConvertedToTask string      `yaml:"converted_to_task,omitempty"`
	Settled         *Settlement `yaml:"settled,omitempty"`
	Extra           any         `yaml:"extra,omitempty"`
}

// Settlement is how a discovery was deferred or rejected.
type Settlement struct {
	By     string `yaml:"by"`
	How    string `yaml:"how"`
	Reason string `yaml:"reason"`
}

// Open reports whether the discovery is still undecided.
func (d *Discovery) Open() bool { return d.ConvertedToTask == "" && d.Settled == nil }

// Outcome describes how the discovery was settled, with its own text.
func (d *Discovery) Outcome() string {
	switch what := text.Line(d.Description, 160); {
	case d.ConvertedToTask != "":
		return fmt.Sprintf("%s became %s: %s", d.ID, d.ConvertedToTask, what)
	case d.Settled != nil:
		return fmt.Sprintf("%s was %s: %s; because: %s", d.ID, d.Settled.How, what, text.Line(d.Settled.Reason, 160))
	default:
		return d.ID + " is open: " + what
	}
}

// Pressing reports whether the discovery can't wait and is still undecided.
func (d *Discovery) Pressing() bool { return d.Urgency == "immediate" && d.Open() }

// Handoff is handoff/<task>.yaml: what a coder or a reviewer leaves to its successor.
type Handoff struct {
	Agent         string   `yaml:"agent"`
	ContextUsed   string   `yaml:"context_used,omitempty"`
	Timestamp     Time     `yaml:"timestamp"`
	Summary       string   `yaml:"summary"`
	NextAction    string   `yaml:"next_action"`
	Approach      string   `yaml:"approach,omitempty"`
	Blockers      string   `yaml:"blockers,omitempty"`
	FilesModified []string `yaml:"files_modified,omitempty"`
	NextSteps     []string `yaml:"next_steps,omitempty"`
	Extra         any      `yaml:"extra,omitempty"`
}

// Note is a record of notes/: a message from a human, or from a planner to the human.
type Note struct {
	ID             string   `yaml:"id"`
	Timestamp      Time     `yaml:"timestamp"`
	By             string   `yaml:"by"`
	Message        string   `yaml:"message"`
	For            string   `yaml:"for,omitempty"`
	Goal           string   `yaml:"goal,omitempty"` // "" for all goals being worked on
	Answer         string   `yaml:"answer,omitempty"`
	AnsweredBy     string   `yaml:"answered_by,omitempty"`
	AnsweredAt     Time     `yaml:"answered_at,omitempty"`
	AcknowledgedBy string   `yaml:"acknowledged_by,omitempty"`
	AcknowledgedAt Time     `yaml:"acknowledged_at,omitempty"`
	Source         string   `yaml:"source,omitempty"`  // of feedback from a host: "review:17"
	Author         string   `yaml:"author,omitempty"`  // of feedback, an account of the host
	Run            Ask      `yaml:"run,omitempty"`     // see AddNote
	ReadBy         []string `yaml:"read_by,omitempty"` // agents that it was shown to
	Extra          any      `yaml:"extra,omitempty"`
}

// Anomaly is a record of anomalies/: an unexpected event.
type Anomaly struct {
	ID             string            `yaml:"id"`
	Timestamp      Time              `yaml:"timestamp"`
	Task           string            `yaml:"task,omitempty"`
	Goal           string            `yaml:"goal,omitempty"` // if it names no task
	Reporter       string            `yaml:"reporter"`
	Type           string            `yaml:"type"`
	Details        map[string]Scalar `yaml:"details,omitempty"`
	AcknowledgedBy string            `yaml:"acknowledged_by,omitempty"`
	AcknowledgedAt Time              `yaml:"acknowledged_at,omitempty"`
	Extra          any               `yaml:"extra,omitempty"`
}

// SpecChange is a record of spec-changes/.
type SpecChange struct {
	ID          string `yaml:"id" json:"id"`
	Timestamp   Time   `yaml:"timestamp" json:"timestamp"`
	By          string `yaml:"by" json:"by"`
	Spec        string `yaml:"spec" json:"spec"`
	Change      string `yaml:"change" json:"change"`
	TriggeredBy string `yaml:"triggered_by,omitempty" json:"triggered_by,omitempty"`
	Goal        string `yaml:"goal,omitempty" json:"goal,omitempty"` // if it names no task

	AcknowledgedBy string `yaml:"acknowledged_by,omitempty" json:"acknowledged_by,omitempty"`
	AcknowledgedAt Time   `yaml:"acknowledged_at,omitempty" json:"acknowledged_at,omitempty"`
	Extra          any    `yaml:"extra,omitempty" json:"-"`
}
