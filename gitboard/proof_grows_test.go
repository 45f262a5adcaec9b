package gitboard

import (
	"fmt"
	"testing"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/testrepo"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestProofGrows: of two processes that prove at the same time, the slower one does not set the proof
// back.
func TestProofGrows(t *testing.T) {
	b := testrun.Must(Open(t.Context(), testrepo.Bare(t).CommonDir(), Options{}))(t)
	defer b.Close()
	id := func(n int) plumbing.OID { return plumbing.OID(fmt.Sprintf("%040x", n)) }
	known := proof{id(1), id(2), id(2)}
	var chain []plumbing.OID // newest first
	for n := range 10 {
		chain = append(chain, id(100-n))
	}
	mine := proof{id(1), chain[0], chain[0]}
	for _, c := range []struct {
		name string
		now  proof // when this process has replayed the chain
		want proof
	}{
		{"nobody else", known, mine},
		{"another to the same", mine, mine},
		{"another halfway", proof{id(1), chain[9], chain[9]}, mine},
		{"another further", proof{id(1), id(101), id(101)}, proof{id(1), id(101), id(101)}},
		{"on trust in another", proof{id(3), chain[0], chain[0]}, mine},
	} {
		b.keepProof(c.now)
		b.extendProof(known, chain, mine)
		if got := b.keptProof(); got != c.want {
			t.Errorf("%s: %v, not %v", c.name, got, c.want)
		}
	}
}
