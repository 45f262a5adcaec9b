package log

import (
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// Archived implements board.Source.
func (s *source) Archived(id string) (string, board.Brief, error) {
	a, err := s.findArchived(id)
	if err != nil || a.path == "" || a.known {
		return a.path, a.brief, err
	}
	r, err := s.Record(a.path)
	if err != nil {
		return "", board.Brief{}, err
	}
	a.brief, a.known = r.(*board.Task).Brief(), true
	s.old[id] = a
	return a.path, a.brief, nil
}

// findArchived looks for a task in the archive of each sprint. It lists their directories and reads
// no task.
func (s *source) findArchived(id string) (archived, error) {
	if a, asked := s.old[id]; asked {
		return a, nil
	}
	sprints, err := s.tree.dir(board.ArchiveDir)
	if err != nil {
		return archived{}, s.fail(board.ArchiveDir, err)
	}
	a := archived{}
	for _, sprint := range sprints {
		path := board.ArchivePath(sprint.Name, id)
		if !board.IsDir(board.ArchiveDir + "/" + sprint.Name) {
			continue
		}
		entries, err := s.tree.dir(board.ArchiveDir + "/" + sprint.Name)
		if err != nil {
			return archived{}, s.fail(board.ArchiveDir+"/"+sprint.Name, err)
		}
		if i, ok := find(entries, id+".yaml"); ok {
			a.path, a.entry = path, entries[i]
			break
		}
	}
	s.old[id] = a
	return a, nil
}

// neededFromArchive finds the archived tasks that others depend on and returns their entries. Tasks
// whose briefs are not known are read together into fresh, rather than one by one later.
func (s *source) neededFromArchive(tasks map[string]board.Brief, known, fresh map[plumbing.OID]cached) ([]plumbing.TreeEntry, error) {
	var needed, missing []plumbing.TreeEntry
	var paths []string
	for _, b := range tasks {
		if b.Status.Terminal() {
			continue
		}
		for _, id := range b.DependsOn {
			_, live := tasks[id]
			_, asked := s.old[id]
			if live || asked || !board.ValidTaskID(id) {
				continue
			}
			a, err := s.findArchived(id)
			if err != nil {
				return nil, err
			}
			if a.path == "" || a.entry.Mode != filemode.Regular {
				continue
			}
			needed = append(needed, a.entry)
			if c, ok := known[a.entry.OID]; ok && c.ID == id {
				a.brief, a.known = c.Brief, true
				s.old[id] = a
			} else {
				missing, paths = append(missing, a.entry), append(paths, a.path)
			}
		}
	}
	return needed, s.readBriefs(missing, paths, fresh, func(i int, b board.Brief) {
		s.old[b.ID] = archived{paths[i], missing[i], b, true}
	})
}
