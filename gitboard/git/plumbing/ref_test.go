package plumbing

import "testing"

// The names are part of the board's format: clones of every version and hooks on servers know them.
func TestRefNames(t *testing.T) {
	for got, want := range map[string]string{
		BoardRef:                           "refs/heads/liza/state",
		BoardPrefix:                        "refs/heads/liza/",
		OwnPrefix:                          "refs/liza/",
		LeaseRef("coder-1"):                "refs/liza/leases/coder-1",
		ReviewRef("add-auth", 2):           "refs/liza/review/add-auth/2",
		AtticRef("add-auth", 10):           "refs/liza/attic/add-auth/10",
		TrackingRef("origin", "state"):     "refs/liza/remotes/origin/state",
		RemoteRef("origin", BoardRef):      "refs/remotes/origin/liza/state",
		RemoteRef("origin", "integration"): "refs/remotes/origin/integration",
		BranchRef("integration"):           "refs/heads/integration",
		BranchRef(BoardRef):                BoardRef,
		BranchName(BoardRef):               "liza/state",
		BranchName("liza/state"):           "liza/state",
		AsBranch(LeaseRef("coder-1")):      "refs/heads/liza/leases/coder-1",
		AsBranch(HomeRef):                  "refs/heads/liza/home",
		AsBranch(BoardRef):                 BoardRef,
	} {
		if got != want {
			t.Errorf("%s, not %s", got, want)
		}
		if err := CheckRefName(BranchRef(got)); err != nil {
			t.Error(err)
		}
	}
	for _, own := range []string{LeaseRef("coder-1"), ReviewRef("add-auth", 2), ProbePrefix + "1-x", HomeRef} {
		if got := FromBranch(AsBranch(own)); got != own {
			t.Errorf("%s comes back as %s", own, got)
		}
	}
	for _, other := range []string{BoardRef, PublishedRef("home"), AsBranch(HomeRef) + "less", "refs/heads/liza/notes"} {
		if got := FromBranch(other); got != other {
			t.Errorf("%s comes back as %s", other, got)
		}
	}
	for _, bad := range []string{"", "main", "refs/heads/a b", "refs/heads/a..b", "-refs/heads/x", "refs/heads/*", "refs/heads/a\nb"} {
		if CheckRefName(bad) == nil {
			t.Errorf("%q passes as the full name of a ref", bad)
		}
	}
}
