package onefile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/text"
)

// Fault is a place of a file that can't be read, and the way to mend it.
type Fault struct {
	Line int
	What string
}

// Error has the faults of a file, at least one.
type Error struct {
	File   string
	Faults []Fault
}

// maxShown bounds the faults that an error prints.
const maxShown = 50

func (e *Error) Error() string {
	var lines []string
	for _, f := range e.Faults[:min(len(e.Faults), maxShown)] {
		lines = append(lines, fmt.Sprintf("%s:%d: %s", e.File, f.Line, f.What))
	}
	if more := len(e.Faults) - maxShown; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(lines, "\n")
}

func faultAt(file string, line int, format string, args ...any) *Error {
	return &Error{file, []Fault{{line, text.Line(fmt.Sprintf(format, args...), 300)}}}
}

// maxNodes bounds what the aliases of a file may unfold to.
const maxNodes = 1 << 21

var yamlLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^yaml: (?:unmarshal errors:\n\s*)?line (\d+): `) })

// parse reads a file of one YAML document and returns its root, nil for an empty file. Aliases are
// unfolded.
func parse(file string, data []byte) (root *yaml.Node, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			root, err = nil, faultAt(file, 1, "it is not YAML: %v", cause)
		}
	}()
	if len(data) > board.MaxImport {
		return nil, faultAt(file, 1, "it has more than %d bytes", board.MaxImport)
	}
	var doc, more yaml.Node
	d := yaml.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, fault(file, err)
	}
	if err := d.Decode(&more); err == nil {
		return nil, faultAt(file, more.Line, "a second document begins here")
	} else if !errors.Is(err, io.EOF) {
		return nil, fault(file, err)
	}
	u := unfolding{file: file}
	return u.node(doc.Content[0], 0)
}

func fault(file string, err error) error {
	text, line := err.Error(), 1
	if m := yamlLine().FindStringSubmatch(text); m != nil {
		line, _ = strconv.Atoi(m[1])
		if text = text[len(m[0]):]; strings.HasPrefix(text, "did not find expected") {
			line++ // the library counts from 0 there
		}
	}
	return faultAt(file, line, "%s", strings.TrimPrefix(text, "yaml: "))
}

// unfolding copies a tree of nodes with its aliases and merges put in.
type unfolding struct {
	file  string
	nodes int
}

func (u *unfolding) node(n *yaml.Node, depth int) (*yaml.Node, error) {
	if u.nodes++; u.nodes > maxNodes || depth > 100 {
		return nil, faultAt(u.file, n.Line, "it unfolds to too much")
	}
	if !utf8.ValidString(n.Value) || strings.ContainsFunc(n.Value, control) {
		return nil, faultAt(u.file, n.Line, "%s holds a control character: remove it", text.Quote(n.Value))
	}
	if n.Kind == yaml.AliasNode {
		return u.node(n.Alias, depth+1)
	}
	c := &yaml.Node{Kind: n.Kind, Tag: n.Tag, Value: n.Value, Style: n.Style &^ yaml.TaggedStyle, Line: n.Line}
	seen := map[string]bool{}
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			if child.Kind != yaml.ScalarNode {
				return nil, faultAt(u.file, child.Line, "a key is not plain text")
			}
			if seen[child.Value] {
				return nil, faultAt(u.file, child.Line, "%q appears twice", text.Line(child.Value, 60))
			}
			seen[child.Value] = true
		}
		made, err := u.node(child, depth+1)
		if err != nil {
			return nil, err
		}
		c.Content = append(c.Content, made)
	}
	return c, nil
}

// control reports whether c is a character that no text of a board may hold.
func control(c rune) bool {
	return c == 0xFEFF || unicode.IsControl(c) && c != '\t' && c != '\n' && c != '\r'
}

// fields are the keys of a mapping and their values, in their order.
func fields(n *yaml.Node) (keys []string, values map[string]*yaml.Node) {
	values = map[string]*yaml.Node{}
	if n == nil || n.Kind != yaml.MappingNode {
		return nil, values
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		keys = append(keys, n.Content[i].Value)
		values[n.Content[i].Value] = n.Content[i+1]
	}
	return keys, values
}

// absent reports whether a value is empty.
func absent(n *yaml.Node) bool {
	const quoted = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	return n == nil || n.Kind == yaml.ScalarNode && (n.ShortTag() == "!!null" || n.Value == "" && n.Style&quoted == 0)
}

// textOf is a value's text, whatever its form.
func textOf(n *yaml.Node) string {
	switch {
	case absent(n):
		return ""
	case n.Kind == yaml.ScalarNode:
		return n.Value
	}
	data, err := yaml.Marshal(n)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}
