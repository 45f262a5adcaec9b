package receipt

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// Failure is one reason why a range does not pass.
type Failure struct {
	Code   board.ErrorCode `json:"code"`
	Commit plumbing.OID    `json:"commit,omitempty"`
	Task   string          `json:"task,omitempty"`
	Text   string          `json:"text"`
	Hint   string          `json:"hint,omitempty"`
}

// The codes of failures, in the order of the checks.
const (
	CodeShallow    board.ErrorCode = "shallow"       // the clone's history is cut off
	CodeMissing    board.ErrorCode = "missing"       // a commit or a ref is not in this clone
	CodePolicy     board.ErrorCode = "policy"        // it can't be used
	CodeAncestor   board.ErrorCode = "not-ancestor"  // the base is no ancestor of the head
	CodeRoot       board.ErrorCode = "root"          // it is another board
	CodeRewound    board.ErrorCode = "rewound"       // the board lacks operations that were attested
	CodeForged     board.ErrorCode = "forged"        // the board breaks its rules
	CodeUnchecked  board.ErrorCode = "unchecked"     // the board names commits that are not in this clone
	CodeTestMerge  board.ErrorCode = "test-merge"    // the head is a host's merge for its own tests
	CodeNotLanded  board.ErrorCode = "not-landed"    // no merge or landing left integration at the head
	CodeUnrecorded board.ErrorCode = "unrecorded"    // a commit belongs to no merge or landing
	CodeCorrupt    board.ErrorCode = "merge-corrupt" // the branch has something else than what landed
	CodeApprovals  board.ErrorCode = "approvals"
	CodeHumans     board.ErrorCode = "humans"
	CodeSigned     board.ErrorCode = "signed"
	CodeTested     board.ErrorCode = "tested"
	CodeReproduced board.ErrorCode = "reproduced"
)

// Checks lists the checks in their order, by the codes of their failures.
var Checks = []board.ErrorCode{CodeShallow, CodeMissing, CodePolicy, CodeAncestor, CodeRoot, CodeRewound, CodeForged, CodeUnchecked,
	CodeTestMerge, CodeNotLanded, CodeUnrecorded, CodeCorrupt, CodeApprovals, CodeHumans, CodeSigned, CodeTested, CodeReproduced}

// exits are the exit codes of failures that are not 1.
var exits = map[board.ErrorCode]int{
	CodeShallow: 3, CodeMissing: 3, CodeUnchecked: 3,
	CodeRoot: 4, CodeRewound: 4, CodeForged: 4, CodeCorrupt: 4,
}

// Exit is the exit code of a failure.
func (f Failure) Exit() int { return max(1, exits[f.Code]) }

// String is the failure without the hint.
func (f Failure) String() string { return fmt.Sprintf("%s: %s", f.Code, f.Text) }

// worst sorts failures: the greatest exit code first, then by the order of the checks.
func worst(all []Failure) {
	sort.SliceStable(all, func(i, j int) bool {
		a, b := all[i], all[j]
		return cmp.Or(cmp.Compare(b.Exit(), a.Exit()), cmp.Compare(slices.Index(Checks, a.Code), slices.Index(Checks, b.Code))) < 0
	})
}

// ShallowClone is the failure of a clone whose history is cut off.
var ShallowClone = Failure{Code: CodeShallow, Text: "this clone is shallow: its history is cut off, so nothing can be proven", Hint: "git fetch --unshallow; in CI: fetch-depth: 0"}
