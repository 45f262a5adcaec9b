package edit

import (
	"gopkg.in/yaml.v3"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/log/codec"
)

// ChangedFields returns the top-level fields in which two records differ, with the values of the
// second.
func ChangedFields(a, b any) ([]board.FieldEdit, error) {
	old, err := yamlFields(a)
	if err != nil {
		return nil, err
	}
	new, err := yamlFields(b)
	if err != nil {
		return nil, err
	}
	var changed []board.FieldEdit
	for _, f := range new {
		if was, ok := valueOf(old, f.Field); !ok || was != f.Value {
			changed = append(changed, f)
		}
	}
	for _, f := range old {
		if _, stays := valueOf(new, f.Field); !stays {
			changed = append(changed, board.FieldEdit{Field: f.Field, Value: "null\n"})
		}
	}
	return changed, nil
}

func valueOf(fields []board.FieldEdit, name string) (string, bool) {
	for _, f := range fields {
		if f.Field == name {
			return f.Value, true
		}
	}
	return "", false
}

// yamlFields returns a record's fields, each as YAML.
func yamlFields(record any) ([]board.FieldEdit, error) {
	data, err := codec.Encode(record)
	if err != nil {
		return nil, err
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, err
	}
	var fields []board.FieldEdit
	top := doc.Content[0].Content
	for i := 0; i+1 < len(top); i += 2 {
		value, err := yaml.Marshal(top[i+1])
		if err != nil {
			return nil, err
		}
		fields = append(fields, board.FieldEdit{Field: top[i].Value, Value: string(value)})
	}
	return fields, nil
}
