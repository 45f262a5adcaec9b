package board

import (
	"fmt"

	"gopkg.in/yaml.v3"
)

// Scalar is a detail's value: text that is written without quotes where it is a whole number or a
// truth value, so that other readers of the YAML see those as what they are.
type Scalar string

var wholeNumber = formOf(`^(0|-?[1-9][0-9]{0,17})$`)

// MarshalYAML writes numbers and truth values plain.
func (s Scalar) MarshalYAML() (any, error) {
	switch {
	case wholeNumber.MatchString(string(s)):
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: string(s)}, nil
	case s == "true" || s == "false":
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: string(s)}, nil
	}
	return string(s), nil
}

// UnmarshalYAML takes any scalar as its text.
func (s *Scalar) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind != yaml.ScalarNode {
		return fmt.Errorf("line %d: a single value is needed", n.Line)
	}
	*s = Scalar(n.Value)
	return nil
}
