package codec

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"

	"gopkg.in/yaml.v3"

	"github.com/git-liza/git-liza/gitboard/board"
)

// maxKeys limits a mapping, because the library's search for duplicate keys is quadratic.
const maxKeys = 1000

// standardTags are the tags that YAML infers for a value without an explicit one.
var standardTags = map[string]bool{"!!str": true, "!!int": true, "!!bool": true, "!!float": true, "!!null": true, "!!timestamp": true, "!!map": true, "!!seq": true}

// strict rejects what a board never writes: aliases, anchors, tags, unknown keys, huge mappings. A
// nil type accepts any keys.
func strict(n *yaml.Node, t reflect.Type) error {
	if n.Kind == yaml.AliasNode || n.Anchor != "" {
		return fmt.Errorf("line %d: anchors and aliases are not allowed", n.Line)
	}
	if n.Style&yaml.TaggedStyle != 0 || !standardTags[n.ShortTag()] {
		return fmt.Errorf("line %d: the tag %s is not allowed", n.Line, n.ShortTag())
	}
	if t == nil && !kept(n) {
		return fmt.Errorf("line %d: %.60q would not be kept as it is: put it in quotes", n.Line, n.Value)
	}
	for t != nil && (t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice && n.Kind != yaml.SequenceNode) {
		t = t.Elem()
	}
	switch n.Kind {
	case yaml.SequenceNode:
		if t != nil && t.Kind() == reflect.Slice {
			t = t.Elem()
		} else {
			t = nil
		}
		for _, c := range n.Content {
			if err := strict(c, t); err != nil {
				return err
			}
		}
	case yaml.MappingNode:
		return strictMapping(n, t)
	case yaml.ScalarNode:
		if t != nil && t.Kind() == reflect.Int && n.ShortTag() == "!!float" { // the library would cut it off
			return fmt.Errorf("line %d: %.60q is not a whole number", n.Line, n.Value)
		}
	}
	return nil
}

// kept reports whether a value without a declared type is written back as it was read. That
// excludes times, floats, and integers of more than 64 bits.
func kept(n *yaml.Node) bool {
	switch n.ShortTag() {
	case "!!float", "!!timestamp":
		return false
	case "!!int":
		_, err := strconv.ParseInt(n.Value, 0, 64)
		return err == nil
	}
	return true
}

func strictMapping(n *yaml.Node, t reflect.Type) error {
	if len(n.Content)/2 > maxKeys {
		return fmt.Errorf("line %d: more than %d keys in one mapping", n.Line, maxKeys)
	}
	var known []board.Field
	if t != nil && t.Kind() == reflect.Struct {
		known = board.Fields(t)
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if err := strict(key, nil); err != nil {
			return err
		}
		if key.ShortTag() != "!!str" {
			return fmt.Errorf("line %d: a key must be a text", key.Line)
		}
		var vt reflect.Type
		if known != nil {
			at := slices.IndexFunc(known, func(f board.Field) bool { return f.Name == key.Value })
			if at < 0 {
				return fmt.Errorf("line %d: unknown key %.60q (keys of your own go under extra:)", key.Line, key.Value)
			}
			if vt = known[at].Type; vt.Kind() == reflect.Interface {
				vt = nil // any value
			}
		}
		if err := strict(value, vt); err != nil {
			return err
		}
	}
	return nil
}

func fieldsOf(record any) reflect.Type { return reflect.TypeOf(record).Elem() }

// same compares two records. An empty list equals a missing one.
func same(a, b any) bool { return sameValue(reflect.ValueOf(a), reflect.ValueOf(b)) }

func sameValue(a, b reflect.Value) bool {
	if a.IsValid() != b.IsValid() || a.IsValid() && a.Type() != b.Type() {
		return false
	}
	if !a.IsValid() {
		return true
	}
	switch a.Kind() {
	case reflect.Pointer, reflect.Interface:
		if a.IsNil() || b.IsNil() {
			return a.IsNil() == b.IsNil()
		}
		return sameValue(a.Elem(), b.Elem())
	case reflect.Struct:
		for i := range a.NumField() {
			if !sameValue(a.Field(i), b.Field(i)) {
				return false
			}
		}
		return true
	case reflect.Slice:
		if a.Len() != b.Len() {
			return false
		}
		for i := range a.Len() {
			if !sameValue(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	case reflect.Map:
		if a.Len() != b.Len() {
			return false
		}
		for _, k := range a.MapKeys() {
			if other := b.MapIndex(k); !other.IsValid() || !sameValue(a.MapIndex(k), other) {
				return false
			}
		}
		return true
	}
	return a.Equal(b)
}
