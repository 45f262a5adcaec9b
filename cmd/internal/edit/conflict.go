package edit

import (
	"io"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/git-liza/git-liza/cmd/internal/records"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log/codec"
	"github.com/git-liza/git-liza/gitboard/text"
)

// conflict means that somebody else has changed the same fields meanwhile.
type conflict struct {
	commit    plumbing.OID
	now, mine any
	edits     []board.FieldEdit // everything the human changed
	fields    []string          // the fields that both changed
}

func (k *conflict) Error() string {
	return "somebody else has changed " + strings.Join(k.fields, ", ") + " meanwhile"
}

// LaidOver is a record as YAML with the fields of an edit replacing its own.
func LaidOver(record any, edits []board.FieldEdit) (string, error) {
	fields, err := yamlFields(record)
	if err != nil {
		return "", err
	}
	for _, f := range edits {
		if i := slices.IndexFunc(fields, func(own board.FieldEdit) bool { return own.Field == f.Field }); i >= 0 {
			fields[i] = f
		} else {
			fields = append(fields, f)
		}
	}
	top := &yaml.Node{Kind: yaml.MappingNode}
	for _, f := range fields {
		var value yaml.Node
		if err := yaml.Unmarshal([]byte(f.Value), &value); err != nil {
			return "", err
		}
		top.Content = append(top.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: f.Field}, value.Content[0])
	}
	return codec.Render(top)
}

// showBoth shows both changes, and puts the other one above the human's text. From then on the text
// is based on the board after the other change: saving it means having seen both.
func (e *edit) showBoth(k *conflict) error {
	theirs, err := records.CompareRecords(e.path, e.base, k.now)
	if err != nil {
		return err
	}
	mine, err := records.CompareRecords(e.path, e.base, k.mine)
	if err != nil {
		return err
	}
	only := func(all []records.Change) (of []records.Change) {
		for _, ch := range all {
			for _, name := range k.fields {
				if ch.Field == name {
					of = append(of, ch)
				}
			}
		}
		return of
	}
	e.commit = k.commit
	var above strings.Builder
	above.WriteString(e.head() + "# Somebody else's change of the same fields; yours is below:\n")
	for _, ch := range only(theirs) {
		for line := range strings.Lines(ch.Field + ": " + ch.New + "\n") {
			above.WriteString("#   " + line)
		}
	}
	raw, err := LaidOver(k.now, k.edits)
	if err != nil {
		return err
	}
	if err := e.Board.Clone().Keep(e.name, above.String()+raw); err != nil {
		return err
	}
	if e.JSON {
		return nil
	}
	_, err = io.WriteString(e.App.Stdout, e.Legible(text.Visible(strings.Join(append(append([]string{"theirs"}, e.drawn(only(theirs))...),
		append([]string{"yours"}, e.drawn(only(mine))...)...), "\n")+"\n")))
	return err
}
