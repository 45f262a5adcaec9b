package onefile_test

import (
	"errors"
	"os"
	"testing"

	"gopkg.in/yaml.v3"
	"pgregory.net/rapid"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/onefile"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// However a file is damaged, it ends as a valid board that comes back as it was written, or is
// refused with a line.
func TestAnyDamage(t *testing.T) {
	var files [][]byte
	for _, name := range []string{"older", "goals", "anchors"} {
		data := testrun.Must(os.ReadFile("testdata/" + name + ".yaml"))(t)
		files = append(files, data)
	}
	rapid.Check(t, func(t *rapid.T) {
		var doc yaml.Node
		testrun.Check(t, yaml.Unmarshal(rapid.SampledFrom(files).Draw(t, "file"), &doc))
		for range rapid.IntRange(1, 12).Draw(t, "times") {
			damage(t, &doc)
		}
		data, err := yaml.Marshal(&doc)
		if err != nil {
			return // the damage is beyond YAML
		}
		old, err := onefile.Read(input("state.yaml", data))
		if err != nil {
			var bad *onefile.Error
			if !errors.As(err, &bad) || bad.Faults[0].Line < 1 {
				t.Fatal(err)
			}
			return
		}
		s := imported(t, old)
		if v := board.Violations(s); len(v) > 0 {
			t.Fatal(v)
		}
		text := written(t, s, old)
		again, err := onefile.Read(input("state.yaml", []byte(text)))
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if twice := written(t, imported(t, again), again); twice != text {
			t.Fatalf("it is another board:\n%s\n----\n%s\n%q", text, twice, again.Changed)
		}
	})
}

// damage changes one place of a document.
func damage(t *rapid.T, doc *yaml.Node) {
	var all []*yaml.Node
	var walk func(n *yaml.Node)
	walk = func(n *yaml.Node) {
		all = append(all, n)
		for i, c := range n.Content {
			if n.Kind != yaml.MappingNode || i%2 == 1 {
				walk(c)
			}
		}
	}
	walk(doc.Content[0])
	n := rapid.SampledFrom(all).Draw(t, "where")
	step := 1
	if n.Kind == yaml.MappingNode {
		step = 2
	}
	at := 0
	if len(n.Content) >= step {
		at = step * rapid.IntRange(0, len(n.Content)/step-1).Draw(t, "at")
	}
	switch what := rapid.IntRange(0, 4).Draw(t, "what"); {
	case what == 0 && len(n.Content) > 0:
		n.Content = append(n.Content[:at:at], n.Content[at+step:]...)
	case what == 1 && n.Kind == yaml.SequenceNode && len(n.Content) > 0:
		n.Content = append(n.Content, n.Content[at])
	case what == 2 && n.Kind == yaml.MappingNode && len(n.Content) > 0:
		n.Content[at] = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: rapid.SampledFrom(words).Draw(t, "key")}
	case n.Kind == yaml.ScalarNode || what == 3:
		*n = yaml.Node{Kind: yaml.ScalarNode, Value: rapid.OneOf(rapid.SampledFrom(words), rapid.String()).Draw(t, "value")}
		if rapid.Bool().Draw(t, "text") {
			n.Tag = "!!str"
		}
	default:
		other := rapid.SampledFrom(all).Draw(t, "other")
		if !within(other, n) {
			*n = *other
		}
	}
}

// within reports whether a node is, or is somewhere below, another.
func within(top, n *yaml.Node) bool {
	if top == n {
		return true
	}
	for _, c := range top.Content {
		if within(c, n) {
			return true
		}
	}
	return false
}

var words = []string{
	"", "null", "~", "0", "-1", "1.5", "true", "no", "a", "b", "task-1", "task-2", "T 1", "coder-1", "coder-2", "code-reviewer-1", "planner-1", "human", "system",
	"DRAFT", "UNCLAIMED", "CLAIMED", "READY_FOR_REVIEW", "REJECTED", "APPROVED", "MERGED", "INTEGRATION_FAILED", "BLOCKED", "SUPERSEDED", "ABANDONED",
	"WORKING", "REVIEWING", "IN_PROGRESS", "COMPLETED", "abcdef1", "2026-01-17T14:05:00Z", "2026-01-17", "\n leading", "trailing \n\n", "a: b # c", "id", "status",
	"extra", "history", "event", "time", "depends_on", "superseded_by", "assigned_to", "task_id", "logged_by", "lease_expires", "note-1", "<<", "y", "12:30:00",
}
