package git

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// writeNames writes the request: one name per line.
func writeNames(in io.Writer, names []string) error {
	w := bufio.NewWriter(in)
	for _, name := range names {
		// bufio.Writer keeps the first error for Flush.
		w.WriteString(name)
		w.WriteByte('\n')
	}
	return w.Flush()
}

// readObjects reads the answer for each name. On error it also returns the answers before it.
func readObjects(out *bufio.Reader, names []string) ([]plumbing.Object, error) {
	objects := make([]plumbing.Object, len(names))
	for i, name := range names {
		object, err := readObject(out)
		if err != nil {
			return objects[:i], fmt.Errorf("read object %q: %w", name, err)
		}
		objects[i] = object
	}
	return objects, nil
}

// readObject reads one answer (git-cat-file, "BATCH OUTPUT"): either a line of id, type and size,
// followed by the content and a line feed; or, if there is no such object, one line that ends in
// another word ("missing", "ambiguous"). An object whose content does not match its id is damaged
// and counts as missing.
func readObject(out *bufio.Reader) (plumbing.Object, error) {
	line, err := out.ReadString('\n')
	if err != nil {
		return plumbing.Object{}, unexpectedEnd(err)
	}
	fields := strings.Split(strings.TrimSuffix(line, "\n"), " ")
	if len(fields) != 3 || !plumbing.OID(fields[0]).Valid() {
		return plumbing.Object{}, nil
	}
	size, err := strconv.ParseUint(fields[2], 10, 62)
	if err != nil {
		return plumbing.Object{}, nil
	}
	data := make([]byte, size+1)
	if _, err := io.ReadFull(out, data); err != nil {
		return plumbing.Object{}, unexpectedEnd(err)
	}
	if data[size] != '\n' {
		return plumbing.Object{}, fmt.Errorf("the answer of git cat-file is out of step")
	}
	object := plumbing.Object{OID: plumbing.OID(fields[0]), Type: plumbing.ObjectType(fields[1]), Data: data[:size:size]}
	if plumbing.PlainHash(object.Type, object.Data) != object.OID {
		return plumbing.Object{}, nil
	}
	return object, nil
}

// unexpectedEnd turns io.EOF into io.ErrUnexpectedEOF: the stream ended in the middle of an answer.
func unexpectedEnd(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
