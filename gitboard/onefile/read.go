package onefile

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"sort"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/log/codec"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/text"
)

// Input has the files of a board.
type Input struct {
	File    string // the name of the state.yaml
	State   []byte
	LogFile string // "" for no log
	Log     []byte
	Now     board.Time
	Clone   string // this clone, which has the worktrees that name no other
	Session string // of every agent: it is secret, so each registers again after its lease expired
}

// Board is the result of reading.
type Board struct {
	Records map[string]any
	Log     []board.PastEntry
	Leases  map[string]board.Lease // by agent, for all that the file knew of
	Changed []string               // changes to something that could not be kept as it was, a line each

	source  string
	commits []*string
}

// reader reads one file.
type reader struct {
	report
	in      Input
	now     board.Time
	tasks   []*board.Task
	by      map[string]*board.Task
	agents  map[string]*board.Agent
	out     *Board
	goal    *board.Goal // the one that tasks without a goal belong to
	goals   map[string]*board.Goal
	team    *board.Team
	sources map[string]source // of records, by path
}

// source is a record's place in the file.
type source struct {
	where string
	node  *yaml.Node
}

// Read makes a board of a file. An *Error names file and line of each fault.
func Read(in Input) (*Board, error) {
	root, err := parse(in.File, in.State)
	if err != nil {
		return nil, err
	}
	if root == nil || root.Kind != yaml.MappingNode {
		line := 1
		if root != nil {
			line = root.Line
		}
		return nil, faultAt(in.File, line, "it is not a state.yaml: a mapping with goal, tasks, agents and so on is needed")
	}
	keys, top := fields(root)
	if v := textOf(top["version"]); v != "" && v != "1" && v != "1.0" {
		return nil, faultAt(in.File, top["version"].Line, "it has version %s, and this git-liza reads version 1", v)
	}
	if top["goal"] == nil && top["goals"] == nil {
		return nil, faultAt(in.File, root.Line, "it is not a state.yaml: it has no goal")
	}
	r := &reader{in: in, now: in.Now, by: map[string]*board.Task{}, agents: map[string]*board.Agent{}, sources: map[string]source{}}
	r.out = &Board{Records: map[string]any{}, Leases: map[string]board.Lease{}, source: in.File}
	for _, key := range keys {
		if !slices.Contains(sections, key) {
			r.add(key, top[key].Line, "not known here, not kept")
		}
	}
	r.readGoals(top)
	if r.goal == nil {
		return nil, faultAt(in.File, root.Line, "it is not a state.yaml: it has no goal")
	}
	r.readTeam(top["team"])
	r.readTasks(top["tasks"])
	r.readAgents(top["agents"])
	r.completeTasks()
	r.completeAgents()
	r.readBeside(top)
	if len(r.faults) == 0 {
		r.checkInvariants()
	}
	if len(r.faults) > 0 {
		sort.SliceStable(r.faults, func(i, j int) bool { return r.faults[i].Line < r.faults[j].Line })
		return nil, &Error{in.File, r.faults}
	}
	if err := r.readLog(); err != nil {
		return nil, err
	}
	r.out.Changed = r.lines
	return r.out, nil
}

// checkInvariants finds the faults of a board whose fields are right.
func (r *reader) checkInvariants() {
	s := board.NewState(board.NewMemory(), r.now)
	maps.Copy(s.Changes(), r.out.Records)
	for _, v := range board.Violations(s) {
		from := r.sources[v.Record]
		line := 1
		if from.node != nil {
			line = from.node.Line
			if _, values := fields(from.node); values[v.Field] != nil {
				line = values[v.Field].Line
			}
		}
		r.fault(from.where+": "+v.Field, line, "%s", v.What)
	}
}

// sections are the keys of the document.
var sections = []string{"version", "goal", "goals", "tasks", "agents", "discovered", "handoff", "human_notes", "anomalies", "spec_changes", "sprint", "circuit_breaker", "config", "control", "team"}

// put adds a record, which was read from a node that may be missing.
func (r *reader) put(path string, record any, where string, n *yaml.Node) {
	r.out.Records[path], r.sources[path] = record, source{where, n}
}

// entries are the items of a list, or of a mapping by id, each with its id in the file.
func (r *reader) entries(section string, n *yaml.Node) (ids []string, items []*yaml.Node) {
	switch {
	case absent(n):
	case n.Kind == yaml.SequenceNode:
		for _, item := range n.Content {
			if item.Kind != yaml.MappingNode {
				r.fault(section, item.Line, "%q is not a mapping of fields", text.Line(textOf(item), 60))
				continue
			}
			_, values := fields(item)
			ids, items = append(ids, textOf(values["id"])), append(items, item)
		}
	case n.Kind == yaml.MappingNode:
		keys, values := fields(n)
		for _, key := range keys {
			if values[key].Kind != yaml.MappingNode {
				r.fault(section+"."+key, values[key].Line, "it is not a mapping of fields")
				continue
			}
			ids, items = append(ids, key), append(items, values[key])
		}
	default:
		r.fault(section, n.Line, "it is not a list")
	}
	return ids, items
}

// without is a mapping without some of its keys.
func without(n *yaml.Node, drop ...string) *yaml.Node {
	c := *n
	c.Content = nil
	for i := 0; i+1 < len(n.Content); i += 2 {
		if !slices.Contains(drop, n.Content[i].Value) {
			c.Content = append(c.Content, n.Content[i], n.Content[i+1])
		}
	}
	return &c
}

// readGoals reads the one goal of the older form, or the list of the newer one.
func (r *reader) readGoals(top map[string]*yaml.Node) {
	r.goals = map[string]*board.Goal{}
	ids, items := r.entries("goals", top["goals"])
	for i, n := range items {
		g := &board.Goal{ID: ids[i]}
		r.fill("goals."+ids[i], n, g, noNames)
		r.addGoal("goals."+ids[i], n, g)
	}
	n := top["goal"]
	if n == nil {
		return
	}
	g := &board.Goal{}
	if n.Kind == yaml.ScalarNode {
		g.Description = r.short("goal", n.Line, textOf(n))
	} else {
		r.fill("goal", n, g, noNames)
	}
	g.ID = cmp.Or(g.ID, "goal-1")
	r.addGoal("goal", n, g)
}

// addGoal completes a goal.
func (r *reader) addGoal(where string, n *yaml.Node, g *board.Goal) {
	if !board.ValidTaskID(g.ID) || r.goals[g.ID] != nil {
		r.fault(where+": id", n.Line, "%s is not an id of its own: %s", text.Quote(g.ID), idForm)
	}
	if g.Description == "" {
		r.fault(where+": description", n.Line, "a goal needs a description")
	}
	g.Status = cmp.Or(g.Status, board.InProgress)
	g.Created = cmp.Or(g.Created, r.now)
	for i := range g.AlignmentHistory {
		a := &g.AlignmentHistory[i]
		a.Timestamp = cmp.Or(a.Timestamp, g.Created)
	}
	g.Priority = cmp.Or(g.Priority, 3)
	if g.Status == board.InProgress {
		g.Ended, g.EndedBy = "", ""
	} else {
		g.Ended, g.EndedBy = cmp.Or(g.Ended, r.now), cmp.Or(g.EndedBy, roles.HumanID)
	}
	r.goals[g.ID] = g
	if r.goal == nil || r.goal.Status != board.InProgress && g.Status == board.InProgress {
		r.goal = g
	}
	r.put(board.GoalPath(g.ID), g, where, n)
}

// idForm describes the ids of goals, tasks and sprints.
const idForm = "use lower-case letters, digits and -, 50 at most"

func (r *reader) readTasks(n *yaml.Node) {
	ids, items := r.entries("tasks", n)
	for i, item := range items {
		_, values := fields(item)
		id := cmp.Or(ids[i], textOf(values["task_id"]))
		where := "tasks." + id
		switch {
		case !board.ValidTaskID(id):
			r.fault("tasks", item.Line, "%s is not a task id: %s", text.Quote(id), idForm)
			continue
		case r.by[id] != nil:
			r.fault("tasks", item.Line, "a second task is called %s", id)
			continue
		}
		t := &board.Task{}
		r.fill(where, without(item, "lease_expires", "review_lease_expires"), t, oldTask)
		t.ID, t.Goal = id, cmp.Or(t.Goal, r.goal.ID)
		r.tasks, r.by[id] = append(r.tasks, t), t
		r.put(board.RecordPath(board.TaskDir, id), t, where, item)
		if at := r.time(where, "lease_expires", values); at != "" {
			r.lease(t.AssignedTo, id, at, "")
		}
		if at := r.time(where, "review_lease_expires", values); at != "" {
			r.lease(t.ReviewingBy, id, at, "")
		}
	}
}

// time is a time among the fields of a record, "" for none.
func (r *reader) time(where, key string, values map[string]*yaml.Node) (at board.Time) {
	r.set(where+": "+key, values[key], reflect.ValueOf(&at).Elem())
	return at
}

// lease keeps what is known of an agent's lease. An agent's own record overrides its task's.
func (r *reader) lease(agent, task string, expires, heartbeat board.Time) {
	if _, err := r.team.RoleOf(agent); err != nil {
		return
	}
	if known, is := r.out.Leases[agent]; is && heartbeat == "" && known.Expires >= expires {
		return
	}
	r.out.Leases[agent] = board.Lease{Agent: agent, Session: r.in.Session, Task: task, Expires: expires, Heartbeat: cmp.Or(heartbeat, expires.Add(-300e9))}
}

func (r *reader) readAgents(n *yaml.Node) {
	ids, items := r.entries("agents", n)
	for i, item := range items {
		id := ids[i]
		where := "agents." + id
		named, err := r.team.RoleOf(id)
		if err != nil {
			r.fault("agents", item.Line, "%v", err)
			continue
		}
		if r.agents[id] != nil {
			r.fault("agents", item.Line, "a second agent is called %s", id)
			continue
		}
		_, values := fields(item)
		a := &board.Agent{}
		r.fill(where, without(item, "lease_expires", "heartbeat", "session", "role", "id"), a, oldAgent)
		a.Role, a.Session = named.Kind.Role(), r.in.Session
		if was := strings.ReplaceAll(textOf(values["role"]), "-", "_"); was != "" && was != string(a.Role) {
			r.fault(where+": role", values["role"].Line, "the role of %s is %s, not %s", id, a.Role, was)
		}
		a.Status = cmp.Or(board.AgentStatus(strings.ToUpper(string(a.Status))), board.Idle)
		expires, heartbeat := r.time(where, "lease_expires", values), r.time(where, "heartbeat", values)
		if expires != "" {
			r.lease(id, a.CurrentTask, expires, cmp.Or(heartbeat, expires.Add(-300e9)))
		}
		a.RegisteredAt = cmp.Or(a.RegisteredAt, heartbeat, r.goal.Created)
		r.agents[id] = a
		r.put(board.RecordPath(board.AgentDir, id), a, where, item)
	}
}

func (r *reader) readLog() error {
	if r.in.LogFile == "" {
		return nil
	}
	root, err := parse(r.in.LogFile, r.in.Log)
	if err != nil || root == nil {
		return err
	}
	if root.Kind != yaml.SequenceNode {
		return faultAt(r.in.LogFile, root.Line, "it is not a log.yaml: a list of entries is needed")
	}
	for _, item := range root.Content {
		if item.Kind != yaml.MappingNode {
			return faultAt(r.in.LogFile, item.Line, "an entry is not a mapping of fields")
		}
		e := board.PastEntry{}
		unknown, values := r.fill("log", item, &e, oldEntry)
		for _, key := range unknown {
			if e.Detail != "" {
				e.Detail += "; "
			}
			e.Detail = r.short("log", item.Line, e.Detail+key+": "+textOf(values[key]))
		}
		if e.Timestamp.IsZero() {
			r.fault("log", item.Line, "an entry has no time")
		}
		r.out.Log = append(r.out.Log, e)
	}
	if len(r.faults) > 0 {
		return &Error{r.in.LogFile, r.faults}
	}
	return nil
}

// Commits are the ids of commits that the board names and that are not whole.
func (b *Board) Commits() []string {
	var short []string
	for _, c := range b.commits {
		if len(*c) < 40 && !slices.Contains(short, *c) {
			short = append(short, *c)
		}
	}
	return short
}

// Resolve puts whole ids in the place of short ones.
func (b *Board) Resolve(whole map[string]string) {
	for _, c := range b.commits {
		*c = cmp.Or(whole[*c], *c)
	}
}

// Operation is the import of the board.
func (b *Board) Operation() (*board.Import, error) {
	p := &board.Import{Source: b.source, Log: b.Log}
	for _, path := range slices.Sorted(maps.Keys(b.Records)) {
		data, err := codec.EncodeChecked(path, b.Records[path])
		if err != nil {
			return nil, err
		}
		p.Records = append(p.Records, board.Imported{Path: path, YAML: string(data)})
	}
	return p, nil
}
