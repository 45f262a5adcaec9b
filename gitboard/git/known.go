package git

import (
	"sync"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// known holds the small objects that this process has read lately. An id stands for one content for
// ever, so asking git again would only cost another exchange with it.
type known struct {
	mu      sync.Mutex
	objects map[plumbing.OID]plumbing.Object
	bytes   int
}

// An object of more than knownBytes is not remembered, nor those of a request for more than
// knownMany. Beyond knownMost bytes all are forgotten.
const (
	knownBytes = 64 << 10
	knownMany  = 32
	knownMost  = 8 << 20
)

func (k *known) get(oid plumbing.OID) (o plumbing.Object, is bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	o, is = k.objects[oid]
	return o, is
}

func (k *known) has(oid plumbing.OID) bool {
	_, is := k.get(oid)
	return is
}

func (k *known) add(objects []plumbing.Object) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, o := range objects {
		if o.OID == "" || len(o.Data) > knownBytes {
			continue
		}
		if k.objects == nil || k.bytes > knownMost {
			k.objects, k.bytes = map[plumbing.OID]plumbing.Object{}, 0
		}
		k.objects[o.OID] = o
		k.bytes += len(o.Data)
	}
}
