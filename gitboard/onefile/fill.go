package onefile

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/text"
)

// report collects changes to intact fields, and the faults of others.
type report struct {
	lines  []string
	faults []Fault
}

// fault records a place that can't be read.
func (r *report) fault(where string, line int, format string, args ...any) {
	r.faults = append(r.faults, Fault{max(line, 1), text.Line(where+": "+fmt.Sprintf(format, args...), 300)})
}

// add records a change to something that can't be kept as it was.
func (r *report) add(where string, line int, format string, args ...any) {
	at := ""
	if line > 0 {
		at = fmt.Sprintf(" (line %d)", line)
	}
	r.lines = append(r.lines, text.Line(where+at+": "+fmt.Sprintf(format, args...), 300))
}

// The names that fields had in some versions of the file, for each kind of record.
var (
	oldTask    = map[string]string{"task_id": "id", "rejection_feedback": "rejection_reason"}
	oldEvent   = map[string]string{"timestamp": "time", "by": "agent", "action": "event"}
	oldAgent   = map[string]string{"task": "current_task"}
	oldFinding = map[string]string{"task_id": "during", "task": "during", "logged_by": "by", "timestamp": "created"}
	oldAnomaly = map[string]string{"task_id": "task", "logged_by": "reporter", "agent": "reporter", "by": "reporter", "time": "timestamp"}
	oldNote    = map[string]string{"task_id": "for", "task": "for", "logged_by": "by", "time": "timestamp", "note": "message"}
	oldChange  = map[string]string{"task_id": "triggered_by", "task": "triggered_by", "time": "timestamp", "spec_ref": "spec"}
	oldEntry   = map[string]string{"time": "timestamp", "event": "action", "by": "agent", "task_id": "task", "details": "detail", "message": "detail"}
	noNames    = map[string]string{}
)

var (
	timeType   = reflect.TypeFor[board.Time]()
	scalarType = reflect.TypeFor[board.Scalar]()

	rejectionType = reflect.TypeFor[*board.Rejection]()
)

// fill puts the fields of a mapping into a struct. Fields that the struct does not have go under
// its extra:, where it has one; they are returned otherwise. What does not fit is reported.
func (r *report) fill(where string, n *yaml.Node, into any, names map[string]string) (unknown []string, values map[string]*yaml.Node) {
	v := reflect.ValueOf(into).Elem()
	known := map[string]reflect.Value{}
	for i, f := range board.Fields(v.Type()) {
		known[f.Name] = v.Field(i)
	}
	keys, values := fields(n)
	if n != nil && n.Kind != yaml.MappingNode && !absent(n) {
		r.fault(where, n.Line, "%q is not a mapping of fields", text.Line(textOf(n), 60))
	}
	for _, key := range keys {
		name := key
		if other, renamed := names[key]; renamed && values[other] == nil {
			if _, same := known[key]; !same {
				name = other
			}
		}
		f, ok := known[name]
		switch {
		case !ok:
			if !absent(values[key]) {
				unknown = append(unknown, key)
			}
		case f.Kind() == reflect.Interface:
			if !absent(values[key]) {
				f.Set(reflect.ValueOf(anyValue(values[key])))
			}
		default:
			r.set(where+": "+key, values[key], f)
		}
	}
	if extra, has := known["extra"]; has && len(unknown) > 0 {
		under := map[string]any{}
		if was, is := extra.Interface().(map[string]any); is {
			under = was
		} else if !extra.IsNil() {
			under["extra"] = extra.Interface()
		}
		for _, key := range unknown {
			under[key] = anyValue(values[key])
		}
		extra.Set(reflect.ValueOf(under))
		r.add(where, n.Line, "not known here, kept under extra: %s", strings.Join(unknown, ", "))
		unknown = nil
	}
	return unknown, values
}

// set puts a value into a field. A value that does not fit is a fault.
func (r *report) set(where string, n *yaml.Node, f reflect.Value) {
	if absent(n) {
		return
	}
	bad := func(needed string) {
		r.fault(where, n.Line, "%q is not %s", text.Line(textOf(n), 60), needed)
	}
	switch {
	case f.Type() == timeType:
		at, ok := when(textOf(n))
		if !ok {
			bad("a time like 2026-01-31T09:00:00Z")
			return
		}
		f.SetString(string(at))
	case f.Kind() == reflect.String:
		f.SetString(r.short(where, n.Line, textOf(n)))
	case f.Kind() == reflect.Int:
		i, err := strconv.Atoi(strings.TrimSuffix(textOf(n), "%"))
		if err != nil || i < -1<<31 || i > 1<<31-1 {
			bad("a number")
			return
		}
		f.SetInt(int64(i))
	case f.Kind() == reflect.Bool:
		switch strings.ToLower(textOf(n)) {
		case "true", "yes", "on", "1":
			f.SetBool(true)
		case "false", "no", "off", "0":
			f.SetBool(false)
		default:
			bad("true or false")
		}
	case f.Type() == rejectionType && n.Kind == yaml.ScalarNode:
		f.Set(reflect.ValueOf(rejection(r.short(where, n.Line, textOf(n)))))
	case f.Kind() == reflect.Pointer:
		if n.Kind != yaml.MappingNode {
			bad("a mapping of fields")
			return
		}
		made := reflect.New(f.Type().Elem())
		r.lost(where, n, made.Interface(), noNames)
		f.Set(made)
	case f.Kind() == reflect.Struct:
		r.lost(where, n, f.Addr().Interface(), noNames)
	case f.Kind() == reflect.Slice:
		r.list(where, n, f)
	case f.Kind() == reflect.Map && f.Type().Elem() == scalarType:
		if n.Kind != yaml.MappingNode {
			f.Set(reflect.ValueOf(map[string]board.Scalar{"note": board.Scalar(r.short(where, n.Line, textOf(n)))}))
			return
		}
		all := map[string]board.Scalar{}
		keys, values := fields(n)
		for _, key := range keys {
			all[key] = board.Scalar(r.short(where+"."+key, n.Line, textOf(values[key])))
		}
		f.Set(reflect.ValueOf(all))
	}
}

// lost fills a struct and reports the fields that it lacks.
func (r *report) lost(where string, n *yaml.Node, into any, names map[string]string) {
	unknown, values := r.fill(where, n, into, names)
	for _, key := range unknown {
		r.add(where, values[key].Line, "not kept: %s: %s", key, textOf(values[key]))
	}
}

func (r *report) list(where string, n *yaml.Node, f reflect.Value) {
	items := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		items = n.Content
	}
	list := reflect.MakeSlice(f.Type(), 0, len(items))
	for _, item := range items {
		one := reflect.New(f.Type().Elem()).Elem()
		if absent(item) {
			continue
		}
		switch {
		case one.Kind() == reflect.Struct && item.Kind != yaml.MappingNode:
			r.fault(where, item.Line, "%q is not a mapping of fields", text.Line(textOf(item), 60))
			continue
		case one.Type() == reflect.TypeFor[board.Event]():
			r.event(where, item, one.Addr().Interface().(*board.Event))
		case one.Type() == reflect.TypeFor[board.Alignment]():
			r.lost(where, item, one.Addr().Interface(), map[string]string{"time": "timestamp"})
		default:
			r.set(where, item, one)
		}
		list = reflect.Append(list, one)
	}
	f.Set(list)
}

// short is a text as a record may hold it.
func (r *report) short(where string, line int, s string) string {
	if len(s) > board.MaxText {
		r.fault(where, line, "it has %d bytes; %d are allowed", len(s), board.MaxText)
	}
	return s
}

// anyValue is any value in a form that an extra: keeps as it is.
func anyValue(n *yaml.Node) any {
	switch n.Kind {
	case yaml.MappingNode:
		m := map[string]any{}
		keys, values := fields(n)
		for _, key := range keys {
			m[key] = anyValue(values[key])
		}
		return m
	case yaml.SequenceNode:
		list := []any{}
		for _, item := range n.Content {
			list = append(list, anyValue(item))
		}
		return list
	}
	switch n.ShortTag() {
	case "!!int":
		if i, err := strconv.Atoi(n.Value); err == nil && strconv.Itoa(i) == n.Value {
			return i
		}
	case "!!bool":
		if n.Value == "true" || n.Value == "false" {
			return n.Value == "true"
		}
	case "!!null":
		return nil
	}
	return n.Value
}

var timeForms = []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05 -0700", "2006-01-02 15:04:05", "2006-01-02T15:04Z07:00", "2006-01-02 15:04", time.DateOnly}

// when reads a time of any usual form; one that names no zone is UTC.
func when(s string) (board.Time, bool) {
	for _, form := range timeForms {
		if t, err := time.Parse(form, strings.TrimSpace(s)); err == nil && t.UTC().Year() > 0 && t.UTC().Year() < 9999 {
			return board.At(t), true
		}
	}
	return "", false
}

// eventNames are what events of a task were called.
var eventNames = map[string]string{
	"planning": board.EventCreated, "planned": board.EventCreated, "submitted_for_review": board.EventReady, "submitted": board.EventReady,
	"handoff": board.EventHandedOff, "integration_failure": board.EventIntegrationFailed,
	"claim_released": board.EventCoderReleased, "released": board.EventCoderReleased,
}

// event reads an entry of a task's history. What an event has no field for joins its reason.
func (r *report) event(where string, n *yaml.Node, e *board.Event) {
	unknown, values := r.fill(where, n, e, oldEvent)
	for _, key := range unknown {
		if e.Reason != "" {
			e.Reason += "; "
		}
		e.Reason = r.short(where, n.Line, e.Reason+key+": "+textOf(values[key]))
	}
	if e.Time.IsZero() || e.Event == "" {
		r.fault(where, n.Line, "an event needs a time and a name: event")
	}
	if name, old := eventNames[e.Event]; old {
		e.Event = name
	}
	if e.Event == board.EventRejected && e.Rejection == nil && e.Reason != "" {
		e.Reason, e.Rejection = "", rejection(e.Reason)
	}
}

// rejection reads a rejection that was kept as text.
func rejection(text string) *board.Rejection {
	parsed, err := board.ParseRejection(text)
	if err != nil {
		return &board.Rejection{Overall: text}
	}
	return &parsed
}
