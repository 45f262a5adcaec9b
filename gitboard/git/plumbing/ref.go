package plumbing

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Ref is a ref and the object it points to, not peeled.
type Ref struct {
	Name string // full name: "refs/heads/main"
	OID  OID
	Type ObjectType // "" for all refs of a listing if one leads to a missing object
}

// RefUpdate is one compare-and-swap of a ref.
type RefUpdate struct {
	Ref string // full name
	Old OID    // required current value; zero: the ref must not exist
	New OID    // new value; zero: delete; same as Old: only verify
}

// Where git keeps its own refs.
const (
	RefsPrefix      = "refs/"
	HeadsPrefix     = RefsPrefix + "heads/"
	TagsPrefix      = RefsPrefix + "tags/"
	RemotesPrefix   = RefsPrefix + "remotes/"
	BisectPrefix    = RefsPrefix + "bisect/"
	WorktreePrefix  = RefsPrefix + "worktree/"
	RewrittenPrefix = RefsPrefix + "rewritten/"
	PrefetchPrefix  = RefsPrefix + "prefetch/"
	ReplacePrefix   = RefsPrefix + "replace/" // git shows the object that such a ref points to in another's place
	StashRef        = RefsPrefix + "stash"
)

// The refs of a board. BoardPrefix and OwnPrefix are reserved for git-liza.
const (
	BoardRef    = HeadsPrefix + "liza/state" // the board; a branch, since every host shows branches
	BoardPrefix = HeadsPrefix + "liza/"
	// CandidatePrefix is where an integration test may push its candidate for a hosted CI to test.
	CandidatePrefix = BoardPrefix + "candidate/"
	// PublishedPrefix is where a remote keeps the branches of tasks. How they are called in a clone
	// is a setting of the board (board.TaskBranches).
	PublishedPrefix = BoardPrefix + "task/"
	OwnPrefix       = RefsPrefix + "liza/"
	LeasePrefix     = OwnPrefix + "leases/" // leases, by agent
	ReviewPrefix    = OwnPrefix + "review/" // submissions: <task>/<n>
	AtticPrefix     = OwnPrefix + "attic/"  // rescued work: <task>/<n>
	ForgedPrefix    = OwnPrefix + "forged/" // boards that did not follow, and were here: <commit>
	LostPrefix      = OwnPrefix + "lost/"   // boards that could not be read, and were here: <commit>
	ProbePrefix     = OwnPrefix + "probe/"  // created briefly at a remote to test what it accepts
	// InboxPrefix is where parcels of operations are pushed to a server that sequences them. They are
	// not kept as refs.
	InboxPrefix = OwnPrefix + "inbox/"
	// SequencerPrefix is where such a server advertises the formats of parcels that it knows.
	SequencerPrefix = OwnPrefix + "sequencer/"
	// AttestationsRef is a branch of signed statements about commits, which only grows.
	AttestationsRef = OwnPrefix + "attestations"
	// HomeRef exists in the repository that decides about the board, and points to a commit of it.
	// A clone or a fork gets the board's branch, but not this ref.
	HomeRef = OwnPrefix + "home"
	// LandedRef points to where the last landing known to this repository left integration, and keeps
	// that commit where the branch is set back and git prunes.
	LandedRef = OwnPrefix + "landed"
	// LastRef follows the board within a few operations, and only forward. It keeps the board's
	// history where BoardRef is deleted and git prunes. Each repository has its own.
	LastRef = OwnPrefix + "last"
)

// SymbolicMark begins the file of a symbolic ref.
const SymbolicMark = "ref: "

// Probe is the name below ProbePrefix of the branch that all probes move where only branches are
// accepted.
const Probe = "grows"

// ProbeBegan returns when a probe began, by the name of its ref below ProbePrefix, and false for
// another name.
func ProbeBegan(name string) (time.Time, bool) {
	text, _, named := strings.Cut(name, "-")
	began, err := strconv.ParseInt(text, 10, 64)
	return time.Unix(began, 0), named && err == nil
}

// AsBranch returns the name that a ref of the board has at a host that accepts only branches.
func AsBranch(ref string) string {
	if name, own := strings.CutPrefix(ref, OwnPrefix); own {
		return BoardPrefix + name
	}
	return ref
}

// FromBranch returns the ref of the board whose name at a host that accepts only branches is that
// of a branch, and any other name unchanged.
func FromBranch(branch string) string {
	for _, own := range []string{LeasePrefix, ReviewPrefix, ProbePrefix, HomeRef} {
		if rest, is := strings.CutPrefix(branch, AsBranch(own)); is && (rest == "" || own != HomeRef) {
			return own + rest
		}
	}
	return branch
}

// PublishedRef returns the branch of a task at a remote.
func PublishedRef(task string) string { return PublishedPrefix + task }

// MergeHolder is the name under which the one running merge of a board holds its lease.
const MergeHolder = "merge"

// ForgeHolder is the name under which the one poller of a board's pull requests holds its lease.
const ForgeHolder = "forge"

// IsHolder reports whether a lease of this name is a process's, and not an agent's.
func IsHolder(name string) bool { return name == MergeHolder || name == ForgeHolder }

// LeaseRef returns the ref of the lease of an agent, or of a holder that is none.
func LeaseRef(agent string) string { return LeasePrefix + agent }

// ReviewRef returns the ref of the nth submission of a task.
func ReviewRef(task string, n int) string { return ReviewPrefix + task + "/" + strconv.Itoa(n) }

// AtticRef returns the ref of the nth rescued work of a task.
func AtticRef(task string, n int) string { return AtticPrefix + task + "/" + strconv.Itoa(n) }

// ForgedRef returns the ref that keeps a board that was here and did not follow by replay, by its
// last commit.
func ForgedRef(tip OID) string { return ForgedPrefix + string(tip) }

// LostRef returns the ref that keeps what is left of a board that was here and could not be read,
// by its last commit.
func LostRef(tip OID) string { return LostPrefix + string(tip) }

// TrackingRef returns the ref in which this clone remembers what it last saw at a remote. what is
// "state", "integration", "task/<id>", "review/<task>/<n>", "carriers/<name>", or
// "sequencer/<format>".
func TrackingRef(remote, what string) string { return OwnPrefix + "remotes/" + remote + "/" + what }

// RemoteRef returns git's remote-tracking ref of a branch, which may be given by its full name.
func RemoteRef(remote, branch string) string {
	return RemotesPrefix + remote + "/" + BranchName(branch)
}

// BranchRef returns the full name of a branch, given by its full or short name.
func BranchRef(branch string) string { return HeadsPrefix + BranchName(branch) }

// BranchName returns the short name of a branch, given by its full or short name.
func BranchName(ref string) string { return strings.TrimPrefix(ref, HeadsPrefix) }

// CheckRefName returns an error if name is not a full ref name, or could be taken by git for an
// option, a revision or a pattern. Further rules of git-check-ref-format are left to git.
func CheckRefName(name string) error {
	if !strings.HasPrefix(name, RefsPrefix) || strings.Contains(name, "..") || strings.ContainsAny(name, " ~^:?*[\\\n\x00") {
		return fmt.Errorf("%q is not the full name of a ref", name)
	}
	return nil
}

// RequestRef is the ref at a host, of a kind of package forge, that holds the head of a pull request.
func RequestRef(kind string, number int) string {
	if kind == "gitlab" {
		return "refs/merge-requests/" + strconv.Itoa(number) + "/head"
	}
	return "refs/pull/" + strconv.Itoa(number) + "/head"
}
