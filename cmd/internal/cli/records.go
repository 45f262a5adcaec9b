package cli

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	"gopkg.in/yaml.v3"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/definition"
	"github.com/git-liza/git-liza/cmd/internal/edit"
	"github.com/git-liza/git-liza/cmd/internal/records"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/audit"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log/codec"
	"github.com/git-liza/git-liza/gitboard/text"
)

var _ = add(func() *call.Command {
	return &call.Command{
		Name: "read", Group: "machines", Args: "[PATH]", Max: 1, Reads: true,
		Short: "print the board as one YAML document, or a part of it",
		Long: `A path is made of keys with dots between; an item of a list is named by its id: tasks.add-auth.status.
A record may be named by its file, too: tasks/add-auth.yaml, notes/note-12, notes/0/0/note-12.yaml.
Archived tasks are not in the document; tasks.ID finds each of them.`,
		Example: `git liza read tasks/login.yaml`,
		Run: viewing(func(ctx context.Context, c *call.Call, v *gitboard.View) error {
			if c.JSON {
				n, err := records.Part(ctx, c, v, c.Args)
				if err != nil {
					return err
				}
				return records.PrintNode(c, n)
			}
			line, err := records.PartText(ctx, c, v, c.Args)
			if err != nil {
				return err
			}
			if c.App.ToTerminal() {
				line = text.Visible(line) // unlike a document, a single text is not escaped
			}
			_, err = io.WriteString(c.App.Stdout, line)
			return err
		}),
	}
})

var _ = add(func() *call.Command {
	var reason string
	return &call.Command{
		Name: "write", Group: "machines", Args: "PATH VALUE", Min: 2, Max: 2, Writes: true,
		Short: "change one field of a record (a human); the value is YAML",
		Long: `Paths are those of git liza read: tasks.add-auth.priority, sprint.timeline.deadline, config.merge_style.
A record may be named by its file, too: tasks/add-auth.priority.
What operations and history are for can't be written: states, claims, verdicts, commits, history.`,
		Flags:   func(f *pflag.FlagSet) { f.StringVar(&reason, "reason", "", "why") },
		Example: `git liza write tasks.login.priority 1 --reason "it blocks three others"`,
		Run: viewing(func(ctx context.Context, c *call.Call, v *gitboard.View) error {
			path := records.DocumentPath(records.Meant(v.State, c.Args[0]))
			if key, ok := strings.CutPrefix(path, "config."); ok && key != "extra" {
				return c.Just(ctx, &board.SetConfig{Key: key, Value: c.Args[1]})
			}
			record, keys, err := records.At(path)
			if err != nil {
				return err
			}
			done, err := c.Do(ctx, "write", func(_ context.Context, v *gitboard.View) (board.Payload, []plumbing.RefUpdate, error) {
				field, err := newField(v, record, keys, c.Args[1])
				if err != nil {
					return nil, nil, err
				}
				p := &board.Write{Path: record, Fields: []board.FieldEdit{field}, Reason: reason}
				return p, nil, definition.GoalSpec(ctx, c, v, p)
			})
			if err != nil {
				return err
			}
			return c.Report(done, nil)
		}),
	}
})

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
			return field, board.Refuse(board.CodeInvalid, fmt.Sprintf("%s of %s has no %s", text.Line(strings.Join(keys[:i], "."), 60), record, text.Line(key, 40)),
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
	line, err := yaml.Marshal(top)
	if err != nil {
		return field, board.Refuse(board.CodeInvalid, fmt.Sprintf("the new %s can't be written as YAML: %v", text.Line(keys[0], 40), err), "write UTF-8 text")
	}
	field.Value = string(line)
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

var _ = add(func() *call.Command {
	var reason, from string
	return &call.Command{
		Name: "edit", Group: "human", Args: "RECORD", Min: 1, Max: 1, Writes: true,
		Short: "change a record in your editor: checked as write does, shown as a diff, one commit",
		Long: `RECORD is a task's or another record's id, goal, sprint, config, or a path as git liza read has it: tasks.add-auth,
human_notes.note-1. The editor is that of VISUAL, else EDITOR, else vi; it may have arguments. What can't be committed
is kept in a file that is named: broken YAML, what the rules refuse, and a text that somebody else's change has
overtaken (both are shown). --from continues with such a file.`,
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&reason, "reason", "", "why")
			f.StringVar(&from, "from", "", "begin with the text in a `FILE`, as an earlier edit kept it")
		},
		Example: `git liza edit login --reason "the scope names a wrong folder"`,
		Run:     func(ctx context.Context, c *call.Call) error { return edit.Run(ctx, c, reason, from) },
	}
})

var _ = add(func() *call.Command {
	return &call.Command{
		Name: "validate", Group: "machines", Args: "[FILE]", Max: 1, Reads: true, Anywhere: true,
		Short: "check the board, a record in a file, or a whole board in one, against the invariants",
		Long: `Prints VALID, or a line INVALID: ... for each violation (exit code 1); warnings as WARNING: ....
With --at it is the board alone, without the repository. A FILE is one record of a board, like the
tasks/add-auth.yaml of its tree (its path says which kind), or what git liza read prints: a WARNING says what
git liza import would change of it, an INVALID names a fault and its line.`,
		Example: `git liza validate state.yaml`,
		Run: func(ctx context.Context, c *call.Call) error {
			if len(c.Args) == 1 && c.At != "" {
				return call.Usage(c.Cmd, "a file has no --at")
			}
			issues, err := issuesOf(ctx, c)
			if err != nil {
				return err
			}
			return reportIssues(c, issues)
		},
	}
})

// issuesOf lists the issues of a file, of the board as it was, or of the board and the repository.
func issuesOf(ctx context.Context, c *call.Call) ([]audit.Issue, error) {
	if len(c.Args) == 1 {
		return records.ValidateFile(ctx, c, c.Args[0])
	}
	if err := c.Open(ctx); err != nil {
		return nil, err
	}
	v, err := c.View(ctx)
	if err != nil {
		return nil, err
	}
	if c.At != "" {
		return records.ValidatePast(v)
	}
	return records.Validate(ctx, c, v)
}

func reportIssues(c *call.Call, issues []audit.Issue) error {
	invalid := 0
	var lines []string
	list := []map[string]string{}
	for _, i := range issues {
		if i.Level == audit.Invalid {
			invalid++
		}
		lines = append(lines, i.String())
		list = append(list, map[string]string{"level": i.Level, "record": i.Record, "field": i.Field, "text": i.Text})
	}
	if invalid == 0 {
		lines = append(lines, "VALID")
	}
	if err := call.Tell(c, map[string]any{"valid": invalid == 0, "issues": list}, lines...); err != nil {
		return err
	}
	if invalid > 0 {
		hint := "git liza verify shows how it came about"
		if len(c.Args) == 1 {
			hint = "git liza docs board-format"
		}
		return &call.Outcome{Exit: 1, Code: board.CodeInvalid, Message: text.Plural(invalid, "violation"), Hint: hint}
	}
	return nil
}
