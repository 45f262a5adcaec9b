package git

import (
	"fmt"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// transaction formats the updates for git-update-ref -z.
func transaction(updates []plumbing.RefUpdate) ([]byte, error) {
	var b strings.Builder
	for _, u := range updates {
		old, to := u.Old.OrZero(), u.New.OrZero()
		if err := plumbing.CheckRefName(u.Ref); err != nil {
			return nil, err
		}
		if !old.Valid() || !to.Valid() {
			return nil, fmt.Errorf("update %s: %q and %q must be full object ids", u.Ref, u.Old, u.New)
		}
		switch {
		case old == to:
			fmt.Fprintf(&b, "verify %s\x00%s\x00", u.Ref, old)
		case to == plumbing.ZeroOID:
			fmt.Fprintf(&b, "delete %s\x00%s\x00", u.Ref, old)
		default:
			fmt.Fprintf(&b, "update %s\x00%s\x00%s\x00", u.Ref, to, old)
		}
	}
	return []byte(b.String()), nil
}
