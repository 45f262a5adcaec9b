package transcript

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// maxLine is how many bytes of a line are buffered before it is passed on in pieces.
const maxLine = 1 << 20

// lookEvery is the longest time between two looks at a file without events, for systems that can't
// watch files.
const lookEvery = 2 * time.Second

// Read passes on the last lines of an agent's transcript without their line ends, or all lines if
// last is 0. With follow it continues with new lines, through rotation, until the context ends,
// which is not an error. An error from emit also ends it.
func Read(ctx context.Context, dir, agent string, last int, follow bool, emit func(line []byte) error) error {
	r := &reader{dir: dir, agent: agent, emit: emit}
	defer r.close()
	var changed <-chan fsnotify.Event
	var failed <-chan error
	if follow {
		if w, err := fsnotify.NewWatcher(); err == nil { // without a watcher it polls
			defer w.Close()
			if w.Add(filepath.Dir(Path(dir, agent))) == nil {
				changed, failed = w.Events, w.Errors
			}
		}
	}
	if err := r.begin(last); err != nil {
		return err
	}
	if !follow {
		return r.rest()
	}
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		if err := r.catchUp(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		case <-failed:
		case <-look.C:
		}
	}
}

// reader is a position in a transcript.
type reader struct {
	dir, agent string
	emit       func([]byte) error
	file       *os.File // nil until there is one
	after      string   // the newest rotated part not newer than file when that was opened
	pending    []byte   // the beginning of an unfinished line
}

func (r *reader) close() {
	if r.file != nil {
		r.file.Close()
	}
}

// begin seeks to the start of the last lines.
func (r *reader) begin(last int) error {
	files, err := parts(r.dir, r.agent)
	if err != nil || last == 0 {
		return err // catchUp begins with the oldest
	}
	for i, left := len(files)-1, last; i >= 0; i-- {
		f, err := os.Open(files[i])
		if errors.Is(err, fs.ErrNotExist) {
			return r.begin(last) // rotated just now
		}
		if err != nil {
			return err
		}
		r.close()
		r.file = f
		if r.after = ""; i > 0 {
			r.after = filepath.Base(files[i-1])
		}
		if files[i] != Path(r.dir, r.agent) {
			r.after = filepath.Base(files[i])
		}
		offset, lines, err := lastLines(f, left)
		if err != nil {
			return err
		}
		if _, err := f.Seek(offset, io.SeekStart); err != nil {
			return err
		}
		if left -= lines; left == 0 {
			return nil
		}
	}
	return nil
}

// lastLines returns where the last n lines of a file begin, and how many there are. An unfinished
// last line counts.
func lastLines(f *os.File, n int) (offset int64, lines int, err error) {
	end, err := f.Seek(0, io.SeekEnd)
	if err != nil || end == 0 {
		return 0, 0, err
	}
	block := make([]byte, 64<<10)
	ends := 0
	for at := end; at > 0; {
		size := min(at, int64(len(block)))
		at -= size
		if _, err := f.ReadAt(block[:size], at); err != nil {
			return 0, 0, err
		}
		for i := size - 1; i >= 0; i-- {
			if block[i] != '\n' || at+i == end-1 {
				continue
			}
			if ends++; ends == n {
				return at + i + 1, n, nil
			}
		}
	}
	return 0, ends + 1, nil
}

// catchUp passes on all complete lines written so far.
func (r *reader) catchUp() error {
	for {
		if err := r.drain(); err != nil {
			return err
		}
		next, err := r.next()
		if err != nil || next == nil {
			return err
		}
		f, err := os.Open(next.path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // rotated just now
		}
		if err != nil {
			return err
		}
		if info, err := f.Stat(); err != nil || !os.SameFile(info, next.info) {
			f.Close()
			continue
		}
		if err := r.drain(); err != nil { // the lines written before the rotation
			f.Close()
			return err
		}
		r.close()
		r.file, r.after = f, next.older
	}
}

// rest passes on the remaining lines, including an unfinished last line.
func (r *reader) rest() error {
	if err := r.catchUp(); err != nil || len(r.pending) == 0 {
		return err
	}
	return r.emit(r.pending)
}

// piece is a file of a transcript.
type piece struct {
	path  string
	info  fs.FileInfo
	older string // the newest rotated part that is not newer
}

// next is the file after the open one, nil if that is the last. Listing a directory during a rename
// may miss the renamed file, so it is listed until two results agree.
func (r *reader) next() (*piece, error) {
	for {
		one, err := r.successor()
		if err != nil {
			return nil, err
		}
		two, err := r.successor()
		if err != nil {
			return nil, err
		}
		if one == nil && two == nil || one != nil && two != nil && os.SameFile(one.info, two.info) {
			return two, nil
		}
	}
}

func (r *reader) successor() (*piece, error) {
	files, err := parts(r.dir, r.agent)
	if err != nil {
		return nil, err
	}
	var open fs.FileInfo
	if r.file != nil {
		if open, err = r.file.Stat(); err != nil {
			return nil, err
		}
	}
	var newer *piece // the first one with a newer name: it follows a file that was deleted
	older, found := "", false
	for _, path := range files {
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		name := filepath.Base(path)
		current := path == Path(r.dir, r.agent)
		if !current {
			older = name
		}
		p := &piece{path, info, older}
		if found {
			return p, nil
		}
		found = open != nil && os.SameFile(open, info)
		if newer == nil && (current || name > r.after) {
			newer = p
		}
	}
	if found {
		return nil, nil
	}
	return newer, nil
}

// drain reads the open file to its present end.
func (r *reader) drain() error {
	if r.file == nil {
		return nil
	}
	block := make([]byte, 64<<10)
	for {
		n, err := r.file.Read(block)
		if err := r.take(block[:n]); err != nil {
			return err
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (r *reader) take(data []byte) error {
	r.pending = append(r.pending, data...)
	for {
		i := bytes.IndexByte(r.pending, '\n')
		skip := 1
		if i < 0 {
			if len(r.pending) < maxLine {
				return nil
			}
			i, skip = maxLine, 0
		}
		if err := r.emit(r.pending[:i]); err != nil {
			return err
		}
		r.pending = r.pending[i+skip:]
	}
}
