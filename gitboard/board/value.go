package board

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"

	"gopkg.in/yaml.v3"
)

// maxValueKeys limits the keys of a mapping in an edit: the library's search for duplicate keys is
// quadratic.
const maxValueKeys = 1000

// plainTags are the values that are written and read back identically on every machine. Times and
// malformed numbers are excluded under extra, where no field determines the type.
var (
	extraTags = []string{"!!str", "!!int", "!!bool", "!!null", "!!map", "!!seq"}
	plainTags = append(slices.Clone(extraTags), "!!timestamp")
)

// parseValue parses an edit's new value of a field: one YAML document without aliases, anchors and
// tags.
func parseValue(f FieldEdit) (*yaml.Node, error) {
	var doc, more yaml.Node
	d := yaml.NewDecoder(bytes.NewReader([]byte(f.Value)))
	if err := d.Decode(&doc); err == io.EOF {
		return nil, fmt.Errorf("a value is missing (null empties a field)")
	} else if err != nil {
		return nil, err
	}
	if err := d.Decode(&more); err != io.EOF {
		return nil, fmt.Errorf("one value is needed, not two documents")
	}
	tags := plainTags
	if f.Field == "extra" {
		tags = extraTags
	}
	n := doc.Content[0]
	return n, plainValue(n, tags)
}

// tooLong reports whether a number needs more than 64 bits.
func tooLong(number string) bool {
	_, err := strconv.ParseInt(number, 0, 64)
	return err != nil
}

// plainValue refuses what is not kept as it is. An alias needs an anchor before it.
func plainValue(n *yaml.Node, tags []string) error {
	switch {
	case n.Anchor != "" || n.Style&yaml.TaggedStyle != 0:
		return fmt.Errorf("line %d: anchors and tags are not allowed", n.Line)
	case !slices.Contains(tags, n.ShortTag()) || n.ShortTag() == "!!int" && tooLong(n.Value):
		return fmt.Errorf("line %d: %s is not kept as it is; put it in quotes", n.Line, quote(n.Value))
	case n.Kind == yaml.MappingNode && len(n.Content) > 2*maxValueKeys:
		return fmt.Errorf("line %d: more than %d keys in one mapping", n.Line, maxValueKeys)
	}
	for i, c := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 && c.ShortTag() != "!!str" {
			return fmt.Errorf("line %d: a key must be a text", c.Line)
		}
		if err := plainValue(c, tags); err != nil {
			return err
		}
	}
	return nil
}
