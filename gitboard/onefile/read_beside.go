package onefile

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/plain"
	"github.com/git-liza/git-liza/gitboard/roles"
)

// numbered reads a section whose records have numbers. Ids of another form are replaced.
func numbered[T any](r *reader, section, dir, prefix string, n *yaml.Node, names map[string]string, set func(id string, record *T, where string) bool) {
	ids, items := r.entries(section, n)
	last := 0
	for _, id := range ids {
		if board.NewRecord(board.RecordPath(dir, id)) != nil {
			last = max(last, number(id))
		}
	}
	used := map[string]bool{}
	for i, item := range items {
		id := ids[i]
		if board.NewRecord(board.RecordPath(dir, id)) == nil || used[id] {
			last++
			was := id
			id = prefix + "-" + strconv.Itoa(last)
			r.addIf(was != "", section+"."+was, "its id is %s now", id)
		}
		used[id] = true
		record := new(T)
		r.fill(section+"."+id, without(item, "id"), record, names)
		if set(id, record, section+"."+id) {
			r.put(board.RecordPath(dir, id), record)
		}
	}
}

func number(id string) int {
	n, _ := strconv.Atoi(id[strings.LastIndexByte(id, '-')+1:])
	return n
}

// readBeside reads the records other than tasks and agents.
func (r *reader) readBeside(top map[string]*yaml.Node) {
	numbered(r, "discovered", board.DiscoveryDir, "disc", top["discovered"], oldFinding, func(id string, d *board.Discovery, where string) bool {
		d.ID, d.During, d.ConvertedToTask = id, r.taskNamed(d.During), r.taskNamed(d.ConvertedToTask)
		d.Created, d.Goal = orOf(d.Created, r.goal.Created), r.goalNamed(d.Goal)
		d.Severity, d.Urgency = strings.ToLower(d.Severity), strings.ToLower(d.Urgency)
		if !slices.Contains(board.Severities, d.Severity) {
			r.addIf(d.Severity != "", where, "%q is not a severity: medium", d.Severity)
			d.Severity = "medium"
		}
		if !slices.Contains(board.Urgencies, d.Urgency) {
			r.addIf(d.Urgency != "", where, "%q is not an urgency: deferred", d.Urgency)
			d.Urgency = "deferred"
		}
		return true
	})
	numbered(r, "human_notes", board.NoteDir, "note", top["human_notes"], oldNote, func(id string, n *board.Note, _ string) bool {
		n.ID, n.For, n.By, n.Timestamp = id, r.taskNamed(n.For), orOf(n.By, roles.HumanID), orOf(n.Timestamp, r.goal.Created)
		n.Goal = r.goalNamed(n.Goal)
		return true
	})
	numbered(r, "anomalies", board.AnomalyDir, "anomaly", top["anomalies"], oldAnomaly, func(id string, a *board.Anomaly, where string) bool {
		a.ID, a.Task, a.Timestamp = id, r.taskNamed(a.Task), orOf(a.Timestamp, r.goal.Created)
		a.Goal = r.goalNamed(a.Goal)
		return r.anomaly(a, where)
	})
	numbered(r, "spec_changes", board.SpecChangeDir, "change", top["spec_changes"], oldChange, func(id string, c *board.SpecChange, _ string) bool {
		c.ID, c.By, c.TriggeredBy, c.Timestamp = id, orOf(c.By, notRecorded), r.taskNamed(c.TriggeredBy), orOf(c.Timestamp, r.goal.Created)
		c.Goal = r.goalNamed(c.Goal)
		return true
	})
	r.readHandoffs(top["handoff"])
	r.readSprint(top["sprint"])
	r.readBreaker(top["circuit_breaker"])
	r.readConfig(top["config"])
	r.readControl(top["control"])
}

// anomaly completes the details that its type needs; one of no known type becomes a note.
func (r *reader) anomaly(a *board.Anomaly, where string) bool {
	i := slices.IndexFunc(board.AnomalyTypes, func(t board.AnomalyType) bool { return t.Type == a.Type })
	if i < 0 {
		r.add(where, 0, "%q is not a type of anomaly: not kept: %v", a.Type, details(a.Details))
		return false
	}
	kept := map[string]board.Scalar{}
	for _, name := range slices.Sorted(maps.Keys(a.Details)) {
		is := detailName(name)
		if is != name {
			r.add(where, 0, "the detail %q is called %s", name, is)
		}
		kept[is] = a.Details[name]
	}
	for _, name := range board.AnomalyTypes[i].Details {
		v := strings.TrimSpace(string(kept[name]))
		instead := v
		switch {
		case name == "count" && !regexp.MustCompile(`^(0|[1-9][0-9]{0,17})$`).MatchString(v):
			instead = "1"
		case name == "debt_created" && v != "true" && v != "false":
			instead = "false"
		case v == "":
			instead = notRecorded
		}
		if instead != v {
			r.add(where, 0, "the detail %s is %q: %s", name, v, instead)
			kept[name] = board.Scalar(instead)
		}
	}
	if a.Details = kept; len(kept) == 0 {
		a.Details = nil
	}
	a.Reporter = orOf(a.Reporter, string(roles.System))
	return true
}

var notDetail = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^a-z0-9_]+`) })

func detailName(name string) string {
	name = strings.Trim(notDetail().ReplaceAllString(strings.ToLower(name), "_"), "_")
	return orOf(name[:min(len(name), 40)], "note")
}

func details(d map[string]board.Scalar) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(d)) {
		parts = append(parts, name+": "+string(d[name]))
	}
	return strings.Join(parts, "; ")
}

// readHandoffs reads hand-offs by task; an older file has one alone, which names its task.
func (r *reader) readHandoffs(n *yaml.Node) {
	if _, values := fields(n); values["task"] != nil && values["task"].Kind == yaml.ScalarNode {
		n = &yaml.Node{Kind: yaml.MappingNode, Line: n.Line, Content: []*yaml.Node{{Kind: yaml.ScalarNode, Value: text(values["task"])}, n}}
	}
	ids, items := r.entries("handoff", n)
	for i, item := range items {
		_, values := fields(item)
		id := r.taskNamed(orOf(ids[i], text(values["task"])))
		where := "handoff." + id
		if r.by[id] == nil || r.out.Records[board.RecordPath(board.HandoffDir, id)] != nil {
			r.add(where, item.Line, "there is no such task, or another hand-off of it: not kept: %s", text(values["summary"]))
			continue
		}
		h := &board.Handoff{}
		r.fill(where, without(item, "task", "id"), h, map[string]string{"time": "timestamp"})
		h.Summary, h.NextAction = r.phrase(where+": summary", h.Summary), r.phrase(where+": next_action", h.NextAction)
		h.Timestamp = orOf(h.Timestamp, r.goal.Created)
		r.put(board.RecordPath(board.HandoffDir, id), h)
	}
}

// phrase makes one short phrase of a text.
func (r *reader) phrase(where, s string) string {
	is := plain.Line(s, board.MaxPhrase)
	r.addIf(is != s, where, "shortened to one phrase: %s", is)
	return orOf(is, notRecorded)
}

func (r *reader) readSprint(n *yaml.Node) {
	sp := &board.Sprint{}
	if n != nil && n.Kind == yaml.MappingNode {
		n = without(n, "metrics", "goal_ref") // a sprint has the tasks of any goal
	}
	r.fill("sprint", n, sp, noNames)
	if was := sp.ID; !board.ValidTaskID(was) {
		sp.ID = "sprint-1"
		r.addIf(was != "", "sprint", "%q is not an id of a sprint: sprint-1", was)
	}
	if !slices.Contains([]board.Phase{board.InProgress, board.AtCheckpoint, board.Completed, board.PhaseAborted}, sp.Status) {
		r.addIf(sp.Status != "", "sprint", "%q is not a state of a sprint: IN_PROGRESS", sp.Status)
		sp.Status = board.InProgress
	}
	sp.Timeline.Started = orOf(sp.Timeline.Started, r.goal.Created)
	sp.Scope.Planned = r.existing("sprint.scope.planned", sp.Scope.Planned)
	sp.Scope.Stretch = r.existing("sprint.scope.stretch", sp.Scope.Stretch)
	r.put(board.SprintPath, sp)
}

// existing are the tasks of a list that there are, under the ids that they have now.
func (r *reader) existing(where string, ids []string) []string {
	kept := slices.DeleteFunc(ids, func(id string) bool {
		return r.by[r.taskNamed(id)] == nil && r.gone(where, "there is no task %s: not kept", id)
	})
	for i, id := range kept {
		kept[i] = r.taskNamed(id)
	}
	return kept
}

func (r *reader) readBreaker(n *yaml.Node) {
	b := &board.Breaker{}
	r.fill("circuit_breaker", n, b, noNames)
	for i := range b.History {
		b.History[i].Timestamp = orOf(b.History[i].Timestamp, r.goal.Created)
	}
	switch {
	case b.CurrentTrigger != nil && b.Status == board.BreakerTriggered:
		b.CurrentTrigger.Timestamp = orOf(b.CurrentTrigger.Timestamp, r.now)
	case b.CurrentTrigger != nil || b.Status != board.BreakerOK:
		r.addIf(b.Status != "", "circuit_breaker", "status %s does not fit its trigger: OK", b.Status)
		b.Status, b.CurrentTrigger = board.BreakerOK, nil
	}
	r.put(board.BreakerPath, b)
}

func (r *reader) readConfig(n *yaml.Node) {
	c := board.DefaultConfig()
	r.fill("config", n, c, noNames)
	for _, k := range board.ConfigKeys {
		if err := k.Check(c); err != nil {
			r.add("config: "+k.Name, 0, "%v: %s", err, orOf(k.Default, "none"))
			k.Reset(c)
		}
	}
	if c.RequireSignatures {
		r.add("config: require_signatures", 0, "no keys come with the file: false, until git liza keys add has been done")
		c.RequireSignatures = false
	}
	r.put(board.ConfigPath, c)
}

// readTeam reads the roles and stages; without them, or if they can't be used, it is the built-in
// team.
func (r *reader) readTeam(n *yaml.Node) {
	r.team = board.BuiltinTeam()
	if absent(n) {
		return
	}
	t := &board.Team{}
	r.fill("team", n, t, noNames)
	if f := t.Fault(); f != nil {
		r.add("team", n.Line, "%s: %s: the built-in team is in its place", f.Where, f.What)
		return
	}
	r.team = t
	r.put(board.TeamPath, t)
}

func (r *reader) readControl(n *yaml.Node) {
	c := &board.Control{}
	r.fill("control", n, c, map[string]string{"timestamp": "since"})
	if !slices.Contains([]board.Mode{board.Running, board.Paused, board.CheckpointMode, board.Aborted}, c.Mode) {
		r.addIf(c.Mode != "", "control", "%q is not a mode: RUNNING", c.Mode)
		c.Mode = board.Running
	}
	c.Since, c.By = orOf(c.Since, r.now), orOf(c.By, roles.HumanID)
	r.put(board.ControlPath, c)
}
