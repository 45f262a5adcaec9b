package codec

import (
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// LineOf is the line of a YAML text on which a part of it begins, like roles[1].kind. If there is
// no such part, it is the line of the innermost part that contains it.
func LineOf(text []byte, where string) int {
	var doc yaml.Node
	if yaml.Unmarshal(text, &doc) != nil || len(doc.Content) == 0 {
		return 1
	}
	n := doc.Content[0]
	line := n.Line
	for _, key := range strings.Split(strings.ReplaceAll(where, "[", "."), ".") {
		if n, line = within(n, strings.TrimSuffix(key, "]"), line); n == nil {
			break
		}
	}
	return line
}

// within is the part of a node under a key or an index, and its line; nil and the line so far if
// there is none.
func within(n *yaml.Node, key string, line int) (*yaml.Node, int) {
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == key {
				return n.Content[i+1], n.Content[i].Line
			}
		}
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(key); err == nil && i >= 0 && i < len(n.Content) {
			return n.Content[i], n.Content[i].Line
		}
	}
	return nil, line
}
