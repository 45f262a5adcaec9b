package gitio

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/git-liza/git-liza/gitboard/git"
)

// TestShared checks that the board's remote is found in every form in which git accepts the
// setting.
func TestShared(t *testing.T) {
	ctx, r := scratch(t)
	config := filepath.Join(r.CommonDir(), "config")
	plain, err := os.ReadFile(config)
	check(t, err)
	path := os.Getenv("PATH")
	beside := filepath.Join(filepath.Dir(config), "beside")
	check(t, os.WriteFile(beside, []byte("[liza]\n\tremote = hub\n"), 0o644))
	for text, want := range map[string]string{
		"": "",
		"[remote \"hub\"]\n\turl = x\n[liza]\n\tsigningkey = k\n":            "",
		"[liza]\n\tsigningkey = k\n[remote \"hub\"]\n\turl = x\n":            "",
		"[liza]\n\tremote = hub\n":                                           "hub",
		"[Liza] Remote = hub\n":                                              "hub",
		"[liza]\n\tsigningkey = \"k[1]\"\n\tremote = hub\n":                  "hub",
		"[liza]\n\tnotify = x\n[core]\n\tbare = false\n[liza]\nremote=hub\n": "hub",
		"[include]\n\tpath = beside\n":                                       "hub",
	} {
		check(t, os.WriteFile(config, append(plain[:len(plain):len(plain)], text...), 0o644))
		got := ""
		if want == "" {
			t.Setenv("PATH", "") // no child is needed
		}
		m, err := r.Shared(ctx)
		t.Setenv("PATH", path)
		check(t, err)
		if m != nil {
			got = m.Name
		}
		if got != want {
			t.Errorf("%q: %q, not %q", text, got, want)
		}
	}
}

// TestPushTracksNoBoard checks that a push writes no remote-tracking branch of the board, whatever a
// plain fetch brings, and those of other branches as always.
func TestPushTracksNoBoard(t *testing.T) {
	ctx, r := scratch(t)
	commit := must[git.OID](t)(r.ResolveCommit(ctx, "HEAD"))
	hub := t.TempDir()
	native(t, hub, "init", "-q", "--bare")
	native(t, r.TopLevel(), "remote", "add", "hub", hub)
	for _, spared := range []string{"", "^refs/heads/liza/*"} {
		if spared != "" {
			native(t, r.TopLevel(), "config", "--add", "remote.hub.fetch", spared)
		}
		m := must[*Remote](t)(r.Remote(ctx, "hub"))
		branch := git.BranchRef("main")
		for _, ref := range []string{branch, git.BoardRef} {
			check(t, m.Push(ctx, []Push{{Ref: ref, New: commit}}))
		}
		tracked := must[[]git.Ref](t)(r.Refs(ctx, "refs/remotes/"))
		if len(tracked) != 1 || tracked[0].Name != git.RemoteRef("hub", branch) {
			t.Errorf("with %q: %v", spared, tracked)
		}
		native(t, hub, "update-ref", "-d", git.BoardRef)
	}
}
