package records

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sergi/go-diff/diffmatchpatch"
	"gopkg.in/yaml.v3"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log/codec"
	"github.com/git-liza/git-liza/gitboard/text"
)

// Change is a field that differs between two boards.
type Change struct {
	Record string `json:"record"`
	Field  string `json:"field,omitempty"`
	Old    string `json:"old"`
	New    string `json:"new"`
}

// String is a change on one line; of long texts it shows only the differences.
func (c Change) String() string {
	name := strings.TrimSuffix(c.Record, ".yaml")
	if dir, id, ok := board.SplitPath(c.Record); ok {
		name = dir + "/" + id
	}
	if c.Field != "" {
		name += "." + c.Field
	}
	switch {
	case c.Old == "":
		return "+ " + name + ": " + text.Line(c.New, 160)
	case c.New == "":
		return "- " + name + ": " + text.Line(c.Old, 160)
	case len(c.Old)+len(c.New) < 80:
		return "~ " + name + ": " + text.Line(c.Old, 80) + " -> " + text.Line(c.New, 80)
	}
	return "~ " + name + ": " + text.Line(inline(c.Old, c.New), 200)
}

// Coloured colours a change depending on whether something was added or removed.
func Coloured(p call.Paint, text string, c Change) string {
	switch {
	case c.Old == "":
		return p.With("32", text)
	case c.New == "":
		return p.Alarm(text)
	}
	return text
}

// inline marks the differences in a text as [-old-]{+new+}, with a little context.
func inline(old, new string) string {
	d := diffmatchpatch.New()
	diffs := d.DiffCleanupSemantic(d.DiffMain(old, new, false))
	var b strings.Builder
	for _, part := range diffs {
		switch part.Type {
		case diffmatchpatch.DiffDelete:
			b.WriteString("[-" + part.Text + "-]")
		case diffmatchpatch.DiffInsert:
			b.WriteString("{+" + part.Text + "+}")
		default:
			text := []rune(part.Text)
			if len(text) > 40 {
				text = slices.Concat(text[:15], []rune(" ... "), text[len(text)-15:])
			}
			b.WriteString(string(text))
		}
	}
	return b.String()
}

// Changes compares two of the board's commits.
func Changes(ctx context.Context, c *call.Call, old, new plumbing.OID) ([]Change, error) {
	a, err := c.Board.Log().At(ctx, old)
	if err != nil {
		return nil, err
	}
	b, err := c.Board.Log().At(ctx, new)
	if err != nil {
		return nil, err
	}
	return CompareBoards(a.State, b.State)
}

// recordDirs are the directories of records, in the order of a reader's interest.
var recordDirs = []string{board.GoalDir, board.TaskDir, board.AgentDir, board.HandoffDir, board.DiscoveryDir, board.AnomalyDir, board.NoteDir, board.SpecChangeDir, board.KeyDir}

func CompareBoards(a, b *board.State) ([]Change, error) {
	paths := []string{board.SprintPath, board.ControlPath, board.ConfigPath, board.BreakerPath, board.TeamPath, board.MetaPath}
	for _, dir := range recordDirs {
		ids := append(slices.Clone(a.List(dir)), b.List(dir)...)
		slices.Sort(ids)
		for _, id := range slices.Compact(ids) {
			paths = append(paths, board.RecordPath(dir, id))
		}
	}
	all, err := archivings(a, b)
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		old, err := a.Record(path)
		if err != nil {
			return nil, err
		}
		new, err := b.Record(path)
		if err != nil {
			return nil, err
		}
		found, err := CompareRecords(path, old, new)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// archivings are the tasks that only one of two boards has archived. Archived tasks never change.
func archivings(a, b *board.State) ([]Change, error) {
	all := []Change{}
	old, new := a.List(board.ArchiveDir), b.List(board.ArchiveDir)
	for _, id := range new {
		if _, both := slices.BinarySearch(old, id); !both {
			all = append(all, Change{Record: board.RecordPath(board.ArchiveDir, id), New: "(archived)"})
		}
	}
	for _, id := range old {
		if _, both := slices.BinarySearch(new, id); !both {
			all = append(all, Change{Record: board.RecordPath(board.ArchiveDir, id), Old: "(archived)"})
		}
	}
	return all, cmp.Or(a.Err(), b.Err())
}

func CompareRecords(path string, old, new any) ([]Change, error) {
	a, err := FieldTexts(old)
	if err != nil {
		return nil, err
	}
	b, err := FieldTexts(new)
	if err != nil {
		return nil, err
	}
	var all []Change
	if old == nil && new != nil || old != nil && new == nil {
		c := Change{Record: path}
		if old == nil {
			c.New = "(new)"
		} else {
			c.Old = "(gone)"
		}
		return []Change{c}, nil
	}
	for _, name := range unionOrder(b.Names, a.Names) {
		if a.Text[name] != b.Text[name] {
			c := Change{path, name, a.Text[name], b.Text[name]}
			if name == "history" || name == "alignment_history" {
				c.Old, c.New = "", strings.TrimPrefix(strings.TrimPrefix(b.Text[name], a.Text[name]), "\n")
			}
			all = append(all, c)
		}
	}
	return all, nil
}

func unionOrder(a, b []string) []string {
	out := slices.Clone(a)
	for _, name := range b {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

type texts struct {
	Names []string
	Text  map[string]string
}

// FieldTexts returns a record's fields as texts.
func FieldTexts(record any) (texts, error) {
	t := texts{Text: map[string]string{}}
	if record == nil {
		return t, nil
	}
	data, err := codec.Encode(record)
	if err != nil {
		return t, err
	}
	var n yaml.Node
	if err := yaml.Unmarshal(data, &n); err != nil {
		return t, fmt.Errorf("compare records: %w", err)
	}
	for _, name := range codec.Keys(n.Content[0]) {
		child, err := codec.Lookup(n.Content[0], []string{name})
		if err != nil {
			return t, err
		}
		text, err := codec.Render(child)
		if err != nil {
			return t, err
		}
		t.Names = append(t.Names, name)
		t.Text[name] = strings.TrimSuffix(text, "\n")
	}
	return t, nil
}
