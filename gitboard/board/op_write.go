package board

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"

	"github.com/git-liza/git-liza/gitboard/text"
)

// Write is a human's edit of one record: the changed fields, with their new values as YAML. It
// can't change what has its own operation, or history.
type Write struct {
	Path   string      `json:"path"` // the record's path in the tree
	Fields []FieldEdit `json:"fields"`
	Reason string      `json:"reason,omitempty"`
}

// FieldEdit is a top-level field of a record and its new value, as YAML.
type FieldEdit struct {
	Field string `json:"field"`
	Value string `json:"value"`
}

// writable lists the fields that an edit may change, by the record's directory or path. All other
// fields have their own commands.
var writable = sync.OnceValue(func() map[string][]string {
	return map[string][]string{
		TaskDir: {"title", "description", "done_when", "scope", "spec_ref", "kind", "stage", "priority", "depends_on", "touches", "max_iterations", "max_review_cycles",
			"lease_duration_override", "blocked_reason", "blocked_questions", "attempted", "reserved_for", "rescope_reason", "extra"},
		GoalDir:       {"description", "vision", "spec_ref", "extra"},
		SprintPath:    {"scope", "timeline", "retrospective", "extra"},
		DiscoveryDir:  {"description", "severity", "urgency", "recommendation", "extra"},
		HandoffDir:    {"summary", "next_action", "approach", "blockers", "files_modified", "next_steps", "extra"},
		NoteDir:       {"message", "for", "extra"},
		AnomalyDir:    {"details", "extra"},
		SpecChangeDir: {"spec", "change", "extra"},
		KeyDir:        {"extra"},
		AgentDir:      {"extra"},
		ConfigPath:    configFields(),
		MetaPath:      {"extra"},
		TeamPath:      {"extra"},
		ControlPath:   {"reason", "extra"},
		BreakerPath:   {"extra"},
	}
})

// configFields lists the settings that a human may change, each subject to its own rules.
func configFields() []string {
	var fields []string
	for _, k := range ConfigKeys {
		if k.Name != chosenAtInit {
			fields = append(fields, k.Name)
		}
	}
	return append(fields, "extra")
}

// Writable lists the fields of the record at a path that an edit may change.
func Writable(path string) []string {
	kind, _, _ := strings.Cut(path, "/")
	return writable()[kind]
}

// Editable returns the record at a path. It refuses a record that does not exist or can't change
// any more.
func Editable(s *State, path string) (any, error) {
	if NewRecord(path) == nil {
		return nil, invalid("%s is not a record of a board", quote(path)).Advise("%s, or paths like tasks.add-auth.priority", ActOn("read"))
	}
	record, err := s.Record(path)
	if err != nil {
		return nil, err
	}
	if record == nil && path == TeamPath {
		return BuiltinTeam(), nil
	}
	if record == nil {
		return nil, refuse(CodeUnknownRecord, "there is no record %s", path).Way(ActOn("read"))
	}
	if t, ok := record.(*Task); ok && t.Status.Terminal() {
		return nil, refuse(CodeWrongState, "%s is %s: nothing about it changes any more", t.ID, t.Status)
	}
	return record, nil
}

// Op implements Payload.
func (p *Write) Op() string { return "write" }

// TaskID implements TaskPayload.
func (p *Write) TaskID() string {
	if id, ok := strings.CutPrefix(p.Path, TaskDir+"/"); ok {
		return strings.TrimSuffix(id, ".yaml")
	}
	return ""
}

// Check implements Payload.
func (p *Write) Check(s *State, op Operation) error {
	old, err := Editable(s, p.Path)
	if err != nil {
		return err
	}
	if len(p.Fields) == 0 {
		return invalid("nothing is named to change")
	}
	may := Writable(p.Path)
	for _, f := range p.Fields {
		if !slices.Contains(may, f.Field) {
			return refuse(CodePermission, "an edit doesn't change %s of %s: that is what commands and history are for", quote(f.Field), p.Path).
				Advise("editable: %s", strings.Join(may, ", "))
		}
	}
	edited, err := p.edited(old)
	if err != nil {
		return invalid("%s: %v", p.Path, err)
	}
	if err := p.checkTexts(edited, op); err != nil {
		return err
	}
	if sameYAML(edited, old) {
		return refuse(CodeExists, "this changes nothing in %s", p.Path)
	}
	if c, ok := edited.(*Config); ok {
		return mayConfigure(s, c, p.Fields)
	}
	if t, ok := edited.(*Task); ok {
		if t.ReservedFor != "" && t.ReservedFor != old.(*Task).ReservedFor {
			if err := registeredCoder(s, t.ReservedFor, t); err != nil {
				return err
			}
		}
		if err := checkDefinition(s, t.Definition(), t.ID); err != nil || t.Status == Draft {
			return err
		}
		return gates(t.ID, t.Definition(), true)
	}
	return nil
}

// checkTexts checks the decoded new values against the rules for texts, so that escapes in the YAML
// can't bypass them.
func (p *Write) checkTexts(edited any, op Operation) error {
	r := reflect.ValueOf(edited).Elem()
	for i, field := range Fields(r.Type()) {
		if !slices.ContainsFunc(p.Fields, func(f FieldEdit) bool { return f.Field == field.Name }) {
			continue
		}
		if err := recordTexts(r.Field(i), field.Name, op); err != nil {
			return err
		}
	}
	return nil
}

// recordTexts checks the texts of a record, or of a field of it, against the rules for texts.
func recordTexts(v reflect.Value, name string, op Operation) (fault error) {
	eachText(v, name, func(_, text string) {
		if fault == nil {
			fault = textFault(name, text, MaxText, op.AllowSecret)
		}
	})
	return fault
}

// sameYAML compares records as written, where an empty list is the same as none.
func sameYAML(a, b any) bool {
	x, errX := yaml.Marshal(a)
	y, errY := yaml.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// edited returns a copy of a record with the new fields.
func (p *Write) edited(old any) (any, error) {
	fields := map[string]*yaml.Node{}
	for _, f := range p.Fields {
		if fields[f.Field] != nil {
			return nil, fmt.Errorf("%s is named twice", f.Field)
		}
		n, err := parseValue(f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Field, err)
		}
		fields[f.Field] = n
	}
	text, err := yaml.Marshal(fields)
	if err != nil {
		return nil, err
	}
	c := reflect.New(reflect.TypeOf(old).Elem())
	c.Elem().Set(reflect.ValueOf(old).Elem())
	for i, f := range Fields(c.Elem().Type()) {
		if _, changes := fields[f.Name]; changes {
			c.Elem().Field(i).SetZero()
		}
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(c.Interface()); err != nil {
		return nil, YAMLFault(err)
	}
	return c.Interface(), nil
}

// Apply implements Payload.
func (p *Write) Apply(s *State, op Operation) {
	old, err := s.Record(p.Path)
	if err != nil {
		return // the state keeps it
	}
	r, err := p.edited(old)
	if err != nil {
		return
	}
	if t, ok := r.(*Task); ok {
		was := old.(*Task).Definition()
		if t.SpecRef != was.SpecRef {
			t.SpecOID = "" // it is the blob of another file
		}
		e := t.event(op, EventEdited)
		e.Reason, e.Was = p.Reason, was.changedTo(t.Definition())
	}
	put(s, p.Path, r)
	for _, f := range p.Fields {
		continueOnBudget(s, op, f.Field) // only the settings have fields of these names
	}
}

// Subject implements Payload.
func (p *Write) Subject(_, _ *State, _ Operation) (string, string) {
	var names []string
	for _, f := range p.Fields {
		names = append(names, f.Field)
	}
	return p.Path + ": " + text.Line(strings.Join(names, ", "), 80), p.Reason
}
