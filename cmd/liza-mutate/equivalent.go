package main

import (
	_ "embed"
	"fmt"
	"path"
	"strings"
)

//go:embed equivalent.txt
var equivalentText string

// equivalents reads the mutants that change nothing: a line each, below a comment with the reason.
func equivalents(text string) (map[string]bool, error) {
	known := map[string]bool{}
	reason := false
	for line := range strings.Lines(text) {
		switch line = strings.TrimSpace(line); {
		case line == "":
			reason = false
		case strings.HasPrefix(line, "#"):
			reason = true
		case !reason:
			return nil, fmt.Errorf("equivalent.txt gives no reason for %q: write it above the line, after #", line)
		case known[line]:
			return nil, fmt.Errorf("equivalent.txt has %q twice", line)
		default:
			known[line] = true
		}
	}
	return known, nil
}

// gone are the equivalents of a package that are not among its mutants any more.
func gone(known map[string]bool, p pkg, all []mutant) (names []string) {
	found := map[string]bool{}
	for _, m := range all {
		found[p.nameOf(m)] = true
	}
	for name := range known {
		file, _, _ := strings.Cut(name, ":")
		if path.Dir(file) == p.path() && !found[name] {
			names = append(names, name)
		}
	}
	return names
}
