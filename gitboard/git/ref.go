package git

import (
	"fmt"
	"strconv"
	"strings"
)

// Ref is a ref and the object it points to, not peeled.
type Ref struct {
	Name string // in full: "refs/heads/main"
	OID  OID
	Type ObjectType // of that object; "" where one that was asked for leads to a missing object
}

// RefUpdate is one compare-and-swap.
type RefUpdate struct {
	Ref string // in full
	Old OID    // the value it must have; zero: it must not exist
	New OID    // the value it gets; zero: delete it; Old again: only verify
}

// Where git keeps its own kinds of refs.
const (
	RefsPrefix      = "refs/"
	HeadsPrefix     = RefsPrefix + "heads/"
	TagsPrefix      = RefsPrefix + "tags/"
	RemotesPrefix   = RefsPrefix + "remotes/"
	BisectPrefix    = RefsPrefix + "bisect/"
	WorktreePrefix  = RefsPrefix + "worktree/"
	RewrittenPrefix = RefsPrefix + "rewritten/"
	PrefetchPrefix  = RefsPrefix + "prefetch/"
	StashRef        = RefsPrefix + "stash"
)

// The refs of a board. BoardPrefix and OwnPrefix are reserved: nobody else may use them.
const (
	BoardRef    = HeadsPrefix + "liza/state" // the board itself: every host shows a branch
	BoardPrefix = HeadsPrefix + "liza/"
	// CandidatePrefix is where an integration test may push its candidate, for a hosted CI to test it.
	CandidatePrefix = BoardPrefix + "candidate/"
	TaskPrefix      = HeadsPrefix + "task/" // a task's branch, by the task's id
	// PublishedPrefix is where a remote has the branches of tasks: `task/` there is everybody's own.
	PublishedPrefix = BoardPrefix + "task/"
	OwnPrefix       = RefsPrefix + "liza/"
	LeasePrefix     = OwnPrefix + "leases/" // a lease, by its agent
	ReviewPrefix    = OwnPrefix + "review/" // what was submitted: <task>/<n>
	AtticPrefix     = OwnPrefix + "attic/"  // what was put aside: <task>/<n>
	ProbePrefix     = OwnPrefix + "probe/"  // made and removed at a remote to see what it accepts
	// HomeRef is in the repository whose refs are the judge of the board, and leads to a commit of it: a clone or a fork
	// gets the board's branch, and not this.
	HomeRef = OwnPrefix + "home"
)

// TaskRef is the branch of a task.
func TaskRef(task string) string { return TaskPrefix + task }

// PublishedRef is the branch of a task at a remote.
func PublishedRef(task string) string { return PublishedPrefix + task }

// LeaseRef is the ref of an agent's lease.
func LeaseRef(agent string) string { return LeasePrefix + agent }

// ReviewRef holds the n-th submission of a task.
func ReviewRef(task string, n int) string { return ReviewPrefix + task + "/" + strconv.Itoa(n) }

// AtticRef holds the n-th work of a task that was put aside.
func AtticRef(task string, n int) string { return AtticPrefix + task + "/" + strconv.Itoa(n) }

// TrackingRef is where this clone keeps what it has last seen of something at a remote: "state",
// "integration", or "task/<id>".
func TrackingRef(remote, what string) string { return OwnPrefix + "remotes/" + remote + "/" + what }

// PendingRef holds what this clone has decided and a remote has not taken yet.
func PendingRef(remote string) string { return OwnPrefix + "pending/" + remote }

// RemoteRef is where git keeps what it has last seen of a remote's branch, given by its full name.
func RemoteRef(remote, branch string) string {
	return RemotesPrefix + remote + "/" + BranchName(branch)
}

// BranchRef returns the full name of a branch, which may be given either way.
func BranchRef(branch string) string { return HeadsPrefix + BranchName(branch) }

// BranchName returns the short name of a branch, which may be given either way.
func BranchName(ref string) string { return strings.TrimPrefix(ref, HeadsPrefix) }

// CheckRefName refuses what is not a full ref name, before git reads an option,
// a revision or a pattern into it. What git-check-ref-format adds to these
// rules is left to git.
func CheckRefName(name string) error {
	if !strings.HasPrefix(name, RefsPrefix) || strings.Contains(name, "..") || strings.ContainsAny(name, " ~^:?*[\\\n\x00") {
		return fmt.Errorf("%q is not the full name of a ref", name)
	}
	return nil
}
