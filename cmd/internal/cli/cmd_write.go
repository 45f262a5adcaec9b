package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/pflag"
	"gopkg.in/yaml.v3"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/codec"
	"github.com/git-liza/git-liza/gitboard/gitio"
)

func writeCommand() *command {
	var reason string
	return &command{
		name: "write", group: "machines", args: "PATH VALUE", min: 2, max: 2, writes: true,
		short: "change one field of a record (a human); the value is YAML",
		long: `Paths are those of git liza read: tasks.add-auth.priority, sprint.timeline.deadline, config.merge_style.
What operations and history are for can't be written: states, claims, verdicts, commits, history.`,
		flags: func(f *pflag.FlagSet) { f.StringVar(&reason, "reason", "", "why") },
		run: func(c *call) error {
			if key, ok := strings.CutPrefix(c.args[0], "config."); ok && key != "extra" {
				return c.just(&board.SetConfig{Key: key, Value: c.args[1]})
			}
			record, keys, err := recordOf(c.args[0])
			if err != nil {
				return err
			}
			done, err := c.do("write", func(_ context.Context, v *gitboard.View) (board.Payload, []gitio.RefUpdate, error) {
				field, err := newField(v, record, keys, c.args[1])
				if err != nil {
					return nil, nil, err
				}
				return &board.Write{Path: record, Fields: []board.FieldEdit{field}, Reason: reason}, nil, nil
			})
			if err != nil {
				return err
			}
			return c.report(done, nil)
		},
	}
}

// recordFamilies maps the keys of the document to where the records lie.
var recordFamilies = map[string]string{
	"tasks": board.TaskDir, "agents": board.AgentDir, "discovered": board.DiscoveryDir, "handoff": board.HandoffDir,
	"human_notes": board.NoteDir, "anomalies": board.AnomalyDir, "spec_changes": board.SpecChangeDir,
}

var recordSingles = map[string]string{
	"goal": board.GoalPath, "sprint": board.SprintPath, "config": board.ConfigPath, "control": board.ControlPath, "circuit_breaker": board.BreakerPath,
}

// recordOf finds the record that a path leads into, and the rest of the path.
func recordOf(path string) (record string, keys []string, err error) {
	parts := strings.Split(strings.Trim(path, "."), ".")
	if file, ok := recordSingles[parts[0]]; ok && len(parts) > 1 {
		return file, parts[1:], nil
	}
	if dir, ok := recordFamilies[parts[0]]; ok && len(parts) > 2 {
		return board.RecordPath(dir, parts[1]), parts[2:], nil
	}
	return "", nil, board.Refuse("invalid", fmt.Sprintf("%q names no field of a record", board.Line(path, 80)), "paths like tasks.add-auth.priority; git liza read shows what there is")
}

// newField is a record's top-level field with a value put in at the path of keys.
func newField(v *gitboard.View, record string, keys []string, value string) (board.FieldEdit, error) {
	field := board.FieldEdit{Field: keys[0], Value: value}
	if err := yaml.Unmarshal([]byte(value), &yaml.Node{}); err != nil {
		return field, board.Refuse("invalid", "the value is not YAML: "+err.Error(), "quote it: '\"TEXT\"'")
	}
	if len(keys) == 1 {
		return field, nil
	}
	if board.NewRecord(record) == nil {
		return field, nil // Check says what is wrong with it
	}
	r, err := v.State.Record(record)
	if err != nil || r == nil {
		return field, err
	}
	n := &yaml.Node{}
	if err := n.Encode(r); err != nil {
		return field, err
	}
	top, err := codec.Lookup(n, keys[:1])
	if err != nil {
		return field, board.Refuse("invalid", err.Error(), "write the whole of "+keys[0])
	}
	at, err := codec.Lookup(top, keys[1:])
	if err != nil {
		return field, board.Refuse("invalid", fmt.Sprintf("%s has no %s yet", record, strings.Join(keys, ".")), "write the whole of "+keys[0]+", as YAML")
	}
	var with yaml.Node
	if err := yaml.Unmarshal([]byte(value), &with); err != nil || len(with.Content) != 1 {
		return field, board.Refuse("invalid", "the value is not YAML", "quote it: '\"TEXT\"'")
	}
	*at = *with.Content[0]
	text, err := yaml.Marshal(top)
	field.Value = string(text)
	return field, err
}
