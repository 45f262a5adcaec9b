package records

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/text"
)

// Families maps keys of the document to directories of records.
var Families = map[string]string{
	"goals": board.GoalDir, "tasks": board.TaskDir, "agents": board.AgentDir, "discovered": board.DiscoveryDir, "handoff": board.HandoffDir,
	"human_notes": board.NoteDir, "anomalies": board.AnomalyDir, "spec_changes": board.SpecChangeDir,
}

var Singles = map[string]string{
	"sprint": board.SprintPath, "config": board.ConfigPath, "control": board.ControlPath, "circuit_breaker": board.BreakerPath,
	"team": board.TeamPath,
}

// DocumentPath is the document's path for a record or a part of it that is named by its file, in
// full or shortened: human_notes.note-1.message for notes/0/0/note-1.yaml.message and
// notes/note-1.message. Other paths are unchanged.
func DocumentPath(path string) string {
	under := func(key string, files ...string) (string, bool) {
		for _, file := range files {
			if rest, ok := strings.CutPrefix(path, file); ok && (rest == "" || rest[0] == '.') {
				return key + rest, true
			}
		}
		return "", false
	}
	for key, file := range Singles {
		if at, ok := under(key, file); ok {
			return at
		}
	}
	if file, rest, ok := strings.Cut(path, ".yaml"); ok {
		if id, archived, is := board.TaskPath(file + ".yaml"); is && archived {
			return "tasks." + id + rest
		}
	}
	name, _, _ := strings.Cut(path, ".")
	id := name[strings.LastIndexByte(name, '/')+1:]
	for key, dir := range Families {
		short := dir + "/" + id
		if at, ok := under(key+"."+id, board.RecordPath(dir, id), short+".yaml", short); ok {
			return at
		}
	}
	return path
}

// At splits a path into the record that it leads to, and the remaining keys.
func At(path string) (record string, keys []string, err error) {
	parts := strings.Split(strings.Trim(path, "."), ".")
	if file, ok := Singles[parts[0]]; ok && len(parts) > 1 {
		return file, parts[1:], nil
	}
	if dir, ok := Families[parts[0]]; ok && len(parts) > 2 {
		return board.RecordPath(dir, parts[1]), parts[2:], nil
	}
	return "", nil, board.Refuse(board.CodeInvalid, fmt.Sprintf("%q names no field of a record", text.Line(path, 80)), "paths like tasks.add-auth.priority; git liza read shows what there is")
}

// Meant replaces "goal" at the start of a path by the default goal.
func Meant(s *board.State, path string) string {
	rest, ok := strings.CutPrefix(path, "goal")
	if !ok || rest != "" && rest[0] != '.' {
		return path
	}
	if g := s.TheGoal(); g != nil {
		return "goals." + g.ID + rest
	}
	return path
}

// Called is the path of the record, other than a task, that an id names; "" for none.
func Called(s *board.State, id string) string {
	if Singles[id] != "" {
		return id
	}
	if id == "goal" {
		return Meant(s, id)
	}
	if sp := s.Sprint(); sp != nil && sp.ID == id {
		return "sprint"
	}
	for _, key := range []string{"goals", "agents", "discovered", "human_notes", "anomalies", "spec_changes"} {
		if slices.Contains(s.List(Families[key]), id) {
			return key + "." + id
		}
	}
	return ""
}
