package git

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestShared checks that the board's remote is found in every form in which git accepts the
// setting, also if it was set after other settings were read.
func TestShared(t *testing.T) {
	ctx, r := scratch(t)
	config := filepath.Join(r.CommonDir(), "config")
	plain := testrun.Must(os.ReadFile(config))(t)
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
		testrun.Equal(t, got, want, "%q", text)
	}
	check(t, os.WriteFile(config, append(plain[:len(plain):len(plain)], "[include]\n\tpath = none\n"...), 0o644))
	if m, err := r.Shared(ctx); m != nil || err != nil {
		t.Errorf("where a file that does not exist is included: %v, %v", m, err)
	}
	check(t, os.WriteFile(config, plain, 0o644))
	r = testrun.Must(OpenWith(ctx, r.CommonDir(), Options{ToWrite: true}))(t)
	defer r.Close()
	testrun.Must(r.Settings().Author(ctx))(t) // the settings were read
	check(t, r.Settings().Set(ctx, RemoteKey, "hub"))
	if m, err := r.Shared(ctx); err != nil || m == nil || m.Name != "hub" {
		t.Errorf("shared since the settings were read: %+v, %v", m, err)
	}
}

// TestFetchOutlivesPrune: a git that deletes what no ref held when it looked takes nothing of what a
// fetch brought, neither amid the fetch nor after it.
func TestFetchOutlivesPrune(t *testing.T) {
	const loose = `find objects -path 'objects/??/*' -newer mark -delete`
	own, core := t.TempDir(), strings.TrimSpace(native(t, t.TempDir(), "--exec-path"))
	check(t, exec.Command("sh", "-c", "ln -s '"+core+"'/* '"+own+"' && rm '"+own+"/git'").Run())
	for when, script := range map[string]string{
		"before git checks what came":   `case "$*" in *" fetch "*) export GIT_EXEC_PATH='` + own + `' ;; esac`,
		"before the objects are kept":   `case "$*" in *" fetch "*) git "$@"; e=$?; DELETE; exit $e ;; esac`,
		"while the objects are counted": `case "$*" in *--ignore-missing*) git "$@"; e=$?; DELETE; exit $e ;; esac`,
		"after all":                     ``,
	} {
		ctx, r := scratch(t)
		hub := t.TempDir()
		native(t, r.TopLevel(), "clone", "-q", r.TopLevel(), hub)
		native(t, r.TopLevel(), "remote", "add", "hub", hub)
		writeIn(t, hub, "one", when)
		native(t, hub, "add", ".")
		native(t, hub, "commit", "-q", "-m", "one")
		m := must[*Remote](t)(r.Remote(ctx, "hub"))
		writeIn(t, r.common, "mark", "")
		deletes := "(cd '" + r.common + "' && [ -e mark ] && " + loose + " && rm mark)"
		check(t, testrun.WriteProgram(filepath.Join(own, "git"), "#!/bin/sh\n'"+core+"/git' \"$@\"; e=$?\n[ \"$1\" != unpack-objects ] || "+deletes+"\nexit $e\n"))
		path := os.Getenv("PATH")
		inFront(t, strings.ReplaceAll(script, "DELETE", deletes))
		err := m.Fetch(ctx, false, false, "HEAD:refs/fetched/one")
		if strings.HasPrefix(when, "before git") { // it is tried again, as after any failure
			err = m.Fetch(ctx, false, false, "HEAD:refs/fetched/one")
		}
		if err != nil {
			t.Errorf("%s: %v", when, err)
		}
		t.Setenv("PATH", path)
		if script == "" {
			check(t, exec.Command("sh", "-c", deletes).Run())
		} else if exists(filepath.Join(r.common, "mark")) {
			t.Errorf("%s: nothing was deleted", when)
		}
		later := open(t, ctx, r.TopLevel())
		if _, err := later.Ref(ctx, "refs/fetched/one"); err != nil {
			t.Errorf("%s: %v", when, err)
		}
		native(t, r.TopLevel(), "fsck", "--strict", "--connectivity-only", "refs/fetched/one")
	}
}

// TestTalksOnce checks that a push or a fetch of which git dies is not tried again, since the remote
// may have acted already, and that what git may have missed is restored for the next one.
func TestTalksOnce(t *testing.T) {
	ctx, r := scratch(t)
	commit := must[plumbing.OID](t)(r.Ref(ctx, "refs/heads/main"))
	kept := store(t, ctx, r, "kept")[0]
	native(t, r.TopLevel(), "remote", "add", "hub", t.TempDir())
	m := must[*Remote](t)(r.Remote(ctx, "hub"))
	asked := t.TempDir()
	instead(t, `case "$*" in *cat-file*) ;; *) echo "$*" >>'`+filepath.Join(asked, "asked")+`' ;; esac; exit 128`)
	const whole = "fetch of what is here as well"
	for what, talk := range map[string]func() error{
		"push":  func() error { return m.Push(ctx, []Push{{Ref: plumbing.BoardRef, New: commit}}) },
		"fetch": func() error { return m.Fetch(ctx, false, false, "refs/liza/*:refs/liza/*") },
		whole:   func() error { return m.Fetch(ctx, false, true, "refs/liza/*:refs/liza/*") },
	} {
		check(t, os.WriteFile(filepath.Join(asked, "asked"), nil, 0o666))
		check(t, os.Remove(loosePath(r, kept)))
		if err := talk(); !errors.As(err, new(*NetworkError)) {
			t.Errorf("%s: %v", what, err)
		}
		if got := readIn(t, asked, "asked"); strings.Count(got, "\n") != 1 || strings.Contains(got, "--refetch") != (what == whole) {
			t.Errorf("%s: git was asked\n%s", what, got)
		}
		if !exists(loosePath(r, kept)) {
			t.Errorf("%s: a missing object is not restored", what)
		}
	}
}

// TestPushTracksNoBoard checks that a push writes no remote-tracking branch of the board, whatever a
// plain fetch brings, and those of other branches as always.
func TestPushTracksNoBoard(t *testing.T) {
	ctx, r := scratch(t)
	commit := must[plumbing.OID](t)(r.Ref(ctx, "refs/heads/main"))
	hub := t.TempDir()
	native(t, hub, "init", "-q", "--bare")
	native(t, r.TopLevel(), "remote", "add", "hub", hub)
	for _, spared := range []string{"", "^refs/heads/liza/*"} {
		if spared != "" {
			native(t, r.TopLevel(), "config", "--add", "remote.hub.fetch", spared)
		}
		m := must[*Remote](t)(r.Remote(ctx, "hub"))
		branch := plumbing.BranchRef("main")
		for _, ref := range []string{branch, plumbing.BoardRef} {
			check(t, m.Push(ctx, []Push{{Ref: ref, New: commit}}))
		}
		tracked := must[[]plumbing.Ref](t)(r.Refs(ctx, "refs/remotes/"))
		if len(tracked) != 1 || tracked[0].Name != plumbing.RemoteRef("hub", branch) {
			t.Errorf("with %q: %v", spared, tracked)
		}
		native(t, hub, "update-ref", "-d", plumbing.BoardRef)
	}
}

// TestSilentRemote checks that a remote that says nothing is not taken for a command that its caller
// has cancelled.
func TestSilentRemote(t *testing.T) {
	ctx, r := scratch(t)
	deaf := filepath.Join(t.TempDir(), "deaf")
	check(t, os.WriteFile(deaf, []byte("#!/bin/sh\nexec sleep 1000\n"), 0o755))
	native(t, r.TopLevel(), "remote", "add", "hub", t.TempDir())
	native(t, r.TopLevel(), "config", "remote.hub.uploadpack", deaf)
	m := must[*Remote](t)(r.Remote(ctx, "hub"))
	m.patience = 100 * time.Millisecond
	err := m.Fetch(ctx, false, false, "refs/heads/*:refs/x/*")
	if !errors.Is(err, ErrSilent) || !errors.As(err, new(*NetworkError)) || !Unfinished(err) {
		t.Errorf("the remote says nothing: %v", err)
	}
	if errors.Is(err, context.Canceled) {
		t.Errorf("nobody has cancelled it: %#v", err)
	}
}
