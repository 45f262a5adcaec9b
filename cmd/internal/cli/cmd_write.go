package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	"gopkg.in/yaml.v3"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/cmd/internal/records"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/codec"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/plain"
)

var _ = add(writeCommand)

func writeCommand() *edge.Command {
	var reason string
	return &edge.Command{
		Name: "write", Group: "machines", Args: "PATH VALUE", Min: 2, Max: 2, Writes: true,
		Short: "change one field of a record (a human); the value is YAML",
		Long: `Paths are those of git liza read: tasks.add-auth.priority, sprint.timeline.deadline, config.merge_style.
A record may be named by its file, too: tasks/add-auth.priority.
What operations and history are for can't be written: states, claims, verdicts, commits, history.`,
		Flags:   func(f *pflag.FlagSet) { f.StringVar(&reason, "reason", "", "why") },
		Example: `git liza write tasks.login.priority 1 --reason "it blocks three others"`,
		Run: func(ctx context.Context, c *edge.Call) error {
			v, err := c.View(ctx)
			if err != nil {
				return err
			}
			path := records.DocumentPath(records.Meant(v.State, c.Args[0]))
			if key, ok := strings.CutPrefix(path, "config."); ok && key != "extra" {
				return c.Just(ctx, &board.SetConfig{Key: key, Value: c.Args[1]})
			}
			record, keys, err := records.At(path)
			if err != nil {
				return err
			}
			done, err := c.Do(ctx, "write", func(_ context.Context, v *gitboard.View) (board.Payload, []git.RefUpdate, error) {
				field, err := newField(v, record, keys, c.Args[1])
				if err != nil {
					return nil, nil, err
				}
				return &board.Write{Path: record, Fields: []board.FieldEdit{field}, Reason: reason}, nil, nil
			})
			if err != nil {
				return err
			}
			return c.Report(done, nil)
		},
	}
}

// newField is a record's top-level field after setting a value at the path of keys.
func newField(v *gitboard.View, record string, keys []string, value string) (board.FieldEdit, error) {
	field := board.FieldEdit{Field: keys[0], Value: value}
	if err := yaml.Unmarshal([]byte(value), &yaml.Node{}); err != nil {
		return field, board.Refuse(board.CodeInvalid, "the value is not YAML: "+err.Error(), "quote it: '\"TEXT\"'")
	}
	if len(keys) == 1 {
		return field, nil
	}
	if board.NewRecord(record) == nil {
		return field, nil // Check reports what is wrong with it
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
			return field, board.Refuse(board.CodeInvalid, fmt.Sprintf("%s of %s has no %s", plain.Line(strings.Join(keys[:i], "."), 60), record, plain.Line(key, 40)),
				"write the whole of "+keys[0]+", as YAML")
		}
		if i == 0 {
			top = at
		}
	}
	var with yaml.Node
	if err := yaml.Unmarshal([]byte(value), &with); err != nil || len(with.Content) != 1 {
		return field, board.Refuse(board.CodeInvalid, "the value is not YAML", "quote it: '\"TEXT\"'")
	}
	*at = *with.Content[0]
	text, err := yaml.Marshal(top)
	if err != nil {
		return field, board.Refuse(board.CodeInvalid, fmt.Sprintf("the new %s can't be written as YAML: %v", plain.Line(keys[0], 40), err), "write UTF-8 text")
	}
	field.Value = string(text)
	return field, nil
}

// below is the node under a key; it is created in a mapping that lacks it.
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
