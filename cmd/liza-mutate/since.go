package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// span is some lines of a file: the first, and how many.
type span struct{ first, lines int }

// hunk is the line of a diff that announces the lines to follow; a single one has no count.
var hunk = regexp.MustCompile(`^@@ \S+ \+(\d+)(?:,(\d+))? @@`)

// changedSince are the lines of a package's files that are not so in a commit, by the file's name.
func changedSince(ctx context.Context, p pkg, commit string) (map[string][]span, error) {
	cmd := exec.CommandContext(ctx, "git", "diff", "--unified=0", "--no-color", "--no-ext-diff", "--dst-prefix=b/", commit, "--", ".")
	cmd.Dir = p.Dir
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("git diff %s: %w", commit, err)
	}
	changed, name := map[string][]span{}, ""
	for line := range strings.Lines(string(bytes.ToValidUTF8(out, nil))) {
		line = strings.TrimSpace(line)
		if to, is := strings.CutPrefix(line, "+++ b/"); is {
			if name = path.Base(to); path.Dir(to) != p.path() {
				name = "" // of a package below
			}
		} else if h := hunk.FindStringSubmatch(line); h != nil && name != "" {
			s := span{lines: 1}
			s.first, _ = strconv.Atoi(h[1])
			if h[2] != "" {
				s.lines, _ = strconv.Atoi(h[2])
			}
			changed[name] = append(changed[name], s)
		}
	}
	return changed, nil
}

// isIn reports whether a mutant is in changed lines.
func (m mutant) isIn(changed map[string][]span) bool {
	for _, s := range changed[m.file] {
		if m.line >= s.first && m.line < s.first+s.lines {
			return true
		}
	}
	return false
}
