package cli

import (
	"context"
	"fmt"
	"strconv"
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
A record may be named by its file, too: tasks/add-auth.priority.
What operations and history are for can't be written: states, claims, verdicts, commits, history.`,
		flags: func(f *pflag.FlagSet) { f.StringVar(&reason, "reason", "", "why") },
		run: func(c *call) error {
			path := documentPath(c.args[0])
			if key, ok := strings.CutPrefix(path, "config."); ok && key != "extra" {
				return c.just(&board.SetConfig{Key: key, Value: c.args[1]})
			}
			record, keys, err := recordOf(path)
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

// documentPath is the path in the document of a record that is named by its file, whole or shortened, and of what
// is in it: human_notes.note-1.message for notes/0/0/note-1.yaml.message and notes/note-1.message. Other paths
// stay as they are.
func documentPath(path string) string {
	under := func(key string, files ...string) (string, bool) {
		for _, file := range files {
			if rest, ok := strings.CutPrefix(path, file); ok && (rest == "" || rest[0] == '.') {
				return key + rest, true
			}
		}
		return "", false
	}
	for key, file := range recordSingles {
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
	for key, dir := range recordFamilies {
		short := dir + "/" + id
		if at, ok := under(key+"."+id, board.RecordPath(dir, id), short+".yaml", short); ok {
			return at
		}
	}
	return path
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
	top := &yaml.Node{}
	if err := top.Encode(r); err != nil {
		return field, err
	}
	at := top
	for i, key := range keys {
		if at = below(at, key); at == nil {
			return field, board.Refuse("invalid", fmt.Sprintf("%s of %s has no %s", board.Line(strings.Join(keys[:i], "."), 60), record, board.Line(key, 40)),
				"write the whole of "+keys[0]+", as YAML")
		}
		if i == 0 {
			top = at
		}
	}
	var with yaml.Node
	if err := yaml.Unmarshal([]byte(value), &with); err != nil || len(with.Content) != 1 {
		return field, board.Refuse("invalid", "the value is not YAML", "quote it: '\"TEXT\"'")
	}
	*at = *with.Content[0]
	text, err := yaml.Marshal(top)
	if err != nil {
		return field, board.Refuse("invalid", fmt.Sprintf("the new %s can't be written as YAML: %v", board.Line(keys[0], 40), err), "write UTF-8 text")
	}
	field.Value = string(text)
	return field, nil
}

// below is what lies under a key; in a mapping that lacks it, it is made.
func below(n *yaml.Node, key string) *yaml.Node {
	if found, err := codec.Lookup(n, []string{key}); err == nil {
		return found
	}
	if _, err := strconv.Atoi(key); n.Kind == 0 && err != nil {
		n.Kind, n.Tag = yaml.MappingNode, "!!map"
	}
	if n.Kind != yaml.MappingNode {
		return nil
	}
	n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key}, &yaml.Node{})
	return n.Content[len(n.Content)-1]
}
