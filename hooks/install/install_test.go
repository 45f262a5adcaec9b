package install_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/gitenv"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/parcel"
	"github.com/git-liza/git-liza/gitboard/testrepo"
	"github.com/git-liza/git-liza/gitboard/testrun"
	"github.com/git-liza/git-liza/hooks/install"
)

func TestMain(m *testing.M) {
	testrun.Prepare()
	m.Run()
}

// place is a repository in which hooks are installed.
type place struct {
	t    *testing.T
	repo *git.Repo
	dir  string // of the hooks
}

func newPlace(t *testing.T, bare bool) *place {
	t.Helper()
	p := &place{t: t}
	p.open(testrepo.Init(t, bare))
	return p
}

func (p *place) open(dir string) {
	p.t.Helper()
	repo := testrun.Must(git.Open(p.t.Context(), dir))(p.t)
	p.t.Cleanup(func() { repo.Close() })
	p.repo, p.dir = repo, install.Dir(repo)
}

func (p *place) check(err error) {
	p.t.Helper()
	testrun.Check(p.t, err)
}

func (p *place) install(s install.Setup) {
	p.t.Helper()
	p.check(install.Install(p.t.Context(), p.repo, s))
}

// in is a path in the repository.
func (p *place) in(parts ...string) string {
	return filepath.Join(append([]string{p.repo.CommonDir()}, parts...)...)
}

func (p *place) hook(parts ...string) string {
	return filepath.Join(append([]string{p.dir}, parts...)...)
}

// read returns a file's text, "" for none.
func (p *place) read(path string) string {
	p.t.Helper()
	text, err := os.ReadFile(path)
	if !errors.Is(err, os.ErrNotExist) {
		p.check(err)
	}
	return string(text)
}

func (p *place) write(path, text string) {
	p.t.Helper()
	p.check(os.RemoveAll(path))
	p.check(os.MkdirAll(filepath.Dir(path), 0o755))
	p.check(os.WriteFile(path, []byte(text), 0o755))
}

func (p *place) config() string { return p.read(p.in("config")) }

// says checks what Read reports.
func (p *place) says(want install.Status) {
	p.t.Helper()
	got := testrun.Must(install.Read(p.repo))(p.t)
	want.Dir = p.dir
	if got.On != want.On || got.Files != want.Files || got.Server != want.Server || got.Served != want.Served ||
		got.Program != want.Program || got.Dir != want.Dir || !slices.Equal(got.Overwritten, want.Overwritten) {
		p.t.Errorf("installed: %+v, not %+v", got, want)
	}
}

func (p *place) listed() string {
	p.t.Helper()
	entries := testrun.Must(os.ReadDir(p.dir))(p.t)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

// equal compares texts.
func equal(t *testing.T, what, got, want string) {
	t.Helper()
	testrun.Equal(t, got, want, "%s", what)
}

const agents = "[includeIf \"gitdir:./worktrees/?claim-*\"]\n\tpath = liza/hooks/gitconfig\n[includeIf \"gitdir:./worktrees/?integration*\"]\n\tpath = liza/hooks/gitconfig\n"

// TestInstall checks what is installed for clones and servers, and that nothing of it stays.
func TestInstall(t *testing.T) {
	program := testrun.Must(os.Executable())(t)
	const client = "applypatch-msg commit-msg gitconfig%s post-applypatch post-checkout post-commit post-index-change post-merge post-rewrite pre-applypatch " +
		"pre-auto-gc pre-commit pre-merge-commit pre-push pre-rebase prepare-commit-msg reference-transaction run sendemail-validate"
	for _, c := range []struct {
		name          string
		bare          bool
		setup         install.Setup
		section, list string
	}{
		{"a clone", false, install.Setup{Program: program, Hidden: []string{"integration", "ta\"sk"}},
			agents + "[includeIf \"gitdir:**\"]\n\tpath = liza/hooks/gitconfig-pushes\n", strings.Replace(client, "%s", " gitconfig-pushes", 1)},
		{"one that others push to", false, install.Setup{Served: true}, agents + "# served: other clones push to this one\n", strings.Replace(client, "%s", "", 1)},
		{"a server", true, install.Setup{Program: program, Server: true}, "[include]\n\tpath = liza/hooks/gitconfig\n",
			"gitconfig post-receive post-update pre-auto-gc pre-receive proc-receive proven reference-transaction run update"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlace(t, c.bare)
			before := p.config()
			p.says(install.Status{})
			if restored, err := install.Restore(p.repo); restored != nil || err != nil {
				t.Errorf("restored %v, %v", restored, err)
			}
			for range 2 { // again is an update
				p.install(c.setup)
				p.says(install.Status{On: true, Files: true, Server: c.setup.Server, Served: c.setup.Served, Program: c.setup.Program})
				equal(t, "config", p.config(), before+"# git liza: hooks where agents are; git liza hooks uninstall takes these lines away\n"+c.section+"# git liza: end\n")
				equal(t, "files", p.listed(), c.list)
				if to, err := os.Readlink(p.hook("pre-auto-gc")); (err == nil) != c.setup.Server {
					t.Errorf("pre-auto-gc is a link to %q", to)
				}
			}
			pushes := ""
			if !c.setup.Server && !c.setup.Served {
				pushes = "[receive]\n\thideRefs = \"refs/liza\"\n\thideRefs = \"refs/heads/liza\"\n\thideRefs = \"refs/replace\"\n\thideRefs = \"refs/heads/integration\"\n\thideRefs = \"refs/heads/ta\\\"sk\"\n"
			}
			if asks := strings.Contains(p.read(p.hook("run")), "git config --type=path --get-all core.hooksPath"); asks == c.setup.Server {
				t.Errorf("the run file asks where the project's hooks are: %v", asks)
			}
			equal(t, "pushes", p.read(p.hook("gitconfig-pushes")), pushes)
			settings := "[core]\n\thooksPath = \"" + p.dir + "\"\n"
			if c.setup.Server {
				settings += "\tuseReplaceRefs = false\n[receive]\n\tadvertisePushOptions = true\n\tfsckObjects = true\n\tprocReceiveRefs = refs/liza/inbox\n\tprocReceiveRefs = refs/liza/sequencer\n"
			}
			equal(t, "settings", p.read(p.hook("gitconfig")), settings)
			p.check(os.MkdirAll(p.in("liza", "cache"), 0o755))
			p.check(install.Uninstall(t.Context(), p.repo))
			equal(t, "config", p.config(), before)
			p.says(install.Status{})
			if _, err := os.Stat(p.in("liza", "cache")); (err == nil) == c.bare {
				t.Errorf("what only the hooks of a server use: %v", err)
			}
		})
	}
}

// TestConfigOfOthers checks that the lines around ours stay as they are.
func TestConfigOfOthers(t *testing.T) {
	p := newPlace(t, false)
	p.write(p.in("config"), "")
	p.install(install.Setup{})
	p.check(install.Uninstall(t.Context(), p.repo))
	equal(t, "an empty one", p.config(), "")
	p.install(install.Setup{})
	p.write(p.in("liza"), "")
	for _, err := range []error{install.Install(t.Context(), p.repo, install.Setup{}), install.Uninstall(t.Context(), p.repo)} {
		if !errors.As(err, new(*git.StorageError)) {
			t.Errorf("a file in place of our directory: %v", err)
		}
	}
	p.check(os.Remove(p.in("liza")))
	p.install(install.Setup{})
	p.write(p.in("config"), strings.Replace(p.config(), "# git liza: end\n", "", 1))
	p.write(p.hook("pre-push"), "mine")
	for _, err := range []error{install.Install(t.Context(), p.repo, install.Setup{}), install.Uninstall(t.Context(), p.repo)} {
		if err == nil || !strings.Contains(err.Error(), "put that line behind the settings") {
			t.Errorf("half of our lines: %v", err)
		}
	}
	equal(t, "a hook", p.read(p.hook("pre-push")), "mine")
}

// TestOverwritten checks which changes to the installed files are seen, and repaired.
func TestOverwritten(t *testing.T) {
	program := testrun.Must(os.Executable())(t)
	p := newPlace(t, false)
	p.install(install.Setup{Program: program})
	p.write(p.hook("pre-commit"), "#!/bin/sh\nhusky\n")
	p.check(os.Remove(p.hook("pre-push")))
	p.says(install.Status{On: true, Program: program, Overwritten: []string{"pre-commit", "pre-push"}})
	restored := testrun.Must(install.Restore(p.repo))(p.t)
	equal(t, "restored", strings.Join(restored, " "), "pre-commit pre-push")
	p.says(install.Status{On: true, Files: true, Program: program})
	p.check(os.Mkdir(p.hook("x"), 0o755))
	p.check(os.Remove(p.hook("pre-push")))
	p.check(os.Mkdir(p.hook("pre-push"), 0o755))
	if _, err := install.Restore(p.repo); !errors.As(err, new(*git.StorageError)) {
		t.Errorf("a directory in its place: %v", err)
	}
	p.check(os.Remove(p.hook("pre-push")))
	p.install(install.Setup{Program: program, Hidden: []string{"integration"}})
	p.write(p.hook("gitconfig-pushes"), "[receive]\n")
	p.says(install.Status{On: true, Program: program})
	p.check(os.Remove(p.hook("gitconfig-pushes")))
	p.says(install.Status{On: true, Program: program})
	p.write(p.in("config"), strings.Replace(p.config(), "gitdir:**", "gitdir:no", 1))
	p.says(install.Status{Program: program})

	p = newPlace(t, true)
	p.write(p.in("hooks", "update"), "#!/bin/sh\n")
	p.install(install.Setup{Server: true})
	testrun.Equal(t, testrun.Must(os.Readlink(p.hook("post-receive")))(t), p.in("hooks", "post-receive"), "a hook that the server has not")
	if _, err := os.Readlink(p.hook("update")); err == nil {
		t.Error("the server's own hook is run by git alone")
	}
	for name, to := range map[string]string{"post-receive": p.in("hooks", "other"), "post-update": p.hook("post-update"), "pre-receive": p.in("hooks", "pre-receive")} {
		p.check(os.Remove(p.hook(name)))
		p.check(os.Symlink(to, p.hook(name)))
	}
	p.says(install.Status{On: true, Server: true, Overwritten: []string{"pre-receive", "post-receive", "post-update"}})
}

// TestDamaged checks that damage to the installed files is seen: by a full disk, a power cut, or a
// backup that lost their modes.
func TestDamaged(t *testing.T) {
	for _, server := range []bool{false, true} {
		p := newPlace(t, server)
		p.install(install.Setup{Server: server})
		whole := p.read(p.hook("run"))
		for name, damage := range map[string]func(){
			"an empty run file": func() { p.write(p.hook("run"), "") },
			"one of NULs":       func() { p.write(p.hook("run"), strings.Repeat("\x00", len(whole))) },
			"one cut off":       func() { p.write(p.hook("run"), whole[:1500]) },
			"no files":          func() { p.check(os.RemoveAll(p.dir)) },
		} {
			damage()
			status, err := install.Read(p.repo)
			if p.check(err); !status.On || status.Files || status.Server != server {
				t.Errorf("%s: %+v", name, status)
			}
			p.install(install.Setup{Server: server})
			p.says(install.Status{On: true, Files: true, Server: server})
		}
		for mode, whole := range map[os.FileMode]bool{0o644: false, 0o744: false, 0o755: true, 0o750: true, 0o700: true} { // by umask
			p.check(os.Chmod(p.hook("reference-transaction"), mode))
			status := install.Status{On: true, Files: whole, Server: server}
			if !whole {
				status.Overwritten = []string{"reference-transaction"}
			}
			p.says(status)
		}
	}
}

// TestDamagedServer checks that the hooks of a server let nothing pass if their common file is
// damaged, while those of a clone stop nobody.
func TestDamagedServer(t *testing.T) {
	for _, server := range []bool{false, true} {
		p := newPlace(t, server)
		p.install(install.Setup{Server: server})
		for _, text := range []string{"", strings.Repeat("\x00", 4000), "# Made by git liza hooks install.\n\nname=${0##*/}\n"} {
			p.write(p.hook("run"), text)
			hook := exec.Command(p.hook("reference-transaction"), "prepared")
			said, err := hook.CombinedOutput()
			if (err != nil) != server || strings.Contains(string(said), "liza hooks install --server") != server {
				t.Errorf("server %v, a run file of %d bytes: %v\n%s", server, len(text), err, said)
			}
		}
	}
}

// TestProgram checks which program is reported, and that a repository that was moved has no hooks.
func TestProgram(t *testing.T) {
	p := newPlace(t, false)
	program := p.in("it's", "git-liza")
	p.write(program, "")
	p.install(install.Setup{Program: program})
	p.says(install.Status{On: true, Files: true, Program: program})
	p.check(os.Remove(program))
	p.says(install.Status{On: true, Files: true})
	p.check(os.Mkdir(program, 0o755))
	p.says(install.Status{On: true, Files: true})
	moved := filepath.Join(t.TempDir(), "moved")
	p.check(os.Rename(filepath.Dir(p.repo.CommonDir()), moved))
	p.open(moved)
	p.says(install.Status{On: true})
	p.check(os.Remove(p.hook("run")))
	p.check(os.Mkdir(p.hook("run"), 0o755))
	if _, err := install.Read(p.repo); err == nil {
		t.Error("a directory in place of the run file is no fault")
	}
	p.check(os.RemoveAll(p.hook("run")))
	p.check(os.Remove(p.in("config")))
	if _, err := install.Read(p.repo); err == nil {
		t.Error("a repository without a config is no fault")
	}
}

// TestServersOwnHooks checks where the shim of a server looks for its operator's hooks, and that it does
// not take hooks that were copied along with a server for them.
func TestServersOwnHooks(t *testing.T) {
	for path, want := range map[string]string{"": "project=$common/hooks", "/etc/hooks": "project='/etc/hooks'", "mine": "project='%s/mine'"} {
		p := newPlace(t, true)
		if path != "" {
			p.check(p.repo.Settings().Set(t.Context(), "core.hooksPath", path))
		}
		p.install(install.Setup{Server: true})
		if want = strings.Replace(want, "%s", p.repo.CommonDir(), 1); !strings.Contains(p.read(p.hook("run")), want+"\n") {
			t.Errorf("%q: the run file lacks %s", path, want)
		}
		if path != "" {
			continue
		}
		copied := filepath.Join(t.TempDir(), "copy.git")
		p.check(os.CopyFS(copied, os.DirFS(p.repo.CommonDir())))
		p.open(copied)
		p.says(install.Status{On: true, Server: true})
		p.install(install.Setup{Server: true})
		testrun.Contains(t, p.read(p.hook("run")), want+"\n", "the hooks of a copy are those of the original")
		p.says(install.Status{On: true, Files: true, Server: true})
	}
}

// TestHide checks that the branches that no push moves are kept up to date.
func TestHide(t *testing.T) {
	p := newPlace(t, false)
	p.check(install.Hide(p.repo, []string{"integration"}))
	if _, err := os.Stat(p.dir); err == nil {
		t.Error("there are hooks where none were installed")
	}
	p.install(install.Setup{Hidden: []string{"integration"}})
	file := p.hook("gitconfig-pushes")
	old := time.Now().Add(-time.Hour).Truncate(time.Second)
	p.check(os.Chtimes(file, old, old))
	p.check(install.Hide(p.repo, []string{"integration"}))
	if info, err := os.Stat(file); err != nil || !info.ModTime().Equal(old) {
		t.Errorf("it was written again: %v", err)
	}
	p.check(install.Hide(p.repo, []string{"trunk"}))
	if text := p.read(file); !strings.HasSuffix(text, "\thideRefs = \"refs/heads/trunk\"\n") || strings.Contains(text, "integration") {
		t.Error(text)
	}
	p.check(os.Remove(file))
	p.check(os.Mkdir(file, 0o755))
	if err := install.Hide(p.repo, []string{"trunk"}); !errors.As(err, new(*git.StorageError)) {
		t.Errorf("a directory in its place: %v", err)
	}
}

// TestSequences checks which servers show that they move refs themselves.
func TestSequences(t *testing.T) {
	p := newPlace(t, true)
	shown := func() bool {
		t.Helper()
		at := testrun.Must(p.repo.Ref(t.Context(), parcel.Ref))(p.t)
		return !at.IsZero()
	}
	server := install.Setup{Server: true}
	for _, c := range []struct {
		do   func()
		show bool
		why  string
	}{
		{func() {}, true, ""},
		{func() { p.write(p.in("hooks", "update"), "#!/bin/sh\n") }, false, "the server has its own hook update"},
		{func() { p.check(os.Chmod(p.in("hooks", "update"), 0o644)) }, true, ""},
		{func() { p.check(p.repo.Settings().Set(t.Context(), "receive.denyDeletes", "true")) }, false, "the server sets receive.denydeletes"},
		{func() { p.check(p.repo.Settings().Set(t.Context(), "receive.denyDeletes", "false")) }, true, ""},
	} {
		c.do()
		p.install(server)
		why := testrun.Must(install.Sequences(t.Context(), p.repo, p.in("hooks")))(p.t)
		if why != c.why || shown() != c.show {
			t.Errorf("%q, not %q; it is shown: %v", why, c.why, shown())
		}
	}
	p.check(install.Uninstall(t.Context(), p.repo))
	if shown() {
		t.Error("it is shown after the hooks are gone")
	}
	clone := newPlace(t, false)
	if why, err := install.Sequences(t.Context(), clone.repo, ""); why != "the repository has a worktree" || err != nil {
		t.Errorf("%q, %v", why, err)
	}
}

// TestInterruptedInstall interrupts each place that uses git: whoever installs or uninstalls hears
// of it.
func TestInterruptedInstall(t *testing.T) {
	p := newPlace(t, true)
	server := install.Setup{Server: true}
	own := p.in("hooks", "update")
	for _, c := range []struct {
		name string
		do   func()
		call func(context.Context) error
	}{
		{"a server", func() { p.check(os.RemoveAll(own)) }, func(ctx context.Context) error { return install.Install(ctx, p.repo, server) }},
		{"one with a hook of its own", func() { p.write(own, "#!/bin/sh\n") }, func(ctx context.Context) error { return install.Install(ctx, p.repo, server) }},
		{"the end", func() {}, func(ctx context.Context) error { return install.Uninstall(ctx, p.repo) }},
	} {
		attempt := func(place string) ([]string, error) {
			p.install(server)
			c.do()
			p.open(p.repo.CommonDir()) // one that has read nothing yet
			ctx := testrepo.InterruptedIn(t.Context(), "github.com/git-liza/git-liza/hooks/install", place)
			err := c.call(ctx)
			return ctx.Places(), err
		}
		places := testrun.Must(attempt(""))(p.t)
		if len(places) == 0 {
			t.Errorf("%s: no place uses git", c.name)
		}
		for _, place := range places {
			if _, err := attempt(place); err == nil {
				t.Errorf("%s, interrupted at %s: that is no error", c.name, place)
			}
		}
	}
}

// TestKept checks what a server keeps for its shim.
func TestKept(t *testing.T) {
	p := newPlace(t, true)
	now := time.Now()
	install.KeepProven(p.repo, now, "a", "x\n")
	install.KeepIntegration(p.repo, "s", "refs/heads/integration")
	if _, err := os.Stat(p.dir); err == nil {
		t.Error("it is kept where no hooks are")
	}
	p.install(install.Setup{Server: true})
	for commit, at := range map[plumbing.OID]time.Time{"old": now.Add(-2 * time.Minute), "young": now.Add(-time.Second)} {
		install.KeepProven(p.repo, now, commit, string(commit)+"\n")
		p.check(os.Chtimes(p.hook("proven", string(commit)), at, at))
	}
	install.KeepProven(p.repo, now, "new", "new\n")
	equal(t, "proven", p.read(p.hook("proven", "old"))+p.read(p.hook("proven", "young"))+p.read(p.hook("proven", "new")), "young\nnew\n")

	note := p.hook("integration")
	install.KeepIntegration(p.repo, "s", "refs/heads/integration")
	equal(t, "integration", p.read(note), "s\nrefs/heads/integration\n")
	old := now.Add(-time.Hour).Truncate(time.Second)
	p.check(os.Chtimes(note, old, old))
	install.KeepIntegration(p.repo, "s", "refs/heads/integration")
	if info, err := os.Stat(note); err != nil || !info.ModTime().Equal(old) {
		t.Errorf("it was written again: %v", err)
	}
	install.KeepIntegration(p.repo, "t", "refs/heads/trunk")
	equal(t, "integration", p.read(note), "t\nrefs/heads/trunk\n")
}

// TestHooked checks the environment in which git runs the hooks for an agent.
func TestHooked(t *testing.T) {
	p := newPlace(t, false)
	environ := []string{gitenv.ParametersVar + "='x.y=z'", "A=b"}
	equal(t, "not installed", strings.Join(install.Hooked(p.repo, environ), " "), strings.Join(environ, " "))
	p.install(install.Setup{})
	got := install.Hooked(p.repo, environ)
	if len(got) != 2 || got[0] != "A=b" || !strings.HasPrefix(got[1], environ[0]+" ") || !strings.Contains(got[1], p.hook("gitconfig")) {
		t.Errorf("%q", got)
	}
	if value, on := install.Environ(p.repo, ""); !on || !strings.HasSuffix(got[1], value) {
		t.Errorf("%v %q", on, value)
	}
}
