package plumbing

import "strings"

// StatusEntry is a path in a worktree that differs from HEAD.
type StatusEntry struct {
	Code string // two letters, index and file, as in git-status: " M", "??", "UU"
	Path string // ends in a slash for an untracked directory that is a repository
}

// Untracked reports whether git does not track the path.
func (e StatusEntry) Untracked() bool { return e.Code == "??" }

// StagedAlone reports whether content of the path is staged that its file does not have (any more).
func (e StatusEntry) StagedAlone() bool {
	return strings.Contains("AMTRC", e.Code[:1]) && strings.Contains("MTD", e.Code[1:])
}

// Unmerged reports whether the path has a conflict.
func (e StatusEntry) Unmerged() bool {
	return strings.Contains(e.Code, "U") || e.Code == "AA" || e.Code == "DD"
}

// Checkout is the state of a worktree at one moment.
type Checkout struct {
	Head   OID    // ZeroOID before the first commit, or if the branch is missing
	Branch string // full ref that HEAD is attached to; "" if detached
	Dirty  []StatusEntry
}

// ParseStatus parses the entries of git-status's "Porcelain Format Version 2".
func ParseStatus(lines []string) Checkout {
	c := Checkout{Head: ZeroOID}
	for _, line := range lines {
		kind, rest, _ := strings.Cut(line, " ")
		switch kind {
		case "#":
			key, value, _ := strings.Cut(rest, " ")
			switch {
			case key == "branch.oid" && OID(value).Valid():
				c.Head = OID(value)
			case key == "branch.head" && value != "(detached)":
				c.Branch = HeadsPrefix + value
			}
		case "1", "u":
			fields := 8 // code, submodule, modes and ids, then the path
			if kind == "u" {
				fields = 10
			}
			if parts := strings.SplitN(rest, " ", fields); len(parts) == fields {
				c.Dirty = append(c.Dirty, StatusEntry{Code: strings.ReplaceAll(parts[0], ".", " "), Path: parts[fields-1]})
			}
		case "?":
			c.Dirty = append(c.Dirty, StatusEntry{Code: "??", Path: rest})
		}
	}
	return c
}
