package main

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// floor is F of specs/performance.md: what no program of this design can do without, one thing
// after the other. A cold Go process that does nothing, git rev-parse, git cat-file --batch that
// reads the board's tip, writing and flushing objects of the same sizes, and git update-ref --stdin
// with the ref flushed.
type floor struct {
	s       *site
	objects [][]byte
	flip    bool
}

// floorOf measures what one run of an operation writes, and makes the floor that writes the same.
func (s *site) floorOf(operation arm) (*floor, error) {
	was, err := s.looseObjects()
	if err != nil {
		return nil, err
	}
	if _, err := operation.run(); err != nil {
		return nil, err
	}
	now, err := s.looseObjects()
	if err != nil {
		return nil, err
	}
	f := &floor{s: s}
	for oid := range now {
		if was[oid] {
			continue
		}
		data, err := pipe(s.l.command(s.dir, "git", "cat-file", "--batch"), oid+"\n")
		if err != nil {
			return nil, err
		}
		_, data, _ = bytes.Cut(data, []byte("\n"))
		f.objects = append(f.objects, data)
	}
	if len(f.objects) == 0 {
		return nil, errors.New("the operation wrote no objects")
	}
	if operation.tidy != nil {
		return f, operation.tidy()
	}
	return f, nil
}

func (s *site) looseObjects() (map[string]bool, error) {
	found, err := filepath.Glob(filepath.Join(s.dir, ".git", "objects", "??", "*"))
	ids := map[string]bool{}
	for _, path := range found {
		ids[filepath.Base(filepath.Dir(path))+filepath.Base(path)] = true
	}
	return ids, err
}

// arm is the floor as an arm.
func (f *floor) arm() arm { return arm{name: "F", run: f.run} }

const floorRef = "refs/bench/floor"

func (f *floor) run() (time.Duration, error) {
	s := f.s
	start := time.Now()
	if err := s.l.command(s.dir, s.l.noop).Run(); err != nil {
		return 0, err
	}
	if _, err := s.git("rev-parse", "--path-format=absolute", "--git-common-dir", "--show-toplevel"); err != nil {
		return 0, err
	}
	tip := plumbing.BoardRef
	if _, err := pipe(s.l.command(s.dir, "git", "cat-file", "--batch"), tip+"\n"+tip+"^{tree}\n"+tip+":board.yaml\n"+tip+":config.yaml\n"); err != nil {
		return 0, err
	}
	objects := filepath.Join(s.dir, ".git", "objects")
	for _, data := range f.objects {
		if err := writeLoose(objects, append(bytes.Clone(data), fmt.Sprintf("\n%d", s.l.next())...)); err != nil {
			return 0, err
		}
	}
	to := s.bases[0]
	if f.flip = !f.flip; f.flip {
		to = s.bases[1]
	}
	if _, err := pipe(s.l.command(s.dir, "git", "-c", "core.fsync=reference", "update-ref", "--stdin"), "update "+floorRef+" "+to+"\n"); err != nil {
		return 0, err
	}
	return time.Since(start), nil
}

// writeLoose writes a blob as git does, flushed.
func writeLoose(objects string, data []byte) error {
	var b bytes.Buffer
	full := append(fmt.Appendf(nil, "blob %d\x00", len(data)), data...)
	sum := sha1.Sum(full)
	name := hex.EncodeToString(sum[:])
	z, err := zlib.NewWriterLevel(&b, zlib.BestSpeed)
	if err != nil {
		return err
	}
	z.Write(full) // into memory
	z.Close()
	dir := filepath.Join(objects, name[:2])
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	file, err := os.CreateTemp(dir, "tmp_obj_")
	if err != nil {
		return err
	}
	_, err = file.Write(b.Bytes())
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), filepath.Join(dir, name[2:]))
}

func pipe(cmd *exec.Cmd, in string) ([]byte, error) {
	cmd.Stdin = strings.NewReader(in)
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w%s", strings.Join(cmd.Args, " "), err, stderr(err))
	}
	return out, nil
}

// stderr is the error output of a failed child.
func stderr(err error) string {
	var exit *exec.ExitError
	if errors.As(err, &exit) && len(exit.Stderr) > 0 {
		return ": " + strings.TrimSpace(string(exit.Stderr))
	}
	return ""
}
