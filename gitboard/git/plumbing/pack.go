package plumbing

import (
	"bytes"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/storage/memory"
)

// EncodePack returns objects as a pack (gitformat-pack), without deltas. An object that is named
// twice is in it once. It returns an error for an object whose content has another id.
func EncodePack(objects []Object) ([]byte, error) {
	all := memory.NewStorage()
	var ids []plumbing.Hash
	for _, o := range objects {
		m := o.memory()
		id := m.Hash()
		if id != o.OID.hash() {
			return nil, fmt.Errorf("pack: an object is named %q, and its content makes it %s", o.OID, id)
		}
		if all.HasEncodedObject(id) == nil {
			continue
		}
		if _, err := all.SetEncodedObject(m); err != nil {
			return nil, fmt.Errorf("pack: object %s: %w", o.OID, err)
		}
		ids = append(ids, id)
	}
	var pack bytes.Buffer
	_, err := packfile.NewEncoder(&pack, all, false).Encode(ids, 0)
	return pack.Bytes(), err
}
