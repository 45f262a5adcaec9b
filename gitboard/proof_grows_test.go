package gitboard

import (
	"fmt"
	"testing"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/testrepo"
)

// TestProofGrows: of two processes that prove at the same time, the slower one neither sets the
// proof back nor proves what the quicker one has proven.
func TestProofGrows(t *testing.T) {
	b, err := Open(t.Context(), testrepo.Bare(t).CommonDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	id := func(n int) plumbing.OID { return plumbing.OID(fmt.Sprintf("%040x", n)) }
	known := proof{id(1), id(2), id(2)}
	var chain []plumbing.OID // newest first, and none of its commits is there to be replayed
	for n := range replayLook {
		chain = append(chain, id(100-n))
	}
	mine := proof{id(1), chain[0], chain[0]}
	for _, c := range []struct {
		name  string
		now   proof // when this process has replayed the chain
		want  proof
		known bool // the replay counts on it
	}{
		{"nobody else", known, mine, false},
		{"another to the same", mine, mine, true},
		{"another halfway", proof{id(1), chain[9], chain[9]}, mine, false},
		{"another further", proof{id(1), id(101), id(101)}, proof{id(1), id(101), id(101)}, false},
		{"on trust in another", proof{id(3), chain[0], chain[0]}, mine, false},
	} {
		b.keepProof(c.now)
		if err := b.replay(t.Context(), chain, known); (err == nil) != c.known {
			t.Errorf("%s: the replay: %v", c.name, err)
		}
		b.extendProof(known, chain, mine)
		if got := b.keptProof(); got != c.want {
			t.Errorf("%s: %v, not %v", c.name, got, c.want)
		}
	}
	// From halfway on, only what is left is replayed.
	b.keepProof(proof{id(1), chain[9], chain[9]})
	if err := b.replay(t.Context(), chain, known); err == nil || err.Error() != b.reader.Replays(t.Context(), chain[8]).Error() {
		t.Errorf("after what another has proven: %v", err)
	}
}
