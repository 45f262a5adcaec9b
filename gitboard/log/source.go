package log

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log/codec"
)

// source reads a snapshot's records from a store.
type source struct {
	ctx    context.Context
	log    *Reader
	commit plumbing.OID
	tree   *Tree
	read   map[string]any
	raw    map[string][]byte // prefetched, by path
	ahead  map[string]int    // how many more to prefetch with the next record of a family
	ids    map[string][]string
	briefs map[string]board.Brief
	old    map[string]archived // archived tasks that were looked up, by id
}

// archived is the result of looking for a task in the archive; path is "" if it is missing.
type archived struct {
	path  string
	entry plumbing.TreeEntry
	brief board.Brief
	known bool // brief is set
}

// fail returns a RecordError for damage of the board, as opposed to a failure to read it.
func (s *source) fail(path string, err error) error {
	var bad *codec.Error
	var form formError
	var known *RecordError
	switch {
	case errors.As(err, &known):
		return err
	case errors.As(err, &bad):
		return &RecordError{s.commit, path, bad.Err}
	case errors.Is(err, git.ErrNotFound), errors.As(err, &form):
		return &RecordError{s.commit, path, err}
	}
	return fmt.Errorf("read %s: %w", path, err)
}

// Record implements board.Source.
func (s *source) Record(path string) (any, error) {
	if r, ok := s.read[path]; ok {
		return r, nil
	}
	oid, err := s.tree.blob(path)
	if err != nil {
		return nil, s.fail(path, err)
	}
	if oid.IsZero() {
		if !strings.Contains(path, "/") && path != board.TeamPath {
			return nil, &RecordError{s.commit, path, errMissing}
		}
		s.read[path] = nil
		return nil, nil
	}
	if r := s.log.decoded.get(path, oid); r != nil {
		s.read[path] = r
		return r, nil
	}
	data, ahead := s.raw[path]
	if !ahead {
		if data, err = s.fetch(path, oid); err != nil {
			return nil, s.fail(path, err)
		}
	}
	delete(s.raw, path)
	r, err := s.decode(path, data)
	if err == nil {
		s.log.decoded.put(path, oid, r)
	}
	return r, err
}

// maxAhead limits how many records are prefetched.
const maxAhead = 512

// tasksAlone is how many tasks are read before more of them are prefetched: a command reads one and
// those it depends on; for the others there are briefs.
const tasksAlone = 16

// fetch reads the file of a record. Each call prefetches more records of the same directory, for
// callers that read a family one by one.
func (s *source) fetch(path string, oid plumbing.OID) ([]byte, error) {
	names, paths := []string{string(oid)}, []string{path}
	if family, _, nested := strings.Cut(path, "/"); nested && family != board.ArchiveDir {
		slash := strings.LastIndexByte(path, '/') + 1
		dir, file := path[:slash], path[slash:]
		entries, err := s.tree.dir(path[:slash-1])
		if err != nil {
			return nil, err
		}
		at, _ := find(entries, file)
		for i := 1; i < len(entries) && len(names) <= s.ahead[family]; i++ {
			e := entries[(at+i)%len(entries)]
			other := dir + e.Name
			_, read := s.read[other]
			_, fetched := s.raw[other]
			if !read && !fetched && e.Mode == filemode.Regular {
				names, paths = append(names, string(e.OID)), append(paths, other)
			}
		}
		if n := s.ahead[family]; n < 0 {
			s.ahead[family] = n + 1
		} else {
			s.ahead[family] = min(maxAhead, 2*n+1)
		}
	}
	objects, err := s.log.store.Objects(s.ctx, names)
	if err != nil {
		return nil, err
	}
	if objects[0].OID == "" {
		return nil, fmt.Errorf("object %s: %w", oid, git.ErrNotFound)
	}
	for i, o := range objects[1:] {
		if o.OID != "" {
			s.raw[paths[i+1]] = o.Data
		}
	}
	return objects[0].Data, nil
}

func (s *source) decode(path string, data []byte) (any, error) {
	r, err := codec.Decode(path, data)
	if err != nil {
		return nil, s.fail(path, err)
	}
	if t, ok := r.(*board.Task); ok && !board.Holds(path, t) {
		return nil, s.fail(path, formError{fmt.Errorf("holds the task %q", t.ID)})
	}
	s.read[path] = r
	return r, nil
}

// IDs implements board.Source.
func (s *source) IDs(dir string) ([]string, error) {
	if ids, listed := s.ids[dir]; listed {
		return ids, nil
	}
	ids, err := s.idsBelow(dir)
	if err != nil {
		return nil, s.fail(dir, err)
	}
	slices.SortFunc(ids, func(a, b string) int { return board.CompareIDs(dir, a, b) })
	s.ids[dir] = ids
	return ids, nil
}

// idsBelow returns the ids of the records at or below a path, unordered.
func (s *source) idsBelow(path string) (ids []string, err error) {
	ids, dirs, err := s.list(path)
	for _, dir := range dirs {
		below, err := s.idsBelow(path + "/" + dir)
		if err != nil {
			return nil, err
		}
		ids = append(ids, below...)
	}
	return ids, err
}

// list returns the ids of the records in a directory, and the subdirectories that hold more of
// them.
func (s *source) list(path string) (ids, dirs []string, err error) {
	entries, err := s.tree.dir(path)
	for _, e := range entries {
		at := path + "/" + e.Name
		if e.Mode == filemode.Dir && board.IsDir(at) {
			dirs = append(dirs, e.Name)
		} else if _, id, ok := board.SplitPath(at); ok {
			ids = append(ids, id)
		}
	}
	return ids, dirs, err
}

// LastID implements board.Source. It reads only the last subdirectory on each level, unless that
// holds no record.
func (s *source) LastID(dir string) (string, error) {
	id, err := s.lastBelow(dir, dir)
	if err != nil {
		return "", s.fail(dir, err)
	}
	return id, nil
}

func (s *source) lastBelow(family, path string) (string, error) {
	ids, dirs, err := s.list(path)
	if err != nil {
		return "", err
	}
	if len(ids) > 0 {
		return slices.MaxFunc(ids, func(a, b string) int { return board.CompareIDs(family, a, b) }), nil
	}
	slices.SortFunc(dirs, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(b, a)) }) // they are numbers
	for _, dir := range dirs {
		if id, err := s.lastBelow(family, path+"/"+dir); id != "" || err != nil {
			return id, err
		}
	}
	return "", nil
}

// Briefs implements board.Source. Briefs are cached by blob id across processes.
func (s *source) Briefs() (map[string]board.Brief, error) {
	if s.briefs != nil {
		return s.briefs, nil
	}
	entries, err := s.tree.dir(board.TaskDir)
	if err != nil {
		return nil, s.fail(board.TaskDir, err)
	}
	known, fresh := s.log.cache.load(), map[plumbing.OID]cached{}
	all := make(map[string]board.Brief, len(entries))
	var missing []plumbing.TreeEntry
	var paths []string
	for _, e := range entries {
		if b, ok := known[e.OID]; ok && e.Mode == filemode.Regular && b.ID+".yaml" == e.Name {
			all[b.ID] = b.Brief
			continue
		}
		if e.Mode != filemode.Regular {
			return nil, s.fail(board.TaskDir+"/"+e.Name, errMode)
		}
		missing, paths = append(missing, e), append(paths, board.TaskDir+"/"+e.Name)
	}
	if err := s.readBriefs(missing, paths, fresh, func(_ int, b board.Brief) { all[b.ID] = b }); err != nil {
		return nil, err
	}
	needed, err := s.neededFromArchive(all, known, fresh)
	if err != nil {
		return nil, err
	}
	s.log.cache.save(append(slices.Clip(entries), needed...), known, fresh)
	s.briefs = all
	return all, nil
}

// readBriefs reads tasks by their entries and paths, passes each brief to visit, and adds it to
// fresh.
func (s *source) readBriefs(entries []plumbing.TreeEntry, paths []string, fresh map[plumbing.OID]cached, visit func(i int, b board.Brief)) error {
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = string(e.OID)
	}
	objects, err := s.log.store.Objects(s.ctx, names)
	if err != nil {
		return s.fail(board.TaskDir, err)
	}
	for i, o := range objects {
		if o.OID == "" {
			return s.fail(paths[i], git.ErrNotFound)
		}
		r, err := s.decode(paths[i], o.Data)
		if err != nil {
			return err
		}
		b := r.(*board.Task).Brief()
		again, err := codec.Encode(r)
		fresh[entries[i].OID] = cached{b, err == nil && bytes.Equal(again, o.Data)}
		visit(i, b)
	}
	return nil
}
