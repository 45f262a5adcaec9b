package onefile

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/codec"
	"github.com/git-liza/git-liza/gitboard/plain"
	"github.com/git-liza/git-liza/gitboard/roles"
)

// Input is what a board is read from.
type Input struct {
	File    string // the name of the state.yaml
	State   []byte
	LogFile string // "" for no log
	Log     []byte
	Now     board.Time
	Clone   string // this clone, which has the worktrees that name no other
	Session string // of every agent: nobody knows it, so each registers again after its lease expired
}

// Board is what was read.
type Board struct {
	Records map[string]any
	Log     []board.PastEntry
	Leases  map[string]board.Lease // by agent, for all that the file knew of
	Changed []string               // what could not be kept as it was, a line each

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
	renamed map[string]string // tasks whose ids could not be kept
	out     *Board
	goal    *board.Goal // the one that tasks without a goal belong to
	goals   map[string]*board.Goal
	team    *board.Team
}

// Read makes a board of a file. An error names file and line.
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
		return nil, &Error{in.File, line, "it is not a state.yaml: a mapping with goal, tasks, agents and so on is needed"}
	}
	keys, top := fields(root)
	if v := text(top["version"]); v != "" && v != "1" && v != "1.0" {
		return nil, &Error{in.File, top["version"].Line, fmt.Sprintf("it has version %s, and this git-liza reads version 1", plain.Line(v, 20))}
	}
	if top["tasks"] == nil && top["goal"] == nil && top["goals"] == nil {
		return nil, &Error{in.File, root.Line, "it is not a state.yaml: it has neither a goal nor tasks"}
	}
	r := &reader{in: in, now: in.Now, by: map[string]*board.Task{}, agents: map[string]*board.Agent{}, renamed: map[string]string{}}
	r.out = &Board{Records: map[string]any{}, Leases: map[string]board.Lease{}, source: in.File}
	for _, key := range keys {
		if !slices.Contains(sections, key) {
			r.add(key, top[key].Line, "not known here, not kept")
		}
	}
	r.readGoals(top)
	r.readTeam(top["team"])
	if err := r.readTasks(top["tasks"]); err != nil {
		return nil, err
	}
	if err := r.readAgents(top["agents"]); err != nil {
		return nil, err
	}
	r.repair()
	r.readBeside(top)
	if err := r.readLog(); err != nil {
		return nil, err
	}
	r.out.Changed = r.lines
	return r.out, nil
}

// sections are the keys of the document.
var sections = []string{"version", "goal", "goals", "tasks", "agents", "discovered", "handoff", "human_notes", "anomalies", "spec_changes", "sprint", "circuit_breaker", "config", "control", "team"}

func (r *reader) put(path string, record any) { r.out.Records[path] = record }

// entries are the items of a list, or of a mapping by id, each with the id that it has there.
func (r *reader) entries(section string, n *yaml.Node) (ids []string, items []*yaml.Node) {
	switch {
	case absent(n):
	case n.Kind == yaml.SequenceNode:
		for _, item := range n.Content {
			if item.Kind != yaml.MappingNode {
				r.add(section, item.Line, "%q is not a record: not kept", plain.Line(text(item), 60))
				continue
			}
			_, values := fields(item)
			ids, items = append(ids, text(values["id"])), append(items, item)
		}
	case n.Kind == yaml.MappingNode:
		keys, values := fields(n)
		for _, key := range keys {
			if values[key].Kind != yaml.MappingNode {
				r.add(section+"."+key, values[key].Line, "it is not a record: not kept")
				continue
			}
			ids, items = append(ids, key), append(items, values[key])
		}
	default:
		r.add(section, n.Line, "it is not a list: not kept")
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
		r.addGoal(g)
	}
	if len(items) == 0 || top["goal"] != nil {
		r.readGoal(top["goal"])
	}
	for _, g := range r.goals {
		if g.After != "" && r.goals[g.After] == nil {
			r.add("goals."+g.ID, 0, "there is no goal %s: it comes after none", g.After)
			g.After = ""
		}
	}
}

func (r *reader) readGoal(n *yaml.Node) {
	g := &board.Goal{}
	if n != nil && n.Kind == yaml.ScalarNode && !absent(n) {
		g.Description = r.short("goal", n.Line, n.Value)
	} else {
		r.fill("goal", n, g, noNames)
	}
	if n == nil {
		r.add("goal", 0, "it is missing")
	}
	r.addGoal(g)
}

// goalNamed is the goal that a record names, "" if there is no goal of that name.
func (r *reader) goalNamed(id string) string {
	if r.goals[id] == nil {
		return ""
	}
	return id
}

// addGoal completes a goal, and keeps it under an id of its own.
func (r *reader) addGoal(g *board.Goal) {
	was := g.ID
	for n := len(r.goals) + 1; !board.ValidTaskID(g.ID) || r.goals[g.ID] != nil; n++ {
		g.ID = fmt.Sprintf("goal-%d", n)
	}
	r.addIf(was != "" && was != g.ID, "goals."+was, "its id is %s now", g.ID)
	g.Description = orOf(g.Description, "Imported from "+r.in.File)
	if !slices.Contains([]board.Phase{board.InProgress, board.Completed, board.PhaseAborted}, g.Status) {
		r.addIf(g.Status != "", "goal: status", "%q is not a state of a goal: IN_PROGRESS", g.Status)
		g.Status = board.InProgress
	}
	g.Created = orOf(g.Created, r.now)
	for i := range g.AlignmentHistory {
		a := &g.AlignmentHistory[i]
		a.Timestamp = orOf(a.Timestamp, g.Created)
	}
	if g.Priority == 0 {
		g.Priority = 3
	}
	if g.Priority < 1 || g.Priority > 5 {
		r.add("goals."+g.ID, 0, "the priority %d is not from 1 to 5: 3", g.Priority)
		g.Priority = 3
	}
	if g.Status == board.InProgress {
		g.Ended, g.EndedBy = "", ""
	} else {
		g.Ended, g.EndedBy = orOf(g.Ended, r.now), orOf(g.EndedBy, roles.HumanID)
	}
	r.goals[g.ID] = g
	if r.goal == nil || r.goal.Status != board.InProgress && g.Status == board.InProgress {
		r.goal = g
	}
	r.put(board.GoalPath(g.ID), g)
}

// addIf adds a line if the condition holds.
func (r *reader) addIf(is bool, where, format string, args ...any) {
	if is {
		r.add(where, 0, format, args...)
	}
}

func orOf[T ~string](s, other T) T { return cmp.Or(s, other) }

var notID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^a-z0-9-]+`) })

// taskID makes an id of what was one.
func (r *reader) taskID(was string, line int) (string, error) {
	if board.ValidTaskID(was) {
		if r.by[was] != nil {
			return "", &Error{r.in.File, line, fmt.Sprintf("a second task is called %s", was)}
		}
		return was, nil
	}
	id := strings.Trim(notID().ReplaceAllString(strings.ToLower(was), "-"), "-")
	if id = strings.Trim(id[:min(len(id), 50)], "-"); id == "" {
		id = "task"
	}
	for n, base := 2, id; r.by[id] != nil; n++ {
		id = base + "-" + strconv.Itoa(n)
	}
	if was == "" {
		r.add("tasks", line, "a task has no id: it is called %s", id)
	} else {
		r.add("tasks."+was, line, "this is not a task id: it is called %s, and its branch, if it has one, is still task/%s", id, was)
		r.renamed[was] = id
	}
	return id, nil
}

func (r *reader) readTasks(n *yaml.Node) error {
	if n != nil && n.Kind == yaml.ScalarNode && !absent(n) {
		return &Error{r.in.File, n.Line, fmt.Sprintf("tasks is %q, and a list is needed", plain.Line(n.Value, 60))}
	}
	ids, items := r.entries("tasks", n)
	for i, item := range items {
		_, values := fields(item)
		id, err := r.taskID(orOf(ids[i], text(values["task_id"])), item.Line)
		if err != nil {
			return err
		}
		t := &board.Task{}
		r.fill("tasks."+id, without(item, "lease_expires", "review_lease_expires"), t, oldTask)
		t.ID = id
		if r.goals[t.Goal] == nil {
			r.addIf(t.Goal != "", "tasks."+id, "there is no goal %s: it is %s", t.Goal, r.goal.ID)
			t.Goal = r.goal.ID
		}
		r.tasks, r.by[id] = append(r.tasks, t), t
		for _, l := range []struct {
			key, agent string
		}{{"lease_expires", t.AssignedTo}, {"review_lease_expires", t.ReviewingBy}} {
			if at, ok := when(text(values[l.key])); ok && l.agent != "" {
				r.lease(l.agent, id, at, "")
			} else if !absent(values[l.key]) {
				r.add("tasks."+id+": "+l.key, item.Line, "not kept: %s", text(values[l.key]))
			}
		}
	}
	return nil
}

// lease keeps what is known of an agent's lease; what the agent's own record says counts most.
func (r *reader) lease(agent, task string, expires, heartbeat board.Time) {
	if _, err := r.team.RoleOf(agent); err != nil {
		return
	}
	if known, is := r.out.Leases[agent]; is && heartbeat == "" && known.Expires >= expires {
		return
	}
	r.out.Leases[agent] = board.Lease{Agent: agent, Session: r.in.Session, Task: task, Expires: expires, Heartbeat: orOf(heartbeat, expires.Add(-300e9))}
}

func (r *reader) readAgents(n *yaml.Node) error {
	ids, items := r.entries("agents", n)
	for i, item := range items {
		id := ids[i]
		named, err := r.team.RoleOf(id)
		if err != nil {
			r.add("agents."+id, item.Line, "this is not an agent id: not kept")
			continue
		}
		if r.agents[id] != nil {
			return &Error{r.in.File, item.Line, fmt.Sprintf("a second agent is called %s", id)}
		}
		role := named.Kind.Role()
		_, values := fields(item)
		a := &board.Agent{}
		r.fill("agents."+id, without(item, "lease_expires", "heartbeat", "session", "role", "id"), a, oldAgent)
		a.Role, a.Session = role, r.in.Session
		if was := strings.ReplaceAll(text(values["role"]), "-", "_"); was != "" && was != string(role) {
			r.add("agents."+id, item.Line, "its role is that of its id, %s, not %s", role, was)
		}
		if a.Status = board.AgentStatus(strings.ToUpper(string(a.Status))); !slices.Contains(board.AgentStatuses, a.Status) {
			r.addIf(a.Status != "", "agents."+id, "%q is not a state of an agent: IDLE", a.Status)
			a.Status = board.Idle
		}
		expires, ok := when(text(values["lease_expires"]))
		heartbeat, beat := when(text(values["heartbeat"]))
		r.addIf(!ok && !absent(values["lease_expires"]), "agents."+id, "lease_expires is not a time: not kept")
		if ok {
			r.lease(id, a.CurrentTask, expires, orOf(heartbeat, expires.Add(-300e9)))
		}
		if !beat {
			heartbeat = ""
		}
		a.RegisteredAt = orOf(a.RegisteredAt, orOf(heartbeat, r.goal.Created))
		r.agents[id] = a
	}
	return nil
}

// taskNamed is the id that a task has now.
func (r *reader) taskNamed(was string) string { return orOf(r.renamed[was], was) }

// gone adds a line and returns true.
func (r *reader) gone(where, format string, args ...any) bool {
	r.add(where, 0, format, args...)
	return true
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
		return &Error{r.in.LogFile, root.Line, "it is not a log.yaml: a list of entries is needed"}
	}
	for _, item := range root.Content {
		if item.Kind != yaml.MappingNode {
			return &Error{r.in.LogFile, item.Line, "an entry is not a mapping of fields"}
		}
		e := board.PastEntry{}
		unknown, values := r.fill("log", item, &e, oldEntry)
		for _, key := range unknown {
			if e.Detail != "" {
				e.Detail += "; "
			}
			e.Detail = r.short("log", item.Line, e.Detail+key+": "+text(values[key]))
		}
		if e.Timestamp.IsZero() {
			return &Error{r.in.LogFile, item.Line, "an entry has no time"}
		}
		r.out.Log = append(r.out.Log, e)
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
		*c = orOf(whole[*c], *c)
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
