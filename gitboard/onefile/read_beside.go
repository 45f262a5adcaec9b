package onefile

import (
	"cmp"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/text"
)

// numbered reads a section whose records have numbers, and gives a number to those without an id.
func numbered[T any](r *reader, section, dir, prefix string, n *yaml.Node, names map[string]string, set func(id string, record *T)) {
	ids, items := r.entries(section, n)
	last := 0
	for _, id := range ids {
		last = max(last, number(id))
	}
	used := map[string]bool{}
	for i, item := range items {
		id := ids[i]
		if id == "" {
			last++
			id = prefix + "-" + strconv.Itoa(last)
		}
		where := section + "." + id
		if board.NewRecord(board.RecordPath(dir, id)) == nil || used[id] {
			r.fault(where, item.Line, "%s is not an id of its own: use %s-NUMBER, or leave it out", text.Quote(id), prefix)
			continue
		}
		used[id] = true
		record := new(T)
		r.fill(where, without(item, "id"), record, names)
		set(id, record)
		r.put(board.RecordPath(dir, id), record, where, item)
	}
}

func number(id string) int {
	n, _ := strconv.Atoi(id[strings.LastIndexByte(id, '-')+1:])
	return n
}

// readBeside reads the records other than tasks and agents.
func (r *reader) readBeside(top map[string]*yaml.Node) {
	created := r.goal.Created
	numbered(r, "discovered", board.DiscoveryDir, "disc", top["discovered"], oldFinding, func(id string, d *board.Discovery) {
		d.ID, d.Created = id, cmp.Or(d.Created, created)
		d.Severity, d.Urgency = cmp.Or(strings.ToLower(d.Severity), "medium"), cmp.Or(strings.ToLower(d.Urgency), "deferred")
	})
	numbered(r, "human_notes", board.NoteDir, "note", top["human_notes"], oldNote, func(id string, n *board.Note) {
		n.ID, n.By, n.Timestamp = id, cmp.Or(n.By, roles.HumanID), cmp.Or(n.Timestamp, created)
	})
	numbered(r, "anomalies", board.AnomalyDir, "anomaly", top["anomalies"], oldAnomaly, func(id string, a *board.Anomaly) {
		a.ID, a.Reporter, a.Timestamp = id, cmp.Or(a.Reporter, string(roles.System)), cmp.Or(a.Timestamp, created)
	})
	numbered(r, "spec_changes", board.SpecChangeDir, "change", top["spec_changes"], oldChange, func(id string, c *board.SpecChange) {
		c.ID, c.By, c.Timestamp = id, cmp.Or(c.By, notRecorded), cmp.Or(c.Timestamp, created)
	})
	r.readHandoffs(top["handoff"])
	r.readSprint(top["sprint"])
	r.readBreaker(top["circuit_breaker"])
	r.readConfig(top["config"])
	r.readControl(top["control"])
}

// readHandoffs reads hand-offs by task; an older file has one alone, which names its task.
func (r *reader) readHandoffs(n *yaml.Node) {
	if _, values := fields(n); values["task"] != nil && values["task"].Kind == yaml.ScalarNode {
		n = &yaml.Node{Kind: yaml.MappingNode, Line: n.Line, Content: []*yaml.Node{{Kind: yaml.ScalarNode, Value: textOf(values["task"])}, n}}
	}
	ids, items := r.entries("handoff", n)
	for i, item := range items {
		_, values := fields(item)
		id := cmp.Or(ids[i], textOf(values["task"]))
		where, path := "handoff."+id, board.RecordPath(board.HandoffDir, id)
		if r.by[id] == nil || r.out.Records[path] != nil {
			r.fault(where, item.Line, "there is no such task, or another hand-off of it")
			continue
		}
		h := &board.Handoff{}
		r.fill(where, without(item, "task", "id"), h, map[string]string{"time": "timestamp"})
		h.Summary, h.NextAction = r.phrase(where+": summary", h.Summary), r.phrase(where+": next_action", h.NextAction)
		h.Timestamp = cmp.Or(h.Timestamp, r.goal.Created)
		r.put(path, h, where, item)
	}
}

// phrase makes one short phrase of a text.
func (r *reader) phrase(where, s string) string {
	is := text.Line(s, board.MaxPhrase)
	if is != s {
		r.add(where, 0, "shortened to one phrase: %s", is)
	}
	return is
}

func (r *reader) readSprint(n *yaml.Node) {
	sp := &board.Sprint{}
	if n != nil && n.Kind == yaml.MappingNode {
		n = without(n, "metrics", "goal_ref") // a sprint has the tasks of any goal
	}
	r.fill("sprint", n, sp, noNames)
	sp.ID = cmp.Or(sp.ID, "sprint-1")
	if !board.ValidTaskID(sp.ID) {
		r.fault("sprint: id", n.Line, "%s is not an id of a sprint: %s", text.Quote(sp.ID), idForm)
	}
	sp.Status, sp.Timeline.Started = cmp.Or(sp.Status, board.InProgress), cmp.Or(sp.Timeline.Started, r.goal.Created)
	r.put(board.SprintPath, sp, "sprint", n)
}

func (r *reader) readBreaker(n *yaml.Node) {
	b := &board.Breaker{}
	r.fill("circuit_breaker", n, b, noNames)
	for i := range b.History {
		b.History[i].Timestamp = cmp.Or(b.History[i].Timestamp, r.goal.Created)
	}
	if b.Status = cmp.Or(b.Status, board.BreakerOK); b.CurrentTrigger != nil {
		b.CurrentTrigger.Timestamp = cmp.Or(b.CurrentTrigger.Timestamp, r.now)
	}
	r.put(board.BreakerPath, b, "circuit_breaker", n)
}

func (r *reader) readConfig(n *yaml.Node) {
	c := board.DefaultConfig()
	r.fill("config", n, c, noNames)
	if c.RequireSignatures {
		r.add("config: require_signatures", 0, "no keys come with the file: false, until git liza keys add has been done")
		c.RequireSignatures = false
	}
	r.put(board.ConfigPath, c, "config", n)
}

// readTeam reads the roles and stages; without them it is the built-in team.
func (r *reader) readTeam(n *yaml.Node) {
	r.team = board.BuiltinTeam()
	if absent(n) {
		return
	}
	t := &board.Team{}
	r.fill("team", n, t, noNames)
	if f := t.Fault(); f != nil {
		r.fault("team", n.Line, "%s: %s", f.Where, f.What)
		return
	}
	r.team = t
	r.put(board.TeamPath, t, "team", n)
}

func (r *reader) readControl(n *yaml.Node) {
	c := &board.Control{}
	r.fill("control", n, c, map[string]string{"timestamp": "since"})
	c.Mode, c.Since, c.By = cmp.Or(c.Mode, board.Running), cmp.Or(c.Since, r.now), cmp.Or(c.By, roles.HumanID)
	r.put(board.ControlPath, c, "control", n)
}
