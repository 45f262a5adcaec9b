package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/codec"
)

func readCommand() *command {
	return &command{
		name: "read", group: "machines", args: "[PATH]", max: 1, reads: true,
		short: "print the board as one YAML document, or a part of it",
		long: `A path is made of keys with dots between; an item of a list is named by its id: tasks.add-auth.status.
A record may be named by its file, too: tasks/add-auth.yaml, notes/note-12, notes/0/0/note-12.yaml.
Archived tasks are not in the document; tasks.ID finds each of them.`,
		run: func(c *call) error {
			v, err := c.view()
			if err != nil {
				return err
			}
			if c.json {
				n, err := c.part(v, c.args)
				if err != nil {
					return err
				}
				return c.printNode(n)
			}
			text, err := c.partText(v, c.args)
			if err != nil {
				return err
			}
			if c.toTerminal() {
				text = board.Visible(text) // a single text is not escaped as a document's are
			}
			_, err = io.WriteString(c.app.Stdout, text)
			return err
		},
	}
}

// part is the board as a document, or what a path of it leads to.
func (c *call) part(v *gitboard.View, paths []string) (*yaml.Node, error) {
	leases, err := c.leases(v)
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return codec.Document(v.State, leases)
	}
	path := strings.Trim(paths[0], ".")
	if path == "" {
		return nil, usage(c.cmd, "the path is empty")
	}
	path = documentPath(path)
	if n, rest, err := c.recordNode(v, leases, path); n != nil || err != nil {
		if err != nil || rest == "" {
			return n, err
		}
		return lookup(n, path, rest)
	}
	n, err := codec.Document(v.State, leases)
	if err != nil {
		return nil, err
	}
	return lookup(n, path, path)
}

// partText is part as YAML.
func (c *call) partText(v *gitboard.View, paths []string) (string, error) {
	if len(paths) > 0 {
		n, err := c.part(v, paths)
		if err != nil {
			return "", err
		}
		return codec.Render(n)
	}
	leases, err := c.leases(v)
	if err != nil {
		return "", err
	}
	texts, err := v.TaskTexts()
	if err != nil {
		return "", err
	}
	return codec.Text(v.State, leases, texts)
}

// leases are the leases as they are now; a board of the past has none.
func (c *call) leases(v *gitboard.View) (map[string]board.Lease, error) {
	leases := map[string]board.Lease{}
	if c.at != "" {
		return leases, nil
	}
	held, err := v.Leases(c.ctx)
	if err != nil {
		return nil, err
	}
	for agent, h := range held {
		leases[agent] = board.Lease{Agent: agent, Session: h.Session, Task: h.Task, Expires: board.At(h.Expires), Heartbeat: board.At(h.Heartbeat)}
	}
	return leases, nil
}

// recordNode is the one record that a path leads into, and the rest of the path; nil when it leads into
// none. The other records are not read: one that is broken keeps nobody from the rest.
func (c *call) recordNode(v *gitboard.View, leases map[string]board.Lease, path string) (n *yaml.Node, rest string, err error) {
	parts := strings.SplitN(path, ".", 3)
	record, at := recordSingles[parts[0]], 1
	if dir, ok := recordFamilies[parts[0]]; ok && len(parts) > 1 {
		record, at = board.RecordPath(dir, parts[1]), 2
	}
	measured := record == board.SprintPath && (len(parts) == 1 || strings.HasPrefix(parts[1], "metrics"))
	if measured || board.NewRecord(record) == nil {
		return nil, "", nil // a sprint has its metrics of all the tasks
	}
	r, err := v.State.Record(record)
	if id, _, is := board.TaskPath(record); is && r == nil && err == nil {
		if t := v.State.Task(id); t != nil { // an archived one
			r = t
		}
		err = v.State.Err()
	}
	if err != nil || r == nil {
		return nil, "", err
	}
	one := board.NewState(nil, v.State.Time())
	one.Changes()[record] = r
	doc, err := codec.Document(one, leases)
	if err != nil {
		return nil, "", err
	}
	n, err = codec.Lookup(doc, parts[:at])
	return n, strings.Join(parts[at:], "."), err
}

// lookup follows the rest of a path from a node.
func lookup(n *yaml.Node, path, rest string) (*yaml.Node, error) {
	for _, key := range strings.Split(rest, ".") {
		next, err := codec.Lookup(n, []string{key})
		if err != nil {
			return nil, board.Refuse("unknown-record", fmt.Sprintf("there is no %q on the board", board.Line(path, 100)), suggest(key, codec.Keys(n)))
		}
		n = next
	}
	return n, nil
}

// suggest names the nearest of the keys there are, or all when none is near.
func suggest(word string, keys []string) string {
	if near := board.Nearest(word, keys, 3); len(near) > 0 {
		return "nearest: " + strings.Join(near, ", ")
	}
	if len(keys) == 0 {
		return "nothing is below it"
	}
	if len(keys) > 20 {
		keys = append(slices.Clip(keys[:20]), "...")
	}
	return "there are: " + strings.Join(keys, ", ")
}

// printNode prints a part of the document as JSON, its keys in the document's order.
func (c *call) printNode(n *yaml.Node) error {
	var b bytes.Buffer
	if err := writeJSON(&b, n); err != nil {
		return err
	}
	b.WriteByte('\n')
	_, err := c.app.Stdout.Write(b.Bytes())
	return err
}

func writeJSON(b *bytes.Buffer, n *yaml.Node) error {
	switch n.Kind {
	case yaml.MappingNode:
		b.WriteByte('{')
		for i := 0; i+1 < len(n.Content); i += 2 {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := jsonValue(b, n.Content[i].Value); err != nil {
				return err
			}
			b.WriteByte(':')
			if err := writeJSON(b, n.Content[i+1]); err != nil {
				return err
			}
		}
		b.WriteByte('}')
		return nil
	case yaml.SequenceNode:
		b.WriteByte('[')
		for i, item := range n.Content {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := writeJSON(b, item); err != nil {
				return err
			}
		}
		b.WriteByte(']')
		return nil
	}
	switch n.ShortTag() {
	case "!!int", "!!bool", "!!null", "!!float":
		var value any
		if err := n.Decode(&value); err != nil {
			return err
		}
		return jsonValue(b, value)
	}
	return jsonValue(b, n.Value)
}

func jsonValue(b *bytes.Buffer, v any) error {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	b.Truncate(b.Len() - 1) // the encoder's line end
	return nil
}
