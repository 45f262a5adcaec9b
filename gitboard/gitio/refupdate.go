package gitio

import (
	"fmt"
	"strings"
)

// RefUpdate is one compare-and-swap.
type RefUpdate struct {
	Ref string // in full
	Old OID    // the value it must have; zero: it must not exist
	New OID    // the value it gets; zero: delete it; Old again: only verify
}

// transaction writes the updates in the format of git-update-ref, -z.
func transaction(updates []RefUpdate) ([]byte, error) {
	var b strings.Builder
	for _, u := range updates {
		old, to := u.Old.orZero(), u.New.orZero()
		if err := checkRefName(u.Ref); err != nil {
			return nil, err
		}
		if !old.valid() || !to.valid() {
			return nil, fmt.Errorf("update %s: %q and %q must be full object ids", u.Ref, u.Old, u.New)
		}
		switch {
		case old == to:
			fmt.Fprintf(&b, "verify %s\x00%s\x00", u.Ref, old)
		case to == ZeroOID:
			fmt.Fprintf(&b, "delete %s\x00%s\x00", u.Ref, old)
		default:
			fmt.Fprintf(&b, "update %s\x00%s\x00%s\x00", u.Ref, to, old)
		}
	}
	return []byte(b.String()), nil
}
