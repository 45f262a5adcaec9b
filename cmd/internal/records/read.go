package records

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/log/codec"
	"github.com/git-liza/git-liza/gitboard/text"
)

// Part is the board as a document, or the part of it that a path leads to.
func Part(ctx context.Context, c *call.Call, v *gitboard.View, paths []string) (*yaml.Node, error) {
	leases, err := Leases(ctx, c, v)
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return codec.Document(v.State, leases)
	}
	path := strings.Trim(paths[0], ".")
	if path == "" {
		return nil, call.Usage(c.Cmd, "the path is empty")
	}
	path = DocumentPath(Meant(v.State, path))
	if n, rest, err := recordNode(v, leases, path); n != nil || err != nil {
		if err != nil || rest == "" {
			return n, err
		}
		if n, err = withDefaults(n, v.State, path); err != nil {
			return nil, err
		}
		return Lookup(n, path, rest)
	}
	n, err := codec.Document(v.State, leases)
	if err != nil {
		return nil, err
	}
	return Lookup(n, path, path)
}

// PartText is Part as YAML.
func PartText(ctx context.Context, c *call.Call, v *gitboard.View, paths []string) (string, error) {
	if len(paths) > 0 {
		n, err := Part(ctx, c, v, paths)
		if err != nil {
			return "", err
		}
		return codec.Render(n)
	}
	leases, err := Leases(ctx, c, v)
	if err != nil {
		return "", err
	}
	texts, err := v.TaskTexts()
	if err != nil {
		return "", err
	}
	return codec.Text(v.State, leases, texts)
}

// Leases are the present leases; a past board has none.
func Leases(ctx context.Context, c *call.Call, v *gitboard.View) (map[string]board.Lease, error) {
	leases := map[string]board.Lease{}
	if c.At != "" {
		return leases, nil
	}
	held, err := v.Leases(ctx)
	if err != nil {
		return nil, err
	}
	for agent, h := range held {
		leases[agent] = h.Lease
	}
	return leases, nil
}

// recordNode is the only record that a path leads into, and the rest of the path; nil if the path
// leads into none. It reads no other record, so that a broken one does not prevent reading the
// rest.
func recordNode(v *gitboard.View, leases map[string]board.Lease, path string) (n *yaml.Node, rest string, err error) {
	parts := strings.SplitN(path, ".", 3)
	record, at := Singles[parts[0]], 1
	if dir, ok := Families[parts[0]]; ok && len(parts) > 1 {
		record, at = board.RecordPath(dir, parts[1]), 2
	}
	measured := record == board.SprintPath && (len(parts) == 1 || strings.HasPrefix(parts[1], "metrics"))
	if measured || board.NewRecord(record) == nil {
		return nil, "", nil // a sprint's metrics depend on all tasks
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

// withDefaults adds to the record that a path leads into the fields that are left out because they
// have their default.
func withDefaults(n *yaml.Node, s *board.State, path string) (*yaml.Node, error) {
	record, _, err := At(path)
	r := board.NewRecord(record)
	if err != nil || r == nil || n.Kind != yaml.MappingNode {
		return n, nil
	}
	known := codec.Keys(n)
	full := *n
	for _, f := range board.Fields(reflect.TypeOf(r).Elem()) {
		if f.Name == "extra" || slices.Contains(known, f.Name) {
			continue
		}
		value := reflect.Zero(f.Type).Interface()
		if _, is := r.(*board.Task); is {
			switch f.Name { // what holds instead
			case "stage":
				value = board.CodeStage
			case "max_iterations":
				value = s.Config().MaxCoderIterations
			case "max_review_cycles":
				value = s.Config().MaxReviewCycles
			case "lease_duration_override":
				value = s.Config().LeaseDuration
			}
		}
		key, node := &yaml.Node{Kind: yaml.ScalarNode, Value: f.Name}, &yaml.Node{}
		if err := node.Encode(value); err != nil {
			return nil, err
		}
		full.Content = append(slices.Clip(full.Content), key, node)
	}
	return &full, s.Err()
}

// Lookup follows the rest of a path from a node.
func Lookup(n *yaml.Node, path, rest string) (*yaml.Node, error) {
	for _, key := range strings.Split(rest, ".") {
		next, err := codec.Lookup(n, []string{key})
		if err != nil {
			return nil, board.Refuse(board.CodeUnknownRecord, fmt.Sprintf("there is no %q on the board", text.Line(path, 100)), call.Suggest(key, codec.Keys(n)))
		}
		n = next
	}
	return n, nil
}

// PrintNode prints a part of the document as JSON, with the keys in the document's order.
func PrintNode(c *call.Call, n *yaml.Node) error {
	var b bytes.Buffer
	if err := writeJSON(&b, n); err != nil {
		return err
	}
	b.WriteByte('\n')
	_, err := c.App.Stdout.Write(b.Bytes())
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
	b.Truncate(b.Len() - 1) // the encoder's newline
	return nil
}
