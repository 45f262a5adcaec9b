package log

import (
	"strings"
	"sync"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// singles keeps the records of which a board has one each (settings, team, mode) as they were last
// decoded, since one process looks at several commits of a board, and they change seldom.
type singles struct {
	mu sync.Mutex
	of map[string]single // by path
}

type single struct {
	oid    plumbing.OID
	record any
}

// get returns the record in the file at a path that has this content, nil if it is not kept.
func (k *singles) get(path string, oid plumbing.OID) any {
	k.mu.Lock()
	defer k.mu.Unlock()
	if kept := k.of[path]; kept.oid == oid {
		return kept.record
	}
	return nil
}

func (k *singles) put(path string, oid plumbing.OID, record any) {
	if strings.Contains(path, "/") {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.of == nil {
		k.of = map[string]single{}
	}
	k.of[path] = single{oid, record}
}
