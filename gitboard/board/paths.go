package board

import (
	"strings"

	"github.com/git-liza/git-liza/roles"
)

// The paths of the records in the board's tree.
const (
	MetaPath    = "board.yaml"
	GoalPath    = "goal.yaml"
	SprintPath  = "sprint.yaml"
	ConfigPath  = "config.yaml"
	ControlPath = "control.yaml"
	BreakerPath = "breaker.yaml"
)

// The directories of the records that come in numbers.
const (
	TaskDir       = "tasks"
	AgentDir      = "agents"
	DiscoveryDir  = "discovered"
	HandoffDir    = "handoff"
	NoteDir       = "notes"
	AnomalyDir    = "anomalies"
	SpecChangeDir = "spec-changes"
)

var (
	taskID   = formOf(`^[a-z0-9][a-z0-9-]{0,63}$`)
	recordID = formOf(`^[a-z]+-[1-9][0-9]{0,8}$`)
)

// singles and families: every record that a board has, each with what it decodes into.
var (
	singles = map[string]func() any{
		MetaPath:    func() any { return &Meta{} },
		GoalPath:    func() any { return &Goal{} },
		SprintPath:  func() any { return &Sprint{} },
		ConfigPath:  func() any { return &Config{} },
		ControlPath: func() any { return &Control{} },
		BreakerPath: func() any { return &Breaker{} },
	}
	families = map[string]family{
		TaskDir:       {func() any { return &Task{} }, taskID.MatchString},
		AgentDir:      {func() any { return &Agent{} }, func(id string) bool { _, err := roles.Of(id); return err == nil }},
		DiscoveryDir:  {func() any { return &Discovery{} }, recordID.MatchString},
		HandoffDir:    {func() any { return &Handoff{} }, taskID.MatchString},
		NoteDir:       {func() any { return &Note{} }, recordID.MatchString},
		AnomalyDir:    {func() any { return &Anomaly{} }, recordID.MatchString},
		SpecChangeDir: {func() any { return &SpecChange{} }, recordID.MatchString},
	}
)

type family struct {
	new   func() any
	valid func(id string) bool
}

// NewRecord returns an empty record of the kind that a path holds, or nil for a path that holds none.
func NewRecord(path string) any {
	if mk := singles[path]; mk != nil {
		return mk()
	}
	dir, file, ok := strings.Cut(path, "/")
	id, isYAML := strings.CutSuffix(file, ".yaml")
	if f, known := families[dir]; ok && known && isYAML && f.valid(id) {
		return f.new()
	}
	return nil
}

// RecordPath is where the record of a family lies.
func RecordPath(dir, id string) string { return dir + "/" + id + ".yaml" }

// ValidTaskID reports whether an id has a task id's form.
func ValidTaskID(id string) bool { return taskID.MatchString(id) }
