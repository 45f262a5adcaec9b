package receipt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"gopkg.in/yaml.v3"

	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/text"
)

// PolicyFile is where a project keeps its policy, from the top of its tree.
const PolicyFile = "liza-check.yaml"

// Policy is a project's demand on commits. It is read at the start of a range, which the commits
// under review can't change.
type Policy struct {
	// Root is the first commit of the board, "" for any.
	Root string `yaml:"root"`
	// Require are further requirements; see ParseRequirements.
	Require []string `yaml:"require"`
	// Exempt are globs. A move that changes only matching files needs no approval and no test.
	Exempt []string `yaml:"exempt"`
}

// Requirements are demands on each move of integration in a range. The zero value demands nothing
// beyond the rules of the board.
type Requirements struct {
	Signed     bool // each operation since the first of the range's tasks
	Tested     bool // the tests passed before the move
	Approvals  int  // by others than the authors
	Humans     int  // such approvals by humans
	Reproduced int  // runners that repeated the test of the head
}

// The names of requirements.
var names = []string{"signed", "tested", "approvals=N", "humans=N", "reproduced=N"}

// ParseRequirements adds requirements by their names: signed, tested, approvals=N, humans=N,
// reproduced=N. Of several numbers the greatest counts.
func (r Requirements) ParseRequirements(list []string) (Requirements, error) {
	for _, item := range list {
		name, number, counted := strings.Cut(strings.TrimSpace(item), "=")
		n, err := strconv.Atoi(number)
		var to *int
		switch {
		case name == "signed" && !counted:
			r.Signed = true
			continue
		case name == "tested" && !counted:
			r.Tested = true
			continue
		case name == "approvals":
			to = &r.Approvals
		case name == "humans":
			to = &r.Humans
		case name == "reproduced":
			to = &r.Reproduced
		}
		if to == nil || err != nil || n < 1 || n > 99 {
			return r, fmt.Errorf("%s is not a requirement: use %s", strconv.Quote(text.Line(item, 40)), strings.Join(names, ", "))
		}
		*to = max(*to, n)
	}
	return r, nil
}

// maxPolicy is the greatest size of a policy, in bytes.
const maxPolicy = 64 << 10

// readPolicy reads the policy at a commit; without a file there is none, unless its path was asked
// for. fault describes a policy that can't be used.
func readPolicy(ctx context.Context, repo *git.Repo, at plumbing.OID, file string) (p Policy, fault string, err error) {
	path := file
	if path == "" {
		path = PolicyFile
	}
	oid, err := repo.History().FileOID(ctx, at, path)
	if errors.Is(err, git.ErrNotFound) {
		if file != "" {
			fault = fmt.Sprintf("there is no policy %s at %s", text.Line(file, 80), at.Short())
		}
		return p, fault, nil
	}
	if err != nil {
		return p, "", err
	}
	o, err := repo.Object(ctx, string(oid))
	if err != nil {
		return p, "", err
	}
	if len(o.Data) > maxPolicy {
		return p, fmt.Sprintf("the policy %s at %s has more than %d bytes", path, at.Short(), maxPolicy), nil
	}
	d := yaml.NewDecoder(bytes.NewReader(o.Data))
	d.KnownFields(true) // a misspelt requirement must not be a weaker policy
	if err := d.Decode(&p); err != nil && !errors.Is(err, io.EOF) {
		return p, fmt.Sprintf("the policy %s at %s can't be read: %s", path, at.Short(), text.Line(err.Error(), 160)), nil
	}
	if _, err := (Requirements{}).ParseRequirements(p.Require); err != nil {
		return p, fmt.Sprintf("the policy %s at %s: %v", path, at.Short(), err), nil
	}
	if i := slices.IndexFunc(p.Exempt, func(glob string) bool { return glob == "" || !doublestar.ValidatePattern(glob) }); i >= 0 {
		return p, fmt.Sprintf("the policy %s at %s: %s is not a glob", path, at.Short(), strconv.Quote(p.Exempt[i])), nil
	}
	if p.Root != "" && !plumbing.OID(p.Root).Valid() {
		return p, fmt.Sprintf("the policy %s at %s: root is not the full id of a commit", path, at.Short()), nil
	}
	return p, "", nil
}

// exempts reports whether the policy asks for no approval of a change of these files.
func (p Policy) exempts(files []string) bool {
	return len(files) > 0 && !slices.ContainsFunc(files, func(file string) bool {
		return !slices.ContainsFunc(p.Exempt, func(glob string) bool {
			is, _ := doublestar.Match(glob, file) // readPolicy has checked the globs
			return is
		})
	})
}
