package log

import (
	"sync"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// maxDecoded bounds how many decoded records are kept.
const maxDecoded = 2048

// decoded keeps records as they were last decoded, since one process looks at several commits of a
// board, and most records are the same there. Records that were read are never changed (board.edit).
type decoded struct {
	mu sync.Mutex
	of map[string]decodedRecord // by path
}

type decodedRecord struct {
	oid    plumbing.OID
	record any
}

// get returns the record in the file at a path that has this content, nil if it is not kept.
func (k *decoded) get(path string, oid plumbing.OID) any {
	k.mu.Lock()
	defer k.mu.Unlock()
	if kept := k.of[path]; kept.oid == oid {
		return kept.record
	}
	return nil
}

func (k *decoded) put(path string, oid plumbing.OID, record any) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.of == nil || len(k.of) >= maxDecoded {
		k.of = map[string]decodedRecord{}
	}
	k.of[path] = decodedRecord{oid, record}
}
