package gitio

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/adler32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/git-liza/git-liza/gitboard/git"
)

// refresh gives a loose object a new modification time and reports whether that worked. It fails
// for an object that is missing, damaged (a machine crash leaves empty files) or owned by another
// user; the caller then writes it again.
func refresh(path string, object git.Object) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || !intact(path, object) {
		return false
	}
	now := time.Now()
	return os.Chtimes(path, now, now) == nil
}

// writeLoose writes an object below the object directory dir: to a temporary file next to its
// place, which is flushed and then renamed. The temporary file has a name that `git gc` cleans up
// after a crash. `git prune --expire=now` deletes it even while it is being written; then
// writeLoose retries.
func writeLoose(dir, path string, object git.Object) error {
	for attempt := 1; ; attempt++ {
		err := writeOnce(dir, path, object)
		if err == nil || attempt == tempAttempts || !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
}

func writeOnce(dir, path string, object git.Object) (err error) {
	file, err := createTemp(dir, filepath.Dir(path))
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(file.Name())
		}
	}()
	if err := errors.Join(deflate(file, object), file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := os.Rename(file.Name(), path); err != nil {
		// Some systems do not rename over a read-only file. The name is derived from the content,
		// so an existing file holds the same object.
		if info, statErr := os.Lstat(path); statErr == nil && info.Size() > 0 {
			os.Remove(file.Name())
			return nil
		}
		return err
	}
	return nil
}

// deflate writes the object with git's header, compressed at the fastest level, which is git's
// default for loose objects. An object that fits into one disk block uncompressed is stored as it
// is, since compression would save no space.
func deflate(file *os.File, object git.Object) error {
	header := fmt.Sprintf("%s %d\x00", object.Type, len(object.Data))
	if len(header)+len(object.Data) <= oneBlock {
		_, err := file.Write(stored(header, object.Data))
		return err
	}
	var b bytes.Buffer
	w, err := zlib.NewWriterLevel(&b, zlib.BestSpeed)
	if err != nil {
		return err
	}
	// Errors of an in-memory write show in Close.
	io.WriteString(w, header)
	w.Write(object.Data)
	if err := w.Close(); err != nil {
		return err
	}
	_, err = file.Write(b.Bytes())
	return err
}

// oneBlock is the size of a disk block less a few bytes of framing.
const oneBlock = 4096 - 16

// stored returns a zlib stream (RFC 1950) with a single uncompressed block (RFC 1951, 3.2.4).
func stored(header string, data []byte) []byte {
	n := len(header) + len(data)
	b := make([]byte, 0, n+11)
	b = append(b, 0x78, 0x01, 1, byte(n), byte(n>>8), ^byte(n), ^byte(n>>8))
	b = append(append(b, header...), data...)
	return binary.BigEndian.AppendUint32(b, adler32.Checksum(b[7:]))
}

// createTemp creates a file in dir, one of the fan-out directories below objects. Its mode is 0444
// less the umask, as in git, because it is never written again. If `git gc` has removed the empty
// directory, it is created again.
func createTemp(objects, dir string) (*os.File, error) {
	for attempt := 1; ; attempt++ {
		name := fmt.Sprintf("tmp_obj_%d_%d_%d", os.Getpid(), time.Now().UnixNano(), attempt)
		file, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o444)
		switch {
		case err == nil:
			return file, nil
		case attempt == tempAttempts:
			return nil, err
		case errors.Is(err, fs.ErrNotExist):
			if err := makeFanOut(objects, dir); err != nil {
				return nil, err
			}
		case !errors.Is(err, fs.ErrExist):
			return nil, err
		}
	}
}

// tempAttempts is how often creating and writing a temporary file is attempted.
const tempAttempts = 10

// makeFanOut creates one of the 256 directories below objects. If the parent is writable for its
// group (core.sharedRepository), the directory gets the parent's permissions.
func makeFanOut(objects, dir string) error {
	err := os.Mkdir(dir, 0o777)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	const bits = os.ModePerm | os.ModeSetgid
	if info, err := os.Stat(objects); err == nil && info.Mode()&0o020 != 0 {
		return os.Chmod(dir, info.Mode()&bits)
	}
	return nil
}
