package board

import (
	"cmp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/text"
)

// The paths of single records in the board's tree.
const (
	MetaPath    = "board.yaml"
	SprintPath  = "sprint.yaml"
	ConfigPath  = "config.yaml"
	ControlPath = "control.yaml"
	BreakerPath = "breaker.yaml"
	TeamPath    = "team.yaml"
)

// The directories of record families.
const (
	GoalDir       = "goals"
	TaskDir       = "tasks"
	AgentDir      = "agents"
	DiscoveryDir  = "discovered"
	HandoffDir    = "handoff"
	NoteDir       = "notes"
	AnomalyDir    = "anomalies"
	SpecChangeDir = "spec-changes"
	ArchiveDir    = "archive" // its ids are <sprint>/<task>
	KeyDir        = "keys"
)

var (
	taskID   = shortForm(64, `^[a-z0-9][a-z0-9-]*$`)
	recordID = formOf(`^[a-z]+-[1-9][0-9]{0,8}$`)
)

// singles and families are all records of a board, each with the type it decodes into.
var (
	singles = map[string]func() any{
		MetaPath:    func() any { return &Meta{} },
		SprintPath:  func() any { return &Sprint{} },
		ConfigPath:  func() any { return &Config{} },
		ControlPath: func() any { return &Control{} },
		BreakerPath: func() any { return &Breaker{} },
		TeamPath:    func() any { return &Team{} },
	}
	families = map[string]family{
		GoalDir:       {new: func() any { return &Goal{} }, valid: ValidTaskID},
		TaskDir:       {new: func() any { return &Task{} }, valid: ValidTaskID},
		AgentDir:      {new: func() any { return &Agent{} }, valid: roles.IsID},
		DiscoveryDir:  {new: func() any { return &Discovery{} }, valid: recordID.MatchString, numbered: true},
		HandoffDir:    {new: func() any { return &Handoff{} }, valid: ValidTaskID},
		NoteDir:       {new: func() any { return &Note{} }, valid: recordID.MatchString, numbered: true},
		AnomalyDir:    {new: func() any { return &Anomaly{} }, valid: recordID.MatchString, numbered: true},
		SpecChangeDir: {new: func() any { return &SpecChange{} }, valid: recordID.MatchString, numbered: true},
		ArchiveDir:    {new: func() any { return &Task{} }, valid: validArchived, below: 1},
		KeyDir:        {new: func() any { return &Key{} }, valid: keyID.MatchString},
	}
)

type family struct {
	new   func() any
	valid func(id string) bool
	// numbered records get the next number and are never removed. They are kept in directories of a
	// hundred, and these in turn in directories of a hundred, so that each write makes only small
	// trees.
	numbered bool
	// below is how many directories the ids themselves contain.
	below int
}

// NewRecord returns an empty record of the kind stored at a path, nil if no record belongs there.
func NewRecord(path string) any {
	if mk := singles[path]; mk != nil {
		return mk()
	}
	if dir, id, ok := SplitPath(path); ok && families[dir].valid(id) {
		return families[dir].new()
	}
	return nil
}

// validArchived relies on a sprint's id having the form of a task's.
func validArchived(id string) bool {
	sprint, task, _ := strings.Cut(id, "/")
	return ValidTaskID(sprint) && ValidTaskID(task)
}

// ArchivePath is the path of a task of an ended sprint.
func ArchivePath(sprint, task string) string { return RecordPath(ArchiveDir, sprint+"/"+task) }

// TaskPath reports whether a path is a task's, and whether the task is archived.
func TaskPath(path string) (task string, archived, ok bool) {
	dir, id, ok := SplitPath(path)
	switch {
	case ok && dir == TaskDir:
		return id, false, true
	case ok && dir == ArchiveDir:
		return id[strings.IndexByte(id, '/')+1:], true, true
	}
	return "", false, false
}

// Holds reports whether a task may be stored at a path.
func Holds(path string, t *Task) bool {
	id, _, ok := TaskPath(path)
	return ok && id == t.ID
}

// RecordPath is the path of a family's record: tasks/add-auth.yaml, notes/1/123/note-12345.yaml,
// archive/sprint-1/add-auth.yaml.
func RecordPath(dir, id string) string {
	if !families[dir].numbered {
		return dir + "/" + id + ".yaml"
	}
	_, n := split(id)
	return dir + "/" + strconv.Itoa(n/10_000) + "/" + strconv.Itoa(n/100) + "/" + id + ".yaml"
}

// SplitPath reverses RecordPath, whatever the form of the id: it returns the family's directory and
// the id; false for any other path.
func SplitPath(path string) (dir, id string, ok bool) {
	dir, rest, _ := strings.Cut(path, "/")
	f, known := families[dir]
	name, isYAML := strings.CutSuffix(rest, ".yaml")
	id = name
	if f.numbered {
		id = name[strings.LastIndexByte(name, '/')+1:]
	}
	if !known || !isYAML || !f.numbered && strings.Count(id, "/") != f.below || f.numbered && RecordPath(dir, id) != path {
		return "", "", false
	}
	return dir, id, true
}

// IsDir reports whether a path is a directory that may contain records or directories of them.
func IsDir(path string) bool {
	dir, rest, below := strings.Cut(path, "/")
	f, known := families[dir]
	switch {
	case !below:
		return known
	case f.below > 0:
		return taskID.MatchString(rest)
	case !f.numbered:
		return false
	}
	outer, inner, both := strings.Cut(rest, "/")
	first := outer + "0000"
	if both {
		first = inner + "00"
	}
	return strings.HasPrefix(RecordPath(dir, "x-"+first), path+"/")
}

// CompareIDs compares ids of a family, by their numbers if the family is numbered.
func CompareIDs(dir, a, b string) int {
	if families[dir].numbered {
		_, na := split(a)
		_, nb := split(b)
		if na != nb {
			return cmp.Compare(na, nb)
		}
	}
	return strings.Compare(a, b)
}

// device matches names that no file can have on Windows, in any case and with any extension.
var device = formOf(`(?i)^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)`)

// ValidTaskID reports whether an id has the form of a task id. The id names files: the task's
// record and its worktree.
func ValidTaskID(id string) bool { return taskID.MatchString(id) && !device.MatchString(id) }

// pseudo matches names that git does not read as a branch (gitrevisions), in any case that a file
// system may fold.
var pseudo = formOf(`(?i)^(@|HEAD|[A-Z]+_HEAD|AUTO_MERGE|refs(/.*)?|[0-9a-f]{40}|[0-9a-f]{64})$`)

// own matches branches that belong to the board, whatever its settings.
var own = formOf(`(?i)^liza(/|$)`)

// validIntegration reports whether a branch can be the integration branch of a new board.
func validIntegration(name string) bool {
	return validBranch(name) && !UsualTaskBranches.clashes(name)
}

// validBranch reports whether a branch can have a name: git accepts it and does not take it for
// another ref (git-check-ref-format), and it is not one of the board's.
func validBranch(name string) bool {
	if len(name) > maxBranch || pseudo.MatchString(name) || own.MatchString(name) || strings.HasPrefix(name, "-") ||
		strings.ContainsAny(name, " ~^:?*[\\") || strings.ContainsFunc(name, text.Hides) || !utf8.ValidString(name) ||
		strings.Contains(name, "..") || strings.Contains(name, "@{") || strings.HasSuffix(name, ".") {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".lock") || device.MatchString(part) {
			return false
		}
	}
	return true
}

// maxBranch is the maximum length in bytes of a branch's name that the board has.
const maxBranch = 200
