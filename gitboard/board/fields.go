package board

import (
	"reflect"
	"strings"
	"sync"
)

// Field is a field of a struct as an encoding names it.
type Field struct {
	Name      string
	OmitEmpty bool // it is left out if it is empty
	Type      reflect.Type
}

// Fields lists the fields of a record, or of a part of one, in order and by their keys in YAML.
func Fields(t reflect.Type) []Field { return yamlFields.of(t) }

var yamlFields, jsonFields = fieldLists{tag: "yaml"}, fieldLists{tag: "json"}

// fieldLists parses the tags of each type once: a replay would parse them for every operation.
type fieldLists struct {
	tag   string
	known sync.Map // reflect.Type → []Field
}

func (l *fieldLists) of(t reflect.Type) []Field {
	if fields, ok := l.known.Load(t); ok {
		return fields.([]Field)
	}
	fields := make([]Field, t.NumField())
	for i := range fields {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get(l.tag), ",")
		fields[i] = Field{name, options == "omitempty", f.Type}
	}
	l.known.Store(t, fields)
	return fields
}
