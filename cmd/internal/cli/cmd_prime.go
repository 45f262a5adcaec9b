package cli

import (
	"fmt"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/roles"
	"github.com/git-liza/git-liza/roles/prompt"
)

func primeCommand() *command {
	return &command{
		name: "prime", group: "any agent", max: 0,
		short: "for whoever wakes with no memory: who am I, what is mine, what comes next",
		run: func(c *call) error {
			v, err := c.view()
			if err != nil {
				return err
			}
			p, err := c.prime(v.State)
			if err != nil {
				return err
			}
			if c.json {
				return c.printJSON(p)
			}
			return c.say(p.lines()...)
		},
	}
}

// primer is what prime says.
type primer struct {
	Agent  string     `json:"agent"`
	Role   roles.Role `json:"role"`
	Mode   board.Mode `json:"mode"`
	Goal   string     `json:"goal"`
	Task   string     `json:"task,omitempty"`
	Status string     `json:"status,omitempty"`
	Next   []string   `json:"next"`
	Notes  []string   `json:"notes"`
	Docs   []string   `json:"docs"`
}

func (c *call) prime(s *board.State) (*primer, error) {
	id := c.agentID()
	p := &primer{Agent: roles.HumanID, Role: roles.Human, Mode: s.Control().Mode, Goal: board.Line(s.Goal().Description, 300),
		Next: []string{}, Docs: []string{"agent-runtime", "roles", "task-lifecycle"}}
	if id != "" {
		role, err := roles.Of(id)
		if err != nil {
			return nil, board.Refuse("invalid", "LIZA_AGENT_ID: "+err.Error(), "")
		}
		p.Agent, p.Role = id, role
	}
	t := taskOf(s, id)
	if t != nil {
		p.Task, p.Status = t.ID, string(t.Status)
	}
	p.Next = prompt.Next(p.Role, t, c.supervised())
	switch {
	case p.Role == roles.Human:
	case p.Mode == board.Aborted:
		p.Next = []string{"nothing: the run is over"}
	case t == nil && p.Mode != board.Running && p.Role != roles.Planner:
		p.Next = []string{"wait: claims begin again when a human resumes"}
	}
	p.Notes = noteLines(s.NotesFor(p.Task, p.Agent, string(p.Role)))
	return p, s.Err()
}

// taskOf is the task that an agent works on or reviews, else the one that comes back to it; nil for none.
func taskOf(s *board.State, id string) *board.Task {
	next := ""
	for _, b := range s.Tasks() {
		switch {
		case id == "":
		case b.Holds(id), b.ReviewingBy == id:
			return s.Task(b.ID)
		case next == "" && (b.AssignedTo == id && b.Status == board.Rejected || b.ApprovedBy == id && b.Status == board.Approved):
			next = b.ID
		}
	}
	if next == "" {
		return nil
	}
	return s.Task(next)
}

func (p *primer) lines() []string {
	lines := []string{fmt.Sprintf("You are %s (%s). The board is %s.", p.Agent, p.Role, p.Mode), "Goal: " + p.Goal}
	if p.Task != "" {
		lines = append(lines, fmt.Sprintf("Your task: %s, %s.", p.Task, p.Status))
	} else if p.Role != roles.Planner && p.Role != roles.Human {
		lines = append(lines, "You have no task.")
	}
	lines = append(lines, "", "Next:")
	lines = append(lines, prefixed("  ", p.Next)...)
	if len(p.Notes) > 0 {
		lines = append(lines, "", "Notes:")
		lines = append(lines, prefixed("  ", p.Notes)...)
	}
	lines = append(lines, "", "Read before you act:")
	for _, d := range p.Docs {
		lines = append(lines, "  git liza docs "+d)
	}
	return lines
}
