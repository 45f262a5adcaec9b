package board

import (
	"fmt"

	"gopkg.in/yaml.v3"
)

// Scalar is the value of a detail. Whole numbers and booleans are written without quotes, so that
// other YAML readers see them as such.
type Scalar string

var wholeNumber = formOf(`^(0|-?[1-9][0-9]{0,17})$`)

// MarshalYAML writes numbers and booleans plain.
func (s Scalar) MarshalYAML() (any, error) {
	switch {
	case wholeNumber.MatchString(string(s)):
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: string(s)}, nil
	case s == "true" || s == "false":
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: string(s)}, nil
	}
	return string(s), nil
}

// UnmarshalYAML accepts any scalar as text.
func (s *Scalar) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind != yaml.ScalarNode {
		return fmt.Errorf("line %d: a single value is needed", n.Line)
	}
	*s = Scalar(n.Value)
	return nil
}
