package codec

import (
	"bytes"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report"
)

// Document returns a whole board as one YAML document, in the form that readers of the one-file
// state.yaml know: its top-level keys and their order are fixed. Leases, by agent, are folded in.
func Document(s *board.State, leases map[string]board.Lease) (*yaml.Node, error) {
	d := mapping()
	for _, p := range parts(s, leases) {
		if err := p.addTo(d, s); err != nil {
			return nil, err
		}
	}
	return d, nil
}

const tasksKey = "tasks"

// part is one top-level key of a document.
type part struct {
	key   string
	value func() (*yaml.Node, error)
}

func (p part) addTo(d *yaml.Node, s *board.State) error {
	v, err := p.value()
	if err == nil {
		err = s.Err()
	}
	if err == nil {
		add(d, p.key, v)
	}
	return err
}

func parts(s *board.State, leases map[string]board.Lease) []part {
	all := []part{
		{"version", func() (*yaml.Node, error) { return node(1) }},
		{"goals", goals(s)},
		{tasksKey, func() (*yaml.Node, error) { return tasks(s, leases) }},
		{"agents", func() (*yaml.Node, error) { return agents(s, leases) }},
		{"discovered", listOf(s, board.DiscoveryDir)},
		{"handoff", handoffs(s)},
		{"human_notes", listOf(s, board.NoteDir)},
		{"anomalies", listOf(s, board.AnomalyDir)},
		{"spec_changes", listOf(s, board.SpecChangeDir)},
		{"sprint", func() (*yaml.Node, error) { return sprint(s) }},
		{"circuit_breaker", func() (*yaml.Node, error) { return node(s.Breaker()) }},
		{"config", func() (*yaml.Node, error) { return node(s.Config()) }},
		{"control", func() (*yaml.Node, error) { return node(s.Control()) }},
	}
	if t := s.OwnTeam(); t != nil {
		all = append(all, part{"team", func() (*yaml.Node, error) { return node(t) }})
	}
	return all
}

// Text returns a rendered Document. texts holds the known texts of tasks, by id, which must be as
// Encode writes them. For a large board, using them is much faster than rendering every task.
func Text(s *board.State, leases map[string]board.Lease, texts map[string][]byte) (string, error) {
	var b strings.Builder
	for _, p := range parts(s, leases) {
		if p.key == tasksKey {
			if err := writeTasks(&b, s, leases, texts); err != nil {
				return "", err
			}
			continue
		}
		d := mapping()
		if err := p.addTo(d, s); err != nil {
			return "", err
		}
		text, err := Render(d)
		if err != nil {
			return "", err
		}
		b.WriteString(text)
	}
	return b.String(), nil
}

func writeTasks(b *strings.Builder, s *board.State, leases map[string]board.Lease, texts map[string][]byte) error {
	all := s.Tasks()
	if len(all) == 0 {
		b.WriteString(tasksKey + ": []\n")
		return s.Err()
	}
	b.WriteString(tasksKey + ":\n")
	for _, brief := range all {
		text := string(texts[brief.ID])
		if claimant, reviewer := holders(brief, leases); text == "" || claimant != nil || reviewer != nil {
			t := s.Task(brief.ID)
			if t == nil {
				continue
			}
			n, err := task(t, leases)
			if err == nil {
				text, err = Render(n)
			}
			if err != nil {
				return err
			}
		}
		mark := "  - "
		for line := range strings.Lines(text) {
			if line != "\n" {
				b.WriteString(mark)
			}
			b.WriteString(line)
			mark = "    "
		}
	}
	return s.Err()
}

// Render encodes a node of a document as YAML.
func Render(n *yaml.Node) (string, error) {
	if n.Kind == yaml.ScalarNode {
		return n.Value + "\n", nil
	}
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(n); err != nil {
		return "", err
	}
	return b.String(), e.Close()
}

// Lookup follows a path of keys. Items of a list are named by id or by index.
func Lookup(n *yaml.Node, keys []string) (*yaml.Node, error) {
	for i, key := range keys {
		next := child(n, key)
		if next == nil {
			return nil, fmt.Errorf("there is no %q", join(keys[:i+1]))
		}
		n = next
	}
	return n, nil
}

func child(n *yaml.Node, key string) *yaml.Node {
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == key {
				return n.Content[i+1]
			}
		}
	case yaml.SequenceNode:
		for _, item := range n.Content {
			if id := child(item, "id"); item.Kind == yaml.MappingNode && id != nil && id.Value == key {
				return item
			}
		}
		if at, err := strconv.Atoi(key); err == nil && at >= 0 && at < len(n.Content) {
			return n.Content[at]
		}
	}
	return nil
}

// Keys returns the keys that can follow in a path: the keys of a mapping, or the ids of a list.
func Keys(n *yaml.Node) []string {
	var keys []string
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			keys = append(keys, n.Content[i].Value)
		}
	case yaml.SequenceNode:
		for _, item := range n.Content {
			if id := child(item, "id"); item.Kind == yaml.MappingNode && id != nil {
				keys = append(keys, id.Value)
			}
		}
	}
	return keys
}

func join(keys []string) string {
	var b bytes.Buffer
	for i, k := range keys {
		if i > 0 {
			b.WriteByte('.')
		}
		b.WriteString(k)
	}
	return b.String()
}

func mapping() *yaml.Node { return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"} }

func sequence() *yaml.Node { return &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"} }

func add(m *yaml.Node, key string, value *yaml.Node) {
	m.Content = append(m.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key}, value)
}

func node(v any) (*yaml.Node, error) { return nodeOf(reflect.ValueOf(v)) }

func addTime(m *yaml.Node, key string, t board.Time) {
	add(m, key, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!timestamp", Value: string(t)})
}

func tasks(s *board.State, leases map[string]board.Lease) (*yaml.Node, error) {
	list := sequence()
	for _, b := range s.Tasks() {
		t := s.Task(b.ID)
		if t == nil {
			continue
		}
		n, err := task(t, leases)
		if err != nil {
			return nil, err
		}
		list.Content = append(list.Content, n)
	}
	return list, nil
}

func task(t *board.Task, leases map[string]board.Lease) (*yaml.Node, error) {
	n, err := node(t)
	if err != nil {
		return nil, err
	}
	claimant, reviewer := holders(t.Brief(), leases)
	if claimant != nil {
		addTime(n, "lease_expires", claimant.Expires)
	}
	if reviewer != nil {
		addTime(n, "review_lease_expires", reviewer.Expires)
	}
	return n, nil
}

// holders returns the leases of a task's claim and of its review, nil if there is none.
func holders(b board.Brief, leases map[string]board.Lease) (claimant, reviewer *board.Lease) {
	if l, ok := leases[b.AssignedTo]; ok && b.Status == board.Claimed {
		claimant = &l
	}
	if l, ok := leases[b.ReviewingBy]; ok && b.ReviewingBy != "" {
		reviewer = &l
	}
	return claimant, reviewer
}

func agents(s *board.State, leases map[string]board.Lease) (*yaml.Node, error) {
	m := mapping()
	for _, id := range s.List(board.AgentDir) {
		n, err := node(s.Agent(id))
		if err != nil {
			return nil, err
		}
		if l, ok := leases[id]; ok {
			addTime(n, "lease_expires", l.Expires)
			addTime(n, "heartbeat", l.Heartbeat)
		}
		add(m, id, n)
	}
	return m, nil
}

// goals lists the goals in order of priority.
func goals(s *board.State) func() (*yaml.Node, error) {
	return func() (*yaml.Node, error) {
		list := sequence()
		for _, g := range s.Goals() {
			n, err := node(g)
			if err != nil {
				return nil, err
			}
			list.Content = append(list.Content, n)
		}
		return list, s.Err()
	}
}

func listOf(s *board.State, dir string) func() (*yaml.Node, error) {
	return func() (*yaml.Node, error) {
		list := sequence()
		for _, id := range s.List(dir) {
			r, err := s.Record(board.RecordPath(dir, id))
			if err != nil {
				return nil, err
			}
			n, err := node(r)
			if err != nil {
				return nil, err
			}
			list.Content = append(list.Content, n)
		}
		return list, nil
	}
}

func handoffs(s *board.State) func() (*yaml.Node, error) {
	return func() (*yaml.Node, error) {
		m := mapping()
		for _, id := range s.List(board.HandoffDir) {
			n, err := node(s.Handoff(id))
			if err != nil {
				return nil, err
			}
			add(m, id, n)
		}
		return m, nil
	}
}

func sprint(s *board.State) (*yaml.Node, error) {
	n, err := node(s.Sprint())
	if err != nil {
		return nil, err
	}
	m, err := node(report.Measure(s))
	if err != nil {
		return nil, err
	}
	add(n, "metrics", m)
	return n, nil
}
