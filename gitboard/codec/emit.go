package codec

import (
	"bytes"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/git-liza/git-liza/gitboard/board"
)

// longestKey is the length from which on YAML marks a key with a question mark.
const longestKey = 128

// emit writes a node as the YAML library would, but ten times as fast where a text needs no quotes,
// as most do: a sprint of thousands of tasks lists their ids in each version of its record.
func emit(n *yaml.Node) ([]byte, error) {
	if !isBlock(n) {
		return library(n)
	}
	e := emitter{}
	e.block(n, "", "")
	return e.out.Bytes(), e.err
}

// library writes a node as the library does.
func library(n *yaml.Node) ([]byte, error) {
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(n); err != nil {
		return nil, err
	}
	err := e.Close()
	return b.Bytes(), err
}

type emitter struct {
	out bytes.Buffer
	err error
}

// block writes a mapping or a sequence that is not empty. first begins the first line, indent the
// others.
func (e *emitter) block(n *yaml.Node, first, indent string) {
	if n.Kind == yaml.SequenceNode {
		for _, item := range n.Content {
			if item.Kind == yaml.MappingNode && isBlock(item) {
				e.block(item, first+"- ", indent+"  ")
			} else {
				e.line(first, "-", item, indent, &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{item}})
			}
			first = indent
		}
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		mark := ""
		if plain, ok := plainScalar(key); ok && len(plain) <= longestKey {
			mark = plain + ":"
		}
		if mark != "" && isBlock(value) {
			e.write(first, mark, "\n")
			e.block(value, indent+"  ", indent+"  ")
		} else {
			e.line(first, mark, value, indent, &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{key, value}})
		}
		first = indent
	}
}

// line writes a value after its mark, in one line if both are plain (the mark is "" if not).
// Otherwise the library writes both, as a node of their own.
func (e *emitter) line(first, mark string, value *yaml.Node, indent string, both *yaml.Node) {
	if plain, ok := plainScalar(value); ok && mark != "" {
		e.write(first, mark, " ", plain, "\n")
		return
	}
	text, err := library(both)
	if err != nil {
		e.err = err
		return
	}
	for line := range bytes.Lines(text) {
		if len(line) > 1 {
			e.write(first)
		}
		e.out.Write(line)
		first = indent
	}
}

func (e *emitter) write(parts ...string) {
	for _, p := range parts {
		e.out.WriteString(p)
	}
}

// isBlock reports whether a node is a mapping or a sequence over several lines.
func isBlock(n *yaml.Node) bool {
	return (n.Kind == yaml.MappingNode && n.Tag == "!!map" || n.Kind == yaml.SequenceNode && n.Tag == "!!seq") &&
		n.Style == 0 && n.Anchor == "" && len(n.Content) > 0
}

// plainScalar returns the text of a scalar that surely needs no quotes and no tag.
func plainScalar(n *yaml.Node) (string, bool) {
	if n.Kind != yaml.ScalarNode || n.Style != 0 || n.Anchor != "" {
		return "", false
	}
	switch n.Tag {
	case "!!str":
		return n.Value, plainText(n.Value)
	case "!!bool":
		return n.Value, n.Value == "true" || n.Value == "false"
	case "!!timestamp":
		_, err := board.ParseTime(n.Value)
		return n.Value, err == nil
	case "!!int":
		return n.Value, len(n.Value) <= 18 && n.Value != "" && (n.Value == "0" || n.Value[0] != '0') && strings.Trim(n.Value, "0123456789") == ""
	}
	return "", false
}

// plainText reports whether a text is ASCII, begins with a letter, and holds nothing that YAML could
// take for something else. It may be wrong about texts that need no quotes, but not about others.
func plainText(s string) bool {
	if len(s) < len("false")+1 && notWord(s) || s[0]|0x20 < 'a' || s[0]|0x20 > 'z' || s[len(s)-1] == ' ' {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case c < ' ' || c > '~':
			return false
		case c == ':' && (i+1 == len(s) || s[i+1] == ' ') || c == '#' && s[i-1] == ' ':
			return false
		}
	}
	return true
}

// notWord reports whether a short text is empty or has another meaning in YAML.
func notWord(s string) bool {
	switch strings.ToLower(s) {
	case "", "true", "false", "null", "y", "n", "yes", "no", "on", "off":
		return true
	}
	return false
}
