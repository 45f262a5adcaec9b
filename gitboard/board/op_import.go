package board

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/git-liza/git-liza/gitboard/text"
)

// MaxImport is how many bytes the records and the log of an imported board may have in total.
const MaxImport = 16 << 20

// Import begins a board with the records of another one, in the format of the one-file version of
// this protocol. The operation contains what was read from the file, not the file itself: how to
// read it is not a rule of the board.
type Import struct {
	Source  string      `json:"source"` // the name of the file
	Records []Imported  `json:"records"`
	Log     []PastEntry `json:"log,omitempty"`
}

// Imported is a record: its path and its YAML.
type Imported struct {
	Path string `json:"path"`
	YAML string `json:"yaml"`
}

// PastEntry is an entry of a log.yaml.
type PastEntry struct {
	Timestamp Time   `json:"timestamp" yaml:"timestamp"`
	Agent     string `json:"agent" yaml:"agent"`
	Action    string `json:"action" yaml:"action"`
	Task      string `json:"task,omitempty" yaml:"task,omitempty"`
	Detail    string `json:"detail" yaml:"detail"`
}

// Op implements Payload.
func (p *Import) Op() string { return "import" }

// Check implements Payload.
func (p *Import) Check(s *State, op Operation) error {
	if s.Meta() != nil {
		return refuse(CodeExists, "this repository has a board already: %s", text.Line(s.Purpose(), 100)).Way(ActOn("status"))
	}
	if err := required("source", p.Source); err != nil {
		return err
	}
	last := ""
	for _, r := range p.Records {
		if r.Path <= last {
			return invalid("the records are not in the order of their paths at %s", quote(r.Path))
		}
		last = r.Path
		record, err := r.decode()
		if err != nil {
			return invalid("%s: %v", quote(r.Path), err)
		}
		if id := recordsID(record); id != "" && r.Path != RecordPath(r.dir(), id) {
			return invalid("%s holds %s", r.Path, quote(id))
		}
		if err := recordTexts(reflect.ValueOf(record), r.Path, op); err != nil {
			return err
		}
		if c, is := record.(*Config); is {
			if err := CheckIntegration(c.IntegrationBranch); err != nil {
				return err
			}
			k, _ := FindConfigKey(KeyTaskBranches)
			if err := k.Check(c); err != nil {
				return invalid("%v", err)
			}
		}
	}
	for _, path := range []string{SprintPath, ConfigPath, ControlPath, BreakerPath} {
		if !slices.ContainsFunc(p.Records, func(r Imported) bool { return r.Path == path }) {
			return invalid("%s is missing", path)
		}
	}
	if !slices.ContainsFunc(p.Records, func(r Imported) bool { return r.dir() == GoalDir }) {
		return invalid("there is no goal")
	}
	for _, e := range p.Log {
		if _, err := ParseTime(string(e.Timestamp)); err != nil {
			return invalid("the log: %v", err)
		}
	}
	return nil
}

func (r Imported) dir() string {
	dir, _, _ := strings.Cut(r.Path, "/")
	return dir
}

// decode decodes the record. Records that define the board itself, keys and archived tasks can't be
// imported.
func (r Imported) decode() (any, error) {
	record := NewRecord(r.Path)
	if record == nil || r.Path == MetaPath || r.dir() == ArchiveDir || r.dir() == KeyDir {
		return nil, fmt.Errorf("is not a record that can be imported")
	}
	d := yaml.NewDecoder(bytes.NewReader([]byte(r.YAML)))
	d.KnownFields(true)
	if err := d.Decode(record); err != nil {
		return nil, err
	}
	return record, nil
}

// recordsID returns the id that a record contains, "" if it contains none.
func recordsID(record any) string {
	switch r := record.(type) {
	case *Goal:
		return r.ID
	case *Task:
		return r.ID
	case *Discovery:
		return r.ID
	case *Note:
		return r.ID
	case *Anomaly:
		return r.ID
	case *SpecChange:
		return r.ID
	}
	return ""
}

// Apply implements Payload.
func (p *Import) Apply(s *State, op Operation) {
	put(s, MetaPath, &Meta{Format: Format, Created: op.Time})
	for _, r := range p.Records {
		record, err := r.decode()
		if err != nil {
			return
		}
		if t, ok := record.(*Task); ok {
			t.event(op, EventImported)
		}
		put(s, r.Path, record)
	}
}

// Subject implements Payload.
func (p *Import) Subject(_, after *State, _ Operation) (string, string) {
	n := len(after.List(TaskDir))
	return text.Line(p.Source, 60) + ", " + text.Plural(n, "task"), text.Line(after.Purpose(), 200)
}

// Unarchived returns the board with its archived tasks among the others, for callers that need all
// of it at once. It removes the events of an import from histories.
func Unarchived(s *State) *State {
	all := s.next(s.Time())
	for _, id := range s.List(ArchiveDir) {
		path := RecordPath(ArchiveDir, id)
		if t := get[Task](s, path); t != nil {
			remove(all, path)
			put(all, RecordPath(TaskDir, t.ID), t)
		}
	}
	for _, b := range all.Tasks() {
		t := all.Task(b.ID)
		if t == nil || t.Last(EventImported) == nil {
			continue
		}
		c := *t
		c.History = slices.DeleteFunc(slices.Clone(t.History), func(e Event) bool { return e.Event == EventImported })
		put(all, RecordPath(TaskDir, c.ID), &c)
	}
	return all
}
