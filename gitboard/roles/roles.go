// Package roles names who acts on a board: what an agent may be, and the form of agent ids.
//
// It promises to be pure: no I/O, no clock, no environment.
//
// It may import nothing of ours.
package roles

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// Role is the value of `role` in an agent's record. It decides what the agent may do. A team may
// name further roles; an agent of one of these has the Role of its kind, and the name in its id.
type Role string

// The roles of the protocol. Human is a person who acts without an agent id; System names
// effects that the protocol brings about inside another operation's commit.
const (
	Planner      Role = "planner"
	Coder        Role = "coder"
	CodeReviewer Role = "code_reviewer"
	Human        Role = "human"
	System       Role = "system"
)

// Agents lists the roles that a process can register under.
var Agents = []Role{Planner, Coder, CodeReviewer}

// HumanID is the id under which a human's operations are recorded.
const HumanID = "human"

var (
	agentID = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^([a-z](?:[a-z-]*[a-z])?)-([0-9]+)$`)
	})
	roleName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z](?:[a-z-]*[a-z])?$`) })
)

// longestName is the length of the longest name of a role.
const longestName = 40

// notRole begins no name of a role: files of that name are about merges.
const notRole = "merge-"

// IsName reports whether a text has the form of the name of a team's role.
func IsName(s string) bool {
	return len(s) <= longestName && roleName().MatchString(s) && !strings.HasPrefix(s, notRole)
}

// NameOf is the name of the role in an agent id, "" if the text does not have the form of one.
func NameOf(id string) string {
	m := agentID().FindStringSubmatch(id)
	if m == nil || !IsName(m[1]) {
		return ""
	}
	return m[1]
}

// IsID reports whether a text has the form of an agent id, whatever roles the team has.
func IsID(id string) bool { return NameOf(id) != "" }

// IDOf is the agent id of the n-th agent of a team's role.
func IDOf(name string, n int) string { return name + "-" + strconv.Itoa(n) }

// Parse reads a role as people type it; `code-reviewer` and `code_reviewer` both serve.
func Parse(s string) (Role, error) {
	r := Role(strings.ReplaceAll(s, "-", "_"))
	for _, known := range Agents {
		if r == known {
			return r, nil
		}
	}
	return "", fmt.Errorf("%q is not a role: use planner, coder or code_reviewer", s)
}

// Prefix is the part of an agent id before its number.
func (r Role) Prefix() string { return strings.ReplaceAll(string(r), "_", "-") }

// ID is the agent id of the n-th agent of a role.
func (r Role) ID(n int) string { return IDOf(r.Prefix(), n) }

// String is the role as it is written in records.
func (r Role) String() string { return string(r) }

// Of returns the role that an agent id belongs to in a team of the built-in roles. The error names
// the id and shows a right one.
func Of(id string) (Role, error) {
	if role, err := Parse(NameOf(id)); err == nil {
		return role, nil
	}
	return "", NotAnID(id)
}

// NotAnID is the sentence that a text is not an agent id, with a valid example.
func NotAnID(id string) error {
	return fmt.Errorf("%q is not an agent id: write the role and a number, like coder-1, code-reviewer-1 or planner-1", id)
}
