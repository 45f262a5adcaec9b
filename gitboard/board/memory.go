package board

import (
	"maps"
	"slices"
	"strings"
)

// Memory is a Source that holds a whole board in memory, for replay and simulation.
type Memory struct {
	records map[string]any
	ids     map[string][]string
	briefs  map[string]Brief
}

// NewMemory begins an empty board.
func NewMemory() *Memory {
	return &Memory{records: map[string]any{}, ids: map[string][]string{}, briefs: map[string]Brief{}}
}

// Record implements Source.
func (m *Memory) Record(path string) (any, error) { return m.records[path], nil }

// IDs implements Source.
func (m *Memory) IDs(dir string) ([]string, error) { return m.ids[dir], nil }

// Briefs implements Source.
func (m *Memory) Briefs() (map[string]Brief, error) { return m.briefs, nil }

// Paths lists the paths of all records, sorted.
func (m *Memory) Paths() []string { return slices.Sorted(maps.Keys(m.records)) }

// Absorb takes a state's changes in. States begun earlier on this source see them, too: a replay
// keeps one state at a time.
func (m *Memory) Absorb(s *State) {
	for path, r := range s.Changes() {
		dir, file, _ := strings.Cut(path, "/")
		id := strings.TrimSuffix(file, ".yaml")
		at, found := slices.BinarySearch(m.ids[dir], id)
		if r == nil {
			delete(m.records, path)
			if dir == TaskDir {
				delete(m.briefs, id)
			}
			if found && file != "" {
				m.ids[dir] = slices.Delete(m.ids[dir], at, at+1)
			}
			continue
		}
		m.records[path] = r
		if file != "" && !found {
			m.ids[dir] = slices.Insert(m.ids[dir], at, id)
		}
		if t, ok := r.(*Task); ok {
			m.briefs[t.ID] = t.Brief()
		}
	}
}
