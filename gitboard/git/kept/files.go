package kept

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/git-liza/git-liza/gitboard/git/disk"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// Prefix is the prefix of the names of files with kept objects.
const Prefix = "objects-"

// MovedMode is the mode of such a file once refs point to its objects. The file is not
// renamed, because a process that lists the directory at that moment would miss it.
const MovedMode = 0o444

// Store stores a copy of objects that are about to be written in a new file of a directory, which
// makeDir makes, and returns the file. It is not flushed to disk: it protects from a git that deletes, not
// from a power cut.
func Store(dir string, makeDir func(string) error, objects []plumbing.Object) (path string, err error) {
	var head, data bytes.Buffer
	for _, o := range objects {
		fmt.Fprintf(&head, "%s %s %d\n", o.OID, o.Type, len(o.Data))
		data.Write(o.Data)
	}
	head.WriteByte('\n')
	head.Write(data.Bytes())
	file, err := os.CreateTemp(dir, Prefix)
	if os.IsNotExist(err) {
		if err = makeDir(dir); err == nil {
			file, err = os.CreateTemp(dir, Prefix)
		}
	}
	if err != nil {
		return "", disk.NewStorageError(dir, err)
	}
	_, err = file.Write(head.Bytes())
	if err = errors.Join(err, file.Close()); err != nil {
		os.Remove(file.Name())
	}
	return file.Name(), disk.NewStorageError(dir, err)
}

// File is a file with kept objects.
type File struct {
	Path    string
	Written time.Time
	Moved   bool // refs point to the objects
	Objects []plumbing.Object
}

// Read reads the objects in a file. It returns nil if the file is gone or incomplete, as after
// its writer died.
func Read(path string) (objects []plumbing.Object) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	head, data, whole := bytes.Cut(text, []byte("\n\n"))
	if !whole {
		return nil
	}
	for line := range strings.Lines(string(head)) {
		fields := strings.Fields(line)
		if len(fields) != 3 {
			return nil
		}
		o := plumbing.Object{OID: plumbing.OID(fields[0]), Type: plumbing.ObjectType(fields[1])}
		size, err := strconv.Atoi(fields[2])
		if err != nil || !o.OID.Valid() || size < 0 || size > len(data) {
			return nil
		}
		o.Data, data = data[:size:size], data[size:]
		objects = append(objects, o)
	}
	return objects
}

// IsTip reports whether refs point to a commit in the file.
func (k *File) IsTip() bool {
	return k.Moved && slices.ContainsFunc(Read(k.Path), IsCommit)
}

// IsCommit reports whether an object is a commit.
func IsCommit(o plumbing.Object) bool { return o.Type == plumbing.CommitObject }

// List lists the files of a directory, newest first, without their objects.
func List(dir string) []*File {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var all []*File
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), Prefix) {
			continue
		}
		if info, err := e.Info(); err == nil { // or it has been deleted meanwhile
			all = append(all, &File{Path: filepath.Join(dir, e.Name()), Written: info.ModTime(), Moved: info.Mode().Perm() == MovedMode})
		}
	}
	slices.SortFunc(all, func(a, b *File) int { return b.Written.Compare(a.Written) })
	return all
}

// All reads all files of a directory, newest first.
func All(dir string) []*File {
	var all []*File
	for _, k := range List(dir) {
		if k.Objects = Read(k.Path); k.Objects != nil {
			all = append(all, k)
		}
	}
	return all
}
