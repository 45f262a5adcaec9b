package board

import (
	"maps"
	"slices"
)

// Memory is a Source that keeps a whole board in memory, for replay and simulation.
type Memory struct {
	records map[string]any
	ids     map[string][]string
	briefs  map[string]Brief
	archive map[string]string // task → path
}

// NewMemory returns an empty board.
func NewMemory() *Memory {
	return &Memory{records: map[string]any{}, ids: map[string][]string{}, briefs: map[string]Brief{}, archive: map[string]string{}}
}

// Record implements Source.
func (m *Memory) Record(path string) (any, error) { return m.records[path], nil }

// IDs implements Source.
func (m *Memory) IDs(dir string) ([]string, error) { return m.ids[dir], nil }

// LastID implements Source.
func (m *Memory) LastID(dir string) (string, error) {
	if ids := m.ids[dir]; len(ids) > 0 {
		return ids[len(ids)-1], nil
	}
	return "", nil
}

// Briefs implements Source.
func (m *Memory) Briefs() (map[string]Brief, error) { return m.briefs, nil }

// Archived implements Source.
func (m *Memory) Archived(id string) (string, Brief, error) {
	path := m.archive[id]
	if path == "" {
		return "", Brief{}, nil
	}
	return path, m.records[path].(*Task).Brief(), nil
}

// Paths lists the paths of all records, sorted.
func (m *Memory) Paths() []string { return slices.Sorted(maps.Keys(m.records)) }

// Absorb applies a state's changes. States begun earlier on this source see them as well: a replay
// keeps one state at a time.
func (m *Memory) Absorb(s *State) {
	for path, r := range s.Changes() {
		if r == nil {
			delete(m.records, path)
		} else {
			m.records[path] = r
		}
		dir, id, ok := SplitPath(path)
		if !ok {
			continue
		}
		m.ids[dir] = listed(m.ids[dir], dir, id, r != nil)
		t, _ := r.(*Task)
		task, archived, _ := TaskPath(path)
		switch {
		case archived && t != nil:
			m.archive[task] = path
		case archived && m.archive[task] == path:
			delete(m.archive, task)
		case archived:
		case t != nil:
			m.briefs[t.ID] = t.Brief()
		case dir == TaskDir:
			delete(m.briefs, id)
		}
	}
}
