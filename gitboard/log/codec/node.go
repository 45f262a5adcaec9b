package codec

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"

	"github.com/git-liza/git-liza/gitboard/board"
)

// nodeOf builds the YAML of a value. The library's own encoding goes through text and loses a
// leading newline in a string.
func nodeOf(v reflect.Value) (*yaml.Node, error) { return (*lists)(nil).nodeOf(v) }

// nodeOf builds the YAML of a value without its long lists, unless l is nil.
func (l *lists) nodeOf(v reflect.Value) (*yaml.Node, error) {
	for v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if !v.IsValid() {
		return scalar("!!null", "null"), nil
	}
	if m, ok := v.Interface().(yaml.Marshaler); ok {
		written, err := m.MarshalYAML()
		if n, ready := written.(*yaml.Node); ready || err != nil {
			return n, err
		}
		return l.nodeOf(reflect.ValueOf(written))
	}
	switch v.Kind() {
	case reflect.Struct:
		return l.structNode(v)
	case reflect.Map:
		return l.mapNode(v)
	case reflect.Slice:
		if n := l.leaveOut(v); n != nil {
			return n, nil
		}
		n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for i := range v.Len() {
			item, err := l.nodeOf(v.Index(i))
			if err != nil {
				return nil, err
			}
			n.Content = append(n.Content, item)
		}
		return n, nil
	case reflect.String:
		return textNode(v.String()), nil
	case reflect.Int, reflect.Int64:
		return scalar("!!int", strconv.FormatInt(v.Int(), 10)), nil
	case reflect.Bool:
		return scalar("!!bool", strconv.FormatBool(v.Bool())), nil
	}
	return nil, fmt.Errorf("a %s can't be written", v.Type())
}

func scalar(tag, value string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: value}
}

func (l *lists) structNode(v reflect.Value) (*yaml.Node, error) {
	n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for i, field := range board.Fields(v.Type()) {
		f := v.Field(i)
		if field.OmitEmpty && (f.IsZero() || (f.Kind() == reflect.Slice || f.Kind() == reflect.Map) && f.Len() == 0) {
			continue
		}
		value, err := l.nodeOf(f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", field.Name, err)
		}
		n.Content = append(n.Content, textNode(field.Name), value)
	}
	return n, nil
}

// mapNode writes a mapping in the order of its keys.
func (l *lists) mapNode(v reflect.Value) (*yaml.Node, error) {
	keys := v.MapKeys()
	for _, k := range keys {
		if k.Kind() != reflect.String {
			return nil, fmt.Errorf("the key %v is not a text", k)
		}
	}
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for _, k := range keys {
		value, err := l.nodeOf(v.MapIndex(k))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", k, err)
		}
		n.Content = append(n.Content, textNode(k.String()), value)
	}
	return n, nil
}

// older matches texts that some YAML readers take for a boolean, a base-60 number or a merge key.
var older = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?i:y|n|yes|no|on|off)$|^<<$|^[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?$`)
})

// textNode chooses the style in which a text is written.
func textNode(s string) *yaml.Node {
	n := scalar("!!str", s)
	switch {
	case literal(s):
		n.Style = yaml.LiteralStyle
	case !isPlain(s) || (len(s) <= 3 || s[0] < 'A') && older().MatchString(s):
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}
