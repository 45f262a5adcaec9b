package main

import "context"

// testedBy lists the packages whose tests prove a package, besides its own.
var testedBy = map[string][]string{
	"gitboard":        {"gitboard/testrepo/simulation"},
	"gitboard/audit":  {"hooks/server"}, // a push's claims
	"gitboard/git":    {"hooks/server"}, // the history that a server looks at
	"gitboard/share":  {"hooks/server"}, // a clone's part of a server that sequences
	"hooks/install":   {"hooks/server"},
	"worktrees/merge": {"worktrees"},
}

// testsOf returns the packages whose tests a package's mutants have to meet; none if there are
// none.
func testsOf(ctx context.Context, p pkg) (by []pkg, err error) {
	if len(p.TestGoFiles)+len(p.XTestGoFiles) > 0 {
		by = append(by, p)
	}
	patterns := make([]string, 0, len(testedBy[p.path()]))
	for _, other := range testedBy[p.path()] {
		patterns = append(patterns, p.Module.Path+"/"+other)
	}
	if len(patterns) == 0 {
		return by, nil
	}
	others, err := listed(ctx, patterns)
	return append(by, others...), err
}
