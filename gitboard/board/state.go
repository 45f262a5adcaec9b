package board

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/git-liza/git-liza/gitboard/roles"
)

// Source provides the records of a board at one moment. Returned records are shared and must not be
// changed. A State is a Source as well.
type Source interface {
	// Record returns the record at a path, nil for none.
	Record(path string) (any, error)
	// IDs lists the ids in one of the directories, in the order of CompareIDs.
	IDs(dir string) ([]string, error)
	// LastID is the last of these ids, "" for none. It does not list the others.
	LastID(dir string) (string, error)
	// Briefs returns the briefs of all tasks that are not archived, by id.
	Briefs() (map[string]Brief, error)
	// Archived finds an archived task: its path, "" for none, and its brief. It does not read the
	// others.
	Archived(id string) (path string, b Brief, err error)
}

// State is a board at one moment: the records of a source with changes on top. The first failure to
// read a record is kept (Err) and ends every decision.
type State struct {
	src  Source
	over map[string]any // path → record, nil = removed
	time Time
	err  error

	forRules bool // see ForRules
}

// MissingError reports that a board lacks a record that every board has. Exit code 4.
type MissingError struct{ Path string }

func (e *MissingError) Error() string { return "the board is inconsistent: " + e.Path + " is missing" }

// NewState returns a state on a source; at is the time of the operation that led to it. A nil
// source is the board before its first operation.
func NewState(src Source, at Time) *State {
	return &State{src: src, over: map[string]any{}, time: at}
}

// Time is the time of the operation that led to the state.
func (s *State) Time() Time { return s.time }

// Err returns the first failure to read a record.
func (s *State) Err() error { return s.err }

// Changes returns the changes on top of the source: path → record, nil if removed.
func (s *State) Changes() map[string]any { return s.over }

// Absorb makes the changes of a state that was begun on this one changes of this one.
func (s *State) Absorb(after *State) {
	maps.Copy(s.over, after.over)
	s.time = after.time
}

// Record implements Source.
func (s *State) Record(path string) (any, error) {
	if r, ok := s.over[path]; ok {
		return r, nil
	}
	if s.src == nil {
		return nil, s.err
	}
	r, err := s.src.Record(path)
	if err != nil {
		s.fail(err)
	}
	return r, err
}

// IDs implements Source.
func (s *State) IDs(dir string) ([]string, error) {
	var ids []string
	if s.src != nil {
		below, err := s.src.IDs(dir)
		if err != nil {
			s.fail(err)
			return nil, err
		}
		ids = slices.Clone(below)
	}
	for path, r := range s.over {
		if in, id, ok := SplitPath(path); ok && in == dir {
			ids = listed(ids, dir, id, r != nil)
		}
	}
	return ids, nil
}

// listed adds an id to a list in the order of CompareIDs, or removes it.
func listed(ids []string, dir, id string, there bool) []string {
	at, found := slices.BinarySearchFunc(ids, id, func(a, b string) int { return CompareIDs(dir, a, b) })
	switch {
	case found && !there:
		return slices.Delete(ids, at, at+1)
	case there && !found:
		return slices.Insert(ids, at, id)
	}
	return ids
}

// LastID implements Source.
func (s *State) LastID(dir string) (last string, err error) {
	if s.src != nil {
		if last, err = s.src.LastID(dir); err != nil {
			s.fail(err)
			return "", err
		}
	}
	for path, r := range s.over {
		in, id, ok := SplitPath(path)
		switch {
		case !ok || in != dir:
		case r == nil && id == last:
			ids, err := s.IDs(dir)
			if len(ids) == 0 {
				return "", err
			}
			return ids[len(ids)-1], err
		case r != nil && (last == "" || CompareIDs(dir, id, last) > 0):
			last = id
		}
	}
	return last, nil
}

func (s *State) fail(err error) {
	if s.err == nil {
		s.err = err
	}
}

// get reads a record; nil for none.
func get[T any](s *State, path string) *T {
	r, err := s.Record(path)
	switch {
	case err == nil && r != nil:
		return r.(*T)
	case err != nil && s.forRules:
		return new(T)
	}
	return nil
}

// single reads a record that every board has.
func single[T any](s *State, path string) *T {
	r := get[T](s, path)
	if r == nil && s.forRules {
		s.fail(&MissingError{path})
		return new(T)
	}
	return r
}

// edit returns a copy of a record for the caller to change; the copy becomes the state's. Its
// slices are shared with the old record: replace them or append to them, but never write into them.
func edit[T any](s *State, path string) *T {
	if r := s.over[path]; r != nil {
		return r.(*T)
	}
	old := get[T](s, path)
	if old == nil {
		return nil
	}
	c := *old
	if s.err == nil {
		s.over[path] = &c
	}
	return &c
}

// editSingle is edit for a record that every board has.
func editSingle[T any](s *State, path string) *T {
	if single[T](s, path); s.err != nil {
		return new(T)
	}
	return edit[T](s, path)
}

func put(s *State, path string, r any) { s.over[path] = r }

func remove(s *State, path string) { s.over[path] = nil }

// next returns an empty state on top of this one.
func (s *State) next(at Time) *State {
	after := NewState(s, at)
	after.forRules = s.forRules
	return after
}

// ForRules returns the state for rules, which look up records in the middle of their work and
// assume that a board has what every board has. They see a record that is missing or unreadable as
// an empty one, and Err reports it. The caller of rules must check Err before using any result.
func (s *State) ForRules() *State {
	rules := NewState(s, s.time)
	rules.forRules = true
	return rules
}

// Meta returns board.yaml, nil before init.
func (s *State) Meta() *Meta { return get[Meta](s, MetaPath) }

// Sprint returns sprint.yaml.
func (s *State) Sprint() *Sprint { return single[Sprint](s, SprintPath) }

// Config returns config.yaml.
func (s *State) Config() *Config { return single[Config](s, ConfigPath) }

// Control returns control.yaml.
func (s *State) Control() *Control { return single[Control](s, ControlPath) }

// Breaker returns breaker.yaml.
func (s *State) Breaker() *Breaker { return single[Breaker](s, BreakerPath) }

// Task returns a task, archived or not; nil for none.
func (s *State) Task(id string) *Task {
	if !ValidTaskID(id) {
		return nil
	}
	if t := get[Task](s, RecordPath(TaskDir, id)); t != nil {
		return t
	}
	path, _, err := s.Archived(id)
	if err != nil && s.forRules {
		return &Task{ID: id}
	}
	if path == "" {
		return nil
	}
	return get[Task](s, path)
}

// Archived implements Source.
func (s *State) Archived(id string) (path string, b Brief, err error) {
	for path, r := range s.over {
		t, is := r.(*Task)
		if task, archived, _ := TaskPath(path); is && archived && task == id {
			return path, t.Brief(), nil
		}
	}
	if s.src == nil {
		return "", Brief{}, s.err
	}
	if path, b, err = s.src.Archived(id); err != nil {
		s.fail(err)
		return "", Brief{}, err
	}
	return path, b, nil
}

// ArchivedIn returns the sprint in whose archive a task is, "" for any other task.
func ArchivedIn(s *State, task string) string {
	path, _, _ := s.Archived(task)
	if _, id, ok := SplitPath(path); ok {
		return strings.TrimSuffix(id, "/"+task)
	}
	return ""
}

// Agent returns an agent's record, nil when it is not registered.
func (s *State) Agent(id string) *Agent { return get[Agent](s, RecordPath(AgentDir, id)) }

// Handoff returns the last hand-off of a task.
func (s *State) Handoff(task string) *Handoff { return get[Handoff](s, RecordPath(HandoffDir, task)) }

// HandoffTo returns the hand-off of another agent of a role to the agent that continues its work on
// a task, nil for none.
func HandoffTo(s *State, role roles.Role, t *Task) *Handoff {
	h := s.Handoff(t.ID)
	if h == nil {
		return nil
	}
	if by, _ := s.RoleOf(h.Agent); by != role {
		return nil
	}
	if role == roles.CodeReviewer && t.reviewHandedOff(h) || role == roles.Coder && (t.HandoffPending || t.TookOverHandoff()) {
		return h
	}
	return nil
}

// Discovery returns a discovery.
func (s *State) Discovery(id string) *Discovery {
	return get[Discovery](s, RecordPath(DiscoveryDir, id))
}

// Note returns a note.
func (s *State) Note(id string) *Note { return get[Note](s, RecordPath(NoteDir, id)) }

// Anomaly returns an anomaly.
func (s *State) Anomaly(id string) *Anomaly { return get[Anomaly](s, RecordPath(AnomalyDir, id)) }

// SpecChange returns a recorded change of a spec.
func (s *State) SpecChange(id string) *SpecChange {
	return get[SpecChange](s, RecordPath(SpecChangeDir, id))
}

// List lists the ids in a directory, by their numbers if they have any.
func (s *State) List(dir string) []string {
	ids, _ := s.IDs(dir)
	if dir == AgentDir {
		slices.SortStableFunc(ids, func(a, b string) int {
			pa, na := split(a)
			pb, nb := split(b)
			return cmp.Or(strings.Compare(pa, pb), na-nb)
		})
	}
	return ids
}

func split(id string) (string, int) {
	i := strings.LastIndexByte(id, '-')
	if i < 0 {
		return id, 0
	}
	n, _ := strconv.Atoi(id[i+1:])
	return id[:i], n
}

// nextID returns the id for the next record of a numbered family: one more than the highest.
func (s *State) nextID(dir, prefix string) string {
	last, _ := s.LastID(dir)
	_, n := split(last)
	return prefix + "-" + strconv.Itoa(n+1)
}

// FindTask returns a task, or a refusal that suggests the nearest ids.
func (s *State) FindTask(id string) (*Task, error) {
	if ValidTaskID(id) {
		if t := s.Task(id); t != nil {
			return t, nil
		}
	}
	if s.Err() != nil {
		return nil, s.Err()
	}
	return nil, s.unknownTask(id)
}
