package loose

import (
	"bufio"
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
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/git-liza/git-liza/gitboard/git/disk"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// refresh gives a loose object a new modification time and reports whether that worked. It fails
// for an object that is missing, damaged (a machine crash leaves empty files) or owned by another
// user; the caller then writes it again.
func refresh(path string, object plumbing.Object) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || !Intact(path, object) {
		return false
	}
	now := time.Now()
	return os.Chtimes(path, now, now) == nil
}

// writeFile writes an object below the object directory dir: to a temporary file next to its
// place, which is flushed and then renamed. The temporary file has a name that `git gc` cleans up
// after a crash. `git prune --expire=now` deletes it even while it is being written; then
// writeFile retries.
func writeFile(dir, path string, object plumbing.Object) error {
	for attempt := 1; ; attempt++ {
		err := writeOnce(path, object)
		if attempt == writeAttempts || !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		// If `git gc` has removed the empty directory, it is created again.
		if err := makeFanOut(dir, filepath.Dir(path)); err != nil {
			return err
		}
	}
}

// writeAttempts is how often writing an object is attempted.
const writeAttempts = 10

// writeOnce gives the temporary file the mode 0444 less the umask, as git does, because it is never
// written again.
func writeOnce(path string, object plumbing.Object) error {
	temp := filepath.Join(filepath.Dir(path), fmt.Sprintf("tmp_obj_%d_%d_%d", os.Getpid(), time.Now().UnixNano(), temporaries.Add(1)))
	file, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o444)
	if err != nil {
		return err
	}
	err = errors.Join(deflate(file, object), file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		os.Remove(temp)
		if Intact(path, object) {
			return nil // some systems do not rename over a read-only file
		}
	}
	return err
}

// temporaries counts the temporary files of this process.
var temporaries atomic.Int64

// deflate writes the object with git's header, compressed at the fastest level, which is git's
// default for loose objects. An object that fits into one disk block uncompressed is stored as it
// is, since compression would save no space.
func deflate(file *os.File, object plumbing.Object) error {
	header := fmt.Sprintf("%s %d\x00", object.Type, len(object.Data))
	if len(header)+len(object.Data) <= oneBlock {
		_, err := file.Write(stored(header, object.Data))
		return err
	}
	var b bytes.Buffer
	w, _ := zlib.NewWriterLevel(&b, zlib.BestSpeed) // the level is valid, and writing to memory can't fail
	io.WriteString(w, header)
	w.Write(object.Data)
	w.Close()
	_, err := file.Write(b.Bytes())
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

// Path is the path of an object while it is not in a pack.
func Path(dir string, oid plumbing.OID) string {
	return filepath.Join(dir, string(oid[:2]), string(oid[2:]))
}

// Has reports whether an object has a non-empty loose file.
func Has(dir string, o plumbing.Object) bool {
	info, err := os.Lstat(Path(dir, o.OID))
	return err == nil && info.Size() > 0
}

// Intact reports whether the file at path holds the object o, uncorrupted.
func Intact(path string, o plumbing.Object) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	z, err := zlib.NewReader(file)
	if err != nil {
		return false
	}
	header := fmt.Sprintf("%s %d\x00", o.Type, len(o.Data))
	data, err := io.ReadAll(io.LimitReader(z, int64(len(header)+len(o.Data)+1)))
	return err == nil && string(data) == header+string(o.Data)
}

// Read reads the file of a loose object of at most so many bytes. It leaves OID empty.
func Read(path string, most int64) (o plumbing.Object, is bool) {
	file, err := os.Open(path)
	if err != nil {
		return o, false
	}
	defer file.Close()
	z, err := zlib.NewReader(file)
	if err != nil {
		return o, false
	}
	content := bufio.NewReader(io.LimitReader(z, most+headSize))
	header, err := content.ReadString(0)
	kind, count, _ := strings.Cut(strings.TrimSuffix(header, "\x00"), " ")
	size, wrong := strconv.ParseInt(count, 10, 64)
	if err != nil || wrong != nil || size < 0 || size > most {
		return o, false
	}
	o = plumbing.Object{Type: plumbing.ObjectType(kind), Data: make([]byte, size)}
	_, err = io.ReadFull(content, o.Data)
	return o, err == nil
}

// headSize is more than the header of any object.
const headSize = 32

// Write writes one object. Ids and names make up a tree, so nobody can craft a collision in
// one; any other object is searched for signs of it, as git does with fetched objects.
func Write(dir string, object plumbing.Object) error {
	got := plumbing.PlainHash(object.Type, object.Data)
	if object.Type != plumbing.TreeObject {
		got = plumbing.NewObject(object.Type, object.Data).OID
	}
	if got != object.OID {
		return fmt.Errorf("write object: it is named %q, and its content makes it %s", object.OID, got)
	}
	path := Path(dir, object.OID)
	if refresh(path, object) {
		return nil
	}
	return disk.NewStorageError(dir, writeFile(dir, path, object))
}
