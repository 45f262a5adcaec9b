package git

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/git/gitenv"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/git/records"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

func TestConfig(t *testing.T) {
	ctx, r := scratch(t)
	if value, found, err := r.Settings().Get(ctx, "liza.none"); value != "" || found || err != nil {
		t.Errorf("got %q %t %v", value, found, err)
	}
	for _, want := range []string{"one", "", " two\nlines \n", "-x"} {
		native(t, r.TopLevel(), "config", "--add", "liza.key", "another")
		check(t, r.Settings().Set(ctx, "liza.key", want))
		if value, found, err := r.Settings().Get(ctx, "liza.key"); value != want || !found || err != nil {
			t.Errorf("got %q %t %v, want %q", value, found, err, want)
		}
	}
	var failed *CommandError
	if err := r.Settings().Set(ctx, "nosection", "x"); !errors.As(err, &failed) {
		t.Errorf("got %v", err)
	}
	for _, setting := range [][2]string{{"liza.cli.Command", "old"}, {"liza.cli.command", " two\nlines"}, {"liza.cli.x.install", "other"}, {"lizaxcli.model", "other"}} {
		native(t, r.TopLevel(), "config", "--add", setting[0], setting[1])
	}
	asGit(t, r.TopLevel(), "config")
	writeIn(t, r.CommonDir(), "config.lock", "")
	edit := func([]byte) ([]byte, error) { return nil, nil }
	for _, err := range []error{hurry(r).Settings().Set(ctx, "liza.key", "x"), r.Settings().Edit(edit)} {
		if !errors.Is(err, ErrBusy) || errors.As(err, new(*StorageError)) {
			t.Errorf("got %v", err)
		}
	}
	t.Setenv("GIT_CONFIG_COUNT", "1") // as git -c does for its children
	t.Setenv("GIT_CONFIG_KEY_0", "liza.key")
	t.Setenv("GIT_CONFIG_VALUE_0", "given")
	if value, _, err := r.Settings().Get(ctx, "liza.key"); value != "given" || err != nil {
		t.Errorf("from the command line: %q %v", value, err)
	}
	for section, want := range map[string]map[string]string{"liza.cli": {"liza.cli.command": " two\nlines"}, "liza": {"liza.key": "given"}, "liza.none": {}} {
		if got, err := r.Settings().Section(ctx, section); err != nil || !maps.Equal(got, want) {
			t.Errorf("the section %s is %q, %v", section, got, err)
		}
	}
}

func TestIdentity(t *testing.T) {
	ctx, r := scratch(t)
	t.Setenv("GIT_AUTHOR_NAME", "Grace <Hopper>")
	who, author := must[plumbing.Signature](t)(r.Settings().Identity(ctx)), must[plumbing.Signature](t)(r.Settings().Author(ctx))
	if who.Name != ada.Name || who.Email != ada.Email || who.When.IsZero() {
		t.Errorf("Identity: %+v", who)
	}
	testrun.Equal(t, author.Name, "Grace Hopper", "Author: %+v", author)
	os.Unsetenv("GIT_COMMITTER_NAME")
	os.Unsetenv("GIT_COMMITTER_EMAIL")
	check(t, r.Settings().Set(ctx, "user.useConfigOnly", "true"))
	var failed *CommandError
	if who, err := r.Settings().Identity(ctx); !errors.As(err, &failed) {
		t.Errorf("nobody: %+v %v", who, err)
	}
}

func TestDefaultBranch(t *testing.T) {
	ctx, r := scratch(t)
	top := r.TopLevel()
	expect := func(want string) {
		t.Helper()
		testrun.Equal(t, must[string](t)(r.History().DefaultBranch(ctx)), want, "got")
	}
	expect("main")
	native(t, top, "checkout", "-q", "-b", "trunk/x")
	expect("trunk/x")
	native(t, top, "checkout", "-q", "--detach")
	expect("main")
	native(t, top, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk/x")
	expect("trunk/x")
	native(t, top, "branch", "-m", "trunk/x", "other")
	native(t, top, "branch", "-m", "main", "master")
	expect("master")
	native(t, top, "branch", "-m", "master", "third")
	if _, err := r.History().DefaultBranch(ctx); !errors.Is(err, ErrNotFound) {
		t.Errorf("got %v", err)
	}
	native(t, top, "checkout", "-q", "third")
	native(t, top, "worktree", "add", "-q", filepath.Join(t.TempDir(), "linked"), "other")
	expect("third")
}

func TestExclude(t *testing.T) {
	_, r := scratch(t)
	path := filepath.Join(r.CommonDir(), "info", "exclude")
	check(t, os.MkdirAll(filepath.Dir(path), 0o777))
	check(t, os.WriteFile(path, []byte("# mine\r\n.liza/"), 0o666))
	for range 2 {
		check(t, r.Settings().Exclude(".worktrees/", ".liza/"))
	}
	testrun.Equal(t, readIn(t, filepath.Dir(path), "exclude"), "# mine\r\n.liza/\n.worktrees/\n", "got")
	check(t, r.Settings().Include(".liza/", ".worktrees/"))
	testrun.Equal(t, readIn(t, filepath.Dir(path), "exclude"), "# mine\r\n", "without our lines")
	before := must[os.FileInfo](t)(os.Stat(path))
	if check(t, r.Settings().Include(".liza/")); !os.SameFile(before, must[os.FileInfo](t)(os.Stat(path))) {
		t.Error("a file without our lines is written")
	}
	check(t, os.WriteFile(path, []byte("x"), 0o666))
	if check(t, r.Settings().Exclude("x")); readIn(t, filepath.Dir(path), "exclude") != "x" {
		t.Error("a file that has the line already is changed")
	}
	check(t, errors.Join(os.RemoveAll(filepath.Dir(path)), r.Settings().Include("x"), r.Settings().Exclude("x")))
	testrun.Equal(t, readIn(t, filepath.Dir(path), "exclude"), "x\n", "without a directory")
	fails := func(how, where string) {
		t.Helper()
		storage := (*StorageError)(nil)
		if err := r.Settings().Exclude("y"); !errors.As(err, &storage) || storage.Dir != where || errors.Is(err, fs.ErrInvalid) {
			t.Errorf("%s: %v", how, err)
		}
	}
	check(t, errors.Join(os.Remove(path), os.Symlink("none/exclude", path)))
	fails("a link into no directory", filepath.Dir(path))
	check(t, errors.Join(os.RemoveAll(filepath.Dir(path)), os.WriteFile(filepath.Dir(path), nil, 0o666)))
	fails("below a file", filepath.Dir(path))
	check(t, os.Rename(r.common, r.common+".away"))
	fails("a repository that was moved", r.common)
	if exists(r.common) {
		t.Error("its old place is taken")
	}
}

func TestErrors(t *testing.T) {
	commit := blob("x").OID
	damaged := "objects of the history of " + commit.Short() + " are missing or damaged"
	for want, err := range map[string]error{
		"git worktree add failed (exit 128): it is there already":        &CommandError{Op: "worktree add", Exit: 128, Stderr: "warning: x\nfatal: it is there already\nhint: do not\n\n"},
		"git x failed (exit 1)":                                          &CommandError{Op: "x", Exit: 1, Stderr: "hint: x\n"},
		"git x did not finish: why":                                      &CommandError{Op: "x", Exit: -1, Stderr: "fatal: y\n", Err: errors.New("why")},
		"the ref refs/x is broken: its file is empty":                    &BrokenRefError{Ref: "refs/x"},
		`the ref refs/x is broken: it leads to "abc", which is not here`: &BrokenRefError{Ref: "refs/x", Text: "abc"},
		damaged:                         &DamagedError{Commit: commit},
		damaged + " (why)":              &DamagedError{Commit: commit, Err: errors.New("why")},
		damaged + ": " + string(commit): &DamagedError{Commit: commit, Err: errors.New("why"), Object: commit},
		damaged + ": a.go (" + string(commit) + ")": &DamagedError{Commit: commit, Object: commit, Path: "a.go"},
	} {
		testrun.Equal(t, err.Error(), want, "got")
	}
}

// TestIncludedWithin checks where git includes the file: in the repository and its worktrees, and
// not in repositories of submodules, which are others, wherever git keeps them.
func TestIncludedWithin(t *testing.T) {
	ctx, r := scratch(t)
	path := claim(t, ctx, r, "one")
	file := filepath.Join(t.TempDir(), "included")
	writeIn(t, filepath.Dir(file), "included", "[liza]\n\ttest = yes\n")
	t.Setenv(gitenv.ParametersVar, gitenv.AddSettings("", gitenv.IncludeWithin(r.CommonDir(), file)...))
	for dir, want := range map[string]string{
		r.TopLevel(): "yes",
		path:         "yes",
		filepath.Join(r.CommonDir(), "modules", "lib"):                   "no",
		filepath.Join(records.LinkedDir(path), "modules", "lib"):         "no",
		filepath.Join(records.LinkedDir(path), "modules", "deep", "lib"): "no",
	} {
		if !exists(dir) {
			native(t, r.TopLevel(), "init", "-q", "--bare", dir)
		}
		testrun.Equal(t, native(t, dir, "config", "--default=no", "--get", "liza.test"), want, "%s", dir)
	}
}

// dangerous are settings by which git runs a program, here RUN: each set has some that don't keep git from
// the others. ATTRIBUTES of the files and the ways of the remote are such that the operations of
// TestNoProgramOfTheRepository come to them.
var dangerous = [][]string{
	{
		"filter.evil.clean=RUN", "filter.evil.smudge=RUN", "filter.lfs.clean=RUN", "merge.evil.driver=RUN", "diff.evil.textconv=RUN",
		"core.fsmonitor=RUN", "core.hooksPath=DIR", "core.alternateRefsCommand=RUN", "core.pager=RUN", "core.editor=RUN", "sequence.editor=RUN",
		"alias.status=!RUN", "alias.merge=!RUN", "gpg.program=RUN",
	},
	{"filter.evil.process=RUN", "diff.evil.command=RUN", "gpg.format=ssh", "gpg.ssh.program=RUN", "gpg.ssh.defaultKeyCommand=RUN"},
	{
		"diff.external=RUN", "core.sshCommand=RUN", "core.gitProxy=RUN", "core.askPass=RUN",
		"credential.helper=!RUN", "credential.http://127.0.0.1:1.helper=!RUN",
	},
	{"remote.hub.url=ext::RUN"},
	{"url.ext::RUN .insteadOf=/"},
}

// ofTransports begin the settings that only transports to other machines read.
var ofTransports = []string{"core.sshCommand", "core.gitProxy", "core.askPass", "credential."}

// TestNoProgramOfTheRepository: our children run no program that is set where agents can write, by
// whatever file the setting comes in.
func TestNoProgramOfTheRepository(t *testing.T) {
	places := map[string]func(t *testing.T, r *Repo, one, text string){
		"config": func(t *testing.T, r *Repo, _, text string) { appendTo(t, filepath.Join(r.CommonDir(), "config"), text) },
		"an include": func(t *testing.T, r *Repo, one, text string) {
			appendTo(t, filepath.Join(one, "more"), text)
			appendTo(t, filepath.Join(r.CommonDir(), "config"), "[include]\n\tpath = "+filepath.Join(one, "more")+"\n")
		},
		"our include": func(t *testing.T, r *Repo, _, text string) {
			appendTo(t, filepath.Join(r.CommonDir(), "liza", "hooks", "gitconfig"), text)
			appendTo(t, filepath.Join(r.CommonDir(), "config"), "[include]\n\tpath = liza/hooks/gitconfig\n")
		},
		"config.worktree": func(t *testing.T, r *Repo, one, text string) {
			native(t, one, "config", "extensions.worktreeConfig", "true")
			for _, dir := range []string{r.CommonDir(), records.LinkedDir(one)} {
				appendTo(t, filepath.Join(dir, "config.worktree"), text)
			}
		},
		"another common directory": func(t *testing.T, r *Repo, one, text string) {
			other := filepath.Join(t.TempDir(), "common")
			check(t, os.CopyFS(other, os.DirFS(r.CommonDir())))
			appendTo(t, filepath.Join(other, "config"), text)
			check(t, os.WriteFile(filepath.Join(records.LinkedDir(one), "commondir"), []byte(other+"\n"), 0o666))
		},
		"another common directory, when git runs": func(t *testing.T, r *Repo, one, text string) {
			other, link := filepath.Join(t.TempDir(), "common"), filepath.Join(records.LinkedDir(one), "commondir")
			check(t, os.CopyFS(other, os.DirFS(r.CommonDir())))
			appendTo(t, filepath.Join(other, "config"), text)
			inFront(t, "now=$(cat '"+link+"'); echo '"+other+"' >'"+link+"'; git \"$@\"; e=$?; echo \"$now\" >'"+link+"'; exit $e")
		},
		"a submodule": func(t *testing.T, r *Repo, one, text string) {
			sub := filepath.Join(one, "sub")
			native(t, one, "init", "-q", sub)
			writeIn(t, sub, "a.txt", "one\n")
			writeIn(t, sub, ".gitattributes", "* filter=evil\n")
			native(t, sub, "add", "--all")
			native(t, sub, "commit", "-q", "-m", "sub")
			native(t, one, "-c", "advice.addEmbeddedRepo=false", "add", "sub")
			appendTo(t, filepath.Join(sub, ".git", "config"), text)
			check(t, os.Chtimes(filepath.Join(sub, "a.txt"), noon, noon))
		},
	}
	n := 0
	for _, place := range slices.Sorted(maps.Keys(places)) {
		for i, entries := range dangerous {
			if place != "config" && i > 0 {
				continue
			}
			if n++; !testrun.OneIn(2, n) {
				continue
			}
			t.Run(place+"/"+entries[0], func(t *testing.T) {
				ctx, r := scratch(t)
				ran := filepath.Join(t.TempDir(), "ran")
				dir := filepath.Join(t.TempDir(), "evil")
				run := filepath.Join(dir, "run")
				appendTo(t, run, "#!/bin/sh\necho \"$0 $*\" >>'"+ran+"'\nexit 1\n")
				for _, hook := range []string{"post-checkout", "reference-transaction", "pre-push", "pre-merge-commit", "post-index-change"} {
					appendTo(t, filepath.Join(dir, hook), "#!/bin/sh\n'"+run+"'\n")
				}
				hub := filepath.Join(t.TempDir(), "hub.git")
				native(t, r.TopLevel(), "init", "-q", "--bare", hub)
				native(t, r.TopLevel(), "remote", "add", "hub", hub)
				base := must[plumbing.OID](t)(r.Ref(ctx, "refs/heads/main"))
				theirs := commitFiles(t, ctx, r, map[string]string{"a.txt": "one\ntwo\ntheirs\n"}, base)
				one := filepath.Join(t.TempDir(), "one")
				check(t, r.Worktree(one).Add(ctx, base))
				writeIn(t, one, "a.txt", "one\ntwo\nours\n")
				native(t, one, "commit", "-q", "-a", "-m", "ours")

				write(t, r, ".git/info/attributes", "* filter=evil merge=evil diff=evil\n*.bin filter=lfs\n")
				text, transports, names := "", false, strings.NewReplacer("RUN", run, "DIR", dir)
				for _, entry := range entries {
					key, value, _ := strings.Cut(entry, "=")
					text += asText(names.Replace(key), names.Replace(value))
					transports = transports || slices.ContainsFunc(ofTransports, func(prefix string) bool { return strings.HasPrefix(key, prefix) })
				}
				places[place](t, r, one, text+"[commit]\n\tgpgSign = true\n[merge]\n\trenormalize = true\n[protocol]\n\tallow = always\n[submodule]\n\trecurse = true\n")
				writeIn(t, one, "b.bin", "b\n")
				check(t, os.Chtimes(filepath.Join(one, "a.txt"), noon, noon))

				// Some of them fail. None may run the program.
				_, _ = r.Worktree(one).Checkout(ctx)
				_, _ = r.Worktree(one).Snapshot(ctx, "left", ada)
				_ = r.Worktree(filepath.Join(t.TempDir(), "two")).Add(ctx, theirs)
				_, _ = r.Worktree(one).MergeInto(ctx, theirs, "merge", ada)
				_ = r.Worktree(one).CheckoutDetached(ctx, theirs)
				_, _ = r.History().Diff(ctx, base, theirs)
				addresses := []string{""}
				if transports {
					addresses = append(addresses, "ssh://127.0.0.1:1/x", "git://127.0.0.1:1/x", "http://127.0.0.1:1/x")
				}
				for _, address := range addresses {
					if address != "" {
						native(t, r.TopLevel(), "config", "remote.hub.url", address)
					}
					m := must[*Remote](t)(r.Remote(ctx, "hub"))
					_ = m.Push(ctx, []Push{{Ref: "refs/heads/x", New: base}})
					_ = m.Fetch(ctx, false, false, "+refs/heads/*:refs/remotes/hub/*")
				}
				if text, err := os.ReadFile(ran); err == nil {
					t.Errorf("it ran:\n%s", text)
				}
			})
		}
	}
}

// asText is a setting as a file holds it.
func asText(key, value string) string {
	section, rest, _ := strings.Cut(key, ".")
	if last := strings.LastIndexByte(rest, '.'); last >= 0 {
		section, rest = section+` "`+rest[:last]+`"`, rest[last+1:]
	}
	return "[" + section + "]\n\t" + rest + " = \"" + value + "\"\n"
}

// appendTo appends to a file that can be run.
func appendTo(t *testing.T, path, text string) {
	t.Helper()
	check(t, os.MkdirAll(filepath.Dir(path), 0o777))
	old, _ := os.ReadFile(path)
	check(t, os.WriteFile(path, append(old, text...), 0o777))
}
