package git

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// TestRequested: a server finds a repeated request among what it remembers, and asks git again
// when it remembers too little, or not what follows from each other.
func TestRequested(t *testing.T) {
	ctx, r := scratch(t)
	r.bare = true
	check(t, os.MkdirAll(filepath.Join(r.common, "liza"), 0o755))
	commit := func(request string) plumbing.OID {
		t.Helper()
		native(t, r.top, "commit", "-q", "--allow-empty", "-m", "a note\x1eand more", "-m", "Liza-Request: "+request)
		return must[plumbing.OID](t)(r.Ref(ctx, "refs/heads/main"))
	}
	var tip plumbing.OID
	finds := func(what, request string, depth int, want bool) {
		t.Helper()
		found := must[map[string]plumbing.OID](t)(r.History().Requested(ctx, tip, []string{request, "none"}, depth))
		if (found[request] != "") != want || found["none"] != "" {
			t.Errorf("%s: %v", what, found)
		}
	}
	edit := func(change func(lines []string) []string) {
		t.Helper()
		text := must[[]byte](t)(os.ReadFile(r.askingFile()))
		check(t, os.WriteFile(r.askingFile(), []byte(strings.Join(change(strings.SplitAfter(string(text), "\n")), "")), 0o644))
	}
	tip = plumbing.ZeroOID
	finds("before the first commit", "r 1%", 20, false)
	commit("r 1%")
	tip = commit("r2")
	finds("at first", "r 1%", 20, true)
	tip = commit("r3")
	finds("a commit that has come since", "r3", 20, true)
	finds("deeper than asked", "r2", 1, false)
	edit(func(lines []string) []string {
		if len(lines) != 5 || lines[4] != "" {
			t.Errorf("remembered: %q", lines)
		}
		return append(lines[:2:2], strings.Replace(lines[2], "r2", "changed", 1), lines[3], lines[3], lines[2])
	})
	finds("what is remembered, some of it twice", "r2", 20, false)
	for what, change := range map[string]func(lines []string) []string{
		"without the first commit":    func(lines []string) []string { return lines[1:] },
		"without one in between":      func(lines []string) []string { return append(lines[:1:1], lines[2:]...) },
		"without the end of the last": func(lines []string) []string { return append(lines[:3:3], lines[3][:50]) },
		"of another history": func([]string) []string {
			return []string{lines([]asking{{commit: plumbing.OID(strings.Repeat("1", 40)), parent: plumbing.ZeroOID}})}
		},
	} {
		edit(change)
		finds(what, "r2", 20, true)
		finds(what, "r3", 20, true)
	}
	newest := commit("r3")
	native(t, r.top, "commit", "-q", "--allow-empty", "-m", "a note", "-m", "Liza-Request: r4", "-m", "This is no trailer.")
	tip = must[plumbing.OID](t)(r.Ref(ctx, "refs/heads/main"))
	finds("what only looks like a request", "r4", 20, false)
	if found := must[map[string]plumbing.OID](t)(r.History().Requested(ctx, tip, []string{"r3"}, 20)); found["r3"] != newest {
		t.Errorf("of two commits with a request the older one is found: %v", found)
	}
	commit("r5")
	tip = commit("r5")
	if found := must[map[string]plumbing.OID](t)(r.History().Requested(ctx, tip, []string{"r5"}, 20)); found["r5"] != tip {
		t.Errorf("of two commits that have come since the older one is found: %v", found)
	}
	if kept := r.keptAsking(); len(kept) == 0 || kept[len(kept)-1].commit != tip {
		t.Errorf("what has come since is not remembered: %v", kept)
	}
	all := make([]asking, askingMost+1)
	for i := range all {
		all[i] = asking{commit: plumbing.OID(fmt.Sprintf("%040d", i+2)), parent: plumbing.OID(fmt.Sprintf("%040d", i+1))}
	}
	all[askingMost].commit = tip
	edit(func([]string) []string { return []string{lines(all)} })
	finds("after more than are remembered", "r3", 20, true)
	edit(func(lines []string) []string {
		if len(lines) > 20 {
			t.Errorf("%d lines are remembered", len(lines))
		}
		return lines
	})
}
