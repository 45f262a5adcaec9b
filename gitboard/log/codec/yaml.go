package codec

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"

	"github.com/git-liza/git-liza/gitboard/board"
)

// MaxDocument is the maximum size of a record in bytes.
const MaxDocument = board.MaxRecord

// Error is a record that can't be read: its name, and its fault (with the line, if known).
type Error struct {
	Path string
	Err  error
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %v", e.Path, e.Err) }
func (e *Error) Unwrap() error { return e.Err }

// Encode writes a record as canonical YAML: keys in the order of the struct, multi-line texts as
// literal blocks where YAML can represent them, and everything unusual double-quoted.
func Encode(record any) ([]byte, error) {
	var long lists
	n, err := long.nodeOf(reflect.ValueOf(record))
	if err != nil {
		return nil, err
	}
	data, err := emit(n)
	if err != nil || len(long.left) == 0 {
		return data, err
	}
	if data, ok := long.putIn(data); ok {
		return data, nil
	}
	if n, err = nodeOf(reflect.ValueOf(record)); err != nil {
		return nil, err
	}
	return emit(n)
}

func emit(n *yaml.Node) ([]byte, error) {
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(n); err != nil {
		return nil, err
	}
	if err := e.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// EncodeChecked is Encode for a record that is about to be stored. It refuses a record that is too
// large, and fails if reading the bytes back would not give the same record.
func EncodeChecked(path string, record any) ([]byte, error) {
	data, err := Encode(record)
	if err != nil {
		return nil, &Error{path, err}
	}
	if len(data) > MaxDocument {
		return nil, board.Refuse(board.CodeInvalid, fmt.Sprintf("%s would have %d bytes; a record may have %d", path, len(data), MaxDocument),
			"put long texts into files of the project and name them here")
	}
	return data, ReadBack(path, record, data)
}

// ReadBack fails if reading a record's encoding would not give the same record.
func ReadBack(path string, record any, data []byte) error {
	back, err := Decode(path, data)
	if err != nil {
		return fmt.Errorf("%s does not survive being written: %w", path, err)
	}
	if !same(record, back) {
		return fmt.Errorf("%s does not survive being written: it reads back differently", path)
	}
	return nil
}

// literal reports whether a text is best written as a literal block, and reads back unchanged from
// it.
func literal(s string) bool {
	if !strings.Contains(strings.TrimSuffix(s, "\n"), "\n") || strings.HasSuffix(s, "\n\n") {
		return false
	}
	for i, line := range strings.Split(s, "\n") {
		if line != strings.TrimRight(line, " ") || i == 0 && (line == "" || line[0] == ' ') {
			return false
		}
	}
	return printable(strings.ReplaceAll(s, "\n", ""))
}

// isPlain reports whether a one-line text needs no escaping. The emitter itself quotes texts that
// would be read as another type.
func isPlain(s string) bool {
	return printable(s) && s == strings.TrimSpace(s)
}

func printable(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) || r == 0xFEFF || r > 0xFFFF && !unicode.IsGraphic(r) }) < 0
}

// Decode decodes the record at a path. It rejects unknown keys (except below extra), aliases,
// anchors, tags, and documents that are too large.
func Decode(path string, data []byte) (any, error) {
	record := board.NewRecord(path)
	if record == nil {
		return nil, &Error{path, fmt.Errorf("is not a record of a board")}
	}
	if err := decodeInto(data, record); err != nil {
		return nil, &Error{path, err}
	}
	return record, nil
}

// decodeInto decodes YAML into a record, as strictly as Decode.
func decodeInto(data []byte, record any) (err error) {
	if len(data) > MaxDocument {
		return fmt.Errorf("has %d bytes; %d are allowed", len(data), MaxDocument)
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("can't be read: %v", r)
		}
	}()
	var doc yaml.Node
	d := yaml.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(&doc); err != nil {
		return trimYAML(err)
	}
	var more yaml.Node
	if err := d.Decode(&more); err != io.EOF {
		return fmt.Errorf("there is text after the end of the record")
	}
	if len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return fmt.Errorf("line 1: a mapping of fields is needed")
	}
	if err := strict(doc.Content[0], fieldsOf(record)); err != nil {
		return err
	}
	return trimYAML(doc.Content[0].Decode(record))
}

func trimYAML(err error) error {
	if err == nil {
		return nil
	}
	return errors.New(strings.TrimPrefix(board.YAMLFault(err).Error(), "yaml: "))
}
