package cli

import (
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/codec"
	"github.com/git-liza/git-liza/roles"
)

func showCommand() *command {
	return &command{
		name: "show", group: "human", args: "ID", min: 1, max: 1, reads: true,
		short: "a task as a story: what it is, and what happened to it; or any other record",
		long: `ID is a task, an agent, a note, an anomaly, a discovery or a spec change; or goal, sprint, config, control,
circuit_breaker. With --json the record is printed as git liza read has it.`,
		run: func(c *call) error {
			v, err := c.view()
			if err != nil {
				return err
			}
			id := c.args[0]
			path := recordCalled(v.State, id)
			if path == "" {
				t, err := v.State.FindTask(id)
				if err != nil {
					return err
				}
				if !c.json {
					return c.showTask(v, t)
				}
				path = "tasks." + t.ID
			}
			n, err := c.part(v, []string{path})
			if err != nil {
				return err
			}
			if c.json {
				return c.printNode(n)
			}
			lines, err := c.recordLines(c.page(), v, id, n)
			if err != nil {
				return err
			}
			return c.print(lines)
		},
	}
}

func (c *call) showTask(v *gitboard.View, t *board.Task) error {
	f, err := c.taskFacts(v, t)
	if err != nil {
		return err
	}
	return c.print(f.story(c.page()))
}

// recordCalled is the path of the record that an id names beside the tasks, "" for none.
func recordCalled(s *board.State, id string) string {
	if recordSingles[id] != "" {
		return id
	}
	if g := s.Goal(); g != nil && g.ID == id {
		return "goal"
	}
	if sp := s.Sprint(); sp != nil && sp.ID == id {
		return "sprint"
	}
	for _, key := range []string{"agents", "discovered", "human_notes", "anomalies", "spec_changes"} {
		if slices.Contains(s.List(recordFamilies[key]), id) {
			return key + "." + id
		}
	}
	return ""
}

// recordLines shows a record field by field; of an agent also what it has in hand.
func (c *call) recordLines(p page, v *gitboard.View, id string, n *yaml.Node) ([]string, error) {
	l := labels{page: p, names: 18, lines: []string{p.bold(p.fit(id, p.width)), ""}}
	for _, key := range codec.Keys(n) {
		value, err := codec.Lookup(n, []string{key})
		if err != nil {
			return nil, err
		}
		text, err := codec.Render(value)
		if err != nil {
			return nil, err
		}
		switch t, err := board.ParseTime(strings.TrimSpace(text)); {
		case key == "session":
			continue
		case err == nil && key == "lease_expires":
			text = string(t) + ", " + leaseLeft(c.app.Now(), t)
		case err == nil && c.at == "":
			text = string(t) + ", " + since(c.app.Now(), t) + " ago"
		}
		l.add(strings.ReplaceAll(key, "_", " "), text)
	}
	if _, err := roles.Of(id); err == nil {
		for _, b := range v.State.Tasks() {
			if !b.Status.Terminal() && slices.Contains([]string{b.AssignedTo, b.ReviewingBy, b.ApprovedBy}, id) {
				l.add("in hand", fmt.Sprintf("%s, %s", b.ID, b.Status))
			}
		}
	}
	return l.lines, v.State.Err()
}

// labels are texts behind their names, broken to a page's width.
type labels struct {
	page
	names int // the width of the names
	lines []string
}

// add appends a text under a name; nothing when there is none. A name that is too long has a line of its own.
func (l *labels) add(name, text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	if breadth(name) >= l.names {
		l.lines = append(l.lines, name)
		name = ""
	}
	for _, line := range wrap(strings.TrimRight(text, "\n"), l.width-l.names) {
		l.lines = append(l.lines, strings.TrimRight(pad(name, l.names)+line, " "))
		name = ""
	}
}
