//go:build linux

package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// onlyBranches is the update hook of a host that accepts only branches, and lets them only grow.
const onlyBranches = `#!/bin/sh
case $1 in refs/heads/*) ;; *) echo "only branches" >&2; exit 1 ;; esac
case $2 in *[!0]*) ;; *) exit 0 ;; esac
git merge-base --is-ancestor $2 $3 || { echo "branches only grow" >&2; exit 1; }
`

// TestOnlyBranches: two clones share a board by a host that accepts only branches that grow. Of two
// claims one wins; the other clone takes the task over when the lease has expired, its rewritten
// second submission is merged, and the board verifies. The host is a hook that does what gitolite does, or
// gitolite itself.
func TestOnlyBranches(t *testing.T) {
	testrun.LongOnly(t)
	t.Parallel()
	t.Run("an update hook", func(t *testing.T) {
		t.Parallel()
		h := newHost(t)
		h.bare()
		testrun.Check(t, testrun.WriteProgram(filepath.Join(h.hub, "hooks", "update"), onlyBranches))
		h.url = h.hub
		h.must("", "-C", h.hub, "hooks", "install", "--server")
		newFleetAt(h.project, 2, h.hub, h.url).lapse()
		h.must("", "-C", h.hub, "doctor")
		h.forgesLeases()
		h.hasOnlyBranches()
	})
	t.Run("gitolite's RW", func(t *testing.T) {
		t.Parallel()
		h := newHost(t)
		serveGitolite(h)
		f := newFleetAt(h.project, 2, h.hub, h.url)
		f.lapse()
		h.hasOnlyBranches()
		for _, p := range f.clones {
			p.hangsUp()
		}
	})
}

// hasOnlyBranches looks for the board's refs below liza, and for none in their usual place.
func (h *host) hasOnlyBranches() {
	h.t.Helper()
	refs := h.git("--git-dir="+h.hub, "for-each-ref", "--format=%(refname)")
	for _, want := range []string{"state", "home", "leases/coder-2", "review/only/2", "task/only"} {
		if !strings.Contains(refs, "refs/heads/liza/"+want+"\n") {
			h.t.Errorf("the host lacks liza/%s:\n%s", want, refs)
		}
	}
	if strings.Contains(strings.ReplaceAll(refs, "refs/liza/probe/", ""), "refs/liza/") {
		h.t.Errorf("the host has\n%s", refs)
	}
}

// forgesLeases pushes what the lock refuses as a lease, as the branch of one.
func (h *host) forgesLeases() {
	h.t.Helper()
	h.write("forever", `{"agent":"merge","session":"mine","expires":"9999-01-01T00:00:00Z","heartbeat":"2026-01-01T00:00:00Z"}`)
	h.write("entry", "100644 blob "+strings.TrimSpace(h.git("hash-object", "-w", "forever"))+"\tvalue\n")
	out, errs, code := h.run("", "sh", "-c", `o=$(git hash-object forever) && t=$(git mktree <entry) && git push origin main:refs/heads/liza/leases/merge
		c=$(printf "A ref of git liza's board, on a host that accepts only branches that grow\n\nLiza-Carries: $o\n" | git commit-tree $t) && git push origin $c:refs/heads/liza/leases/merge`)
	for _, want := range []string{"the object pushed to refs/liza/leases/merge is not a lease of it", "longer than a lease may"} {
		if code == 0 || !strings.Contains(errs, want) {
			h.t.Errorf("exit %d\n%s%s", code, out, errs)
		}
	}
}

// lapse takes the only task through a lost lease and two submissions.
func (f *fleet) lapse() {
	f.t.Helper()
	f.addOnly()
	winner := f.claimsAtOnce()
	coder, its, other := coders[1-winner], f.clones[1-winner], f.clones[winner]
	for _, p := range f.clones {
		p.at(time.Now().Add(time.Hour))
	}
	testrun.Contains(f.t, its.must(coder, "claim", "only"), "after an expired lease", "the task is claimed with")
	f.submits(coder, its, "commit", "first")
	other.must("code-reviewer-1", "claim-review", "only")
	other.must("code-reviewer-1", "verdict", "only", "REJECTED", "--commit", "refs/liza/remotes/origin/task/only",
		"--blocker", "only:1|too short|nobody reads it|write more", "--overall", "not yet", "--spec", "n/a", "--anomaly", "none")
	its.must(coder, "claim", "only")
	f.submits(coder, its, "commit --amend", "done")
	f.lands(its, other)
	for _, p := range f.clones {
		p.proven()
		p.must("", "doctor")
	}
}

// A host is a server that a test starts, and the first project, whose environment reaches it.
type host struct {
	*project
	dir      string // for the server's files
	hub, url string
}

// newHost makes the first project of a server's users.
func newHost(t *testing.T) *host {
	t.Helper()
	return &host{project: newProject(t), dir: t.TempDir()}
}

// hangsUp ends the connection that ssh has kept for a clone.
func (p *project) hangsUp() {
	p.t.Helper()
	p.liza("", "sync") // an unused connection is not kept for long
	kept, _ := filepath.Glob(filepath.Join(p.dir, ".git", "liza", "ssh-*"))
	if len(kept) != 1 {
		p.t.Fatalf("%d connections are kept, not one", len(kept))
	}
	if _, errs, code := p.run("", "ssh", "-O", "exit", "-o", "ControlPath=.git/liza/"+filepath.Base(kept[0]), "host"); code != 0 {
		p.t.Error(errs)
	}
}

// coders are the coders of a fleet's two clones.
var coders = [2]string{"coder-1", "coder-2"}

// claimsAtOnce lets both clones claim the only task at once, and returns the clone that has it.
func (f *fleet) claimsAtOnce() (winner int) {
	f.t.Helper()
	var codes [2]int
	var group sync.WaitGroup
	for i, p := range f.clones {
		group.Go(func() { _, _, codes[i] = p.liza(coders[i], "claim", "only") })
	}
	group.Wait()
	if codes != [2]int{0, 1} && codes != [2]int{1, 0} {
		f.t.Fatalf("two claims of one task: exit codes %v", codes)
	}
	return slices.Index(codes[:], 0)
}

// program finds a program of a server, or skips the test.
func (h *host) program(name string, elsewhere ...string) string {
	h.t.Helper()
	for _, path := range append([]string{name}, elsewhere...) {
		if path, err := exec.LookPath(path); err == nil {
			return path
		}
	}
	h.t.Skipf("%s is not installed", name)
	return ""
}

// file writes a file of the server.
func (h *host) file(name, text string, mode os.FileMode) string {
	h.t.Helper()
	path := filepath.Join(h.dir, name)
	testrun.Check(h.t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), mode)))
	return path
}

// runs starts a server that ends with the test, and waits until it listens.
func (h *host) runs(network, address, name string, args ...string) {
	h.t.Helper()
	log := testrun.Must(os.Create(filepath.Join(h.dir, filepath.Base(name)+".log")))(h.t)
	defer log.Close()
	cmd := exec.Command(name, args...)
	cmd.Env, cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = quietly(), log, log, &syscall.SysProcAttr{Setpgid: true}
	testrun.Check(h.t, cmd.Start())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait()
	}()
	h.t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
		<-ended
	})
	for deadline := time.Now().Add(longest); ; {
		if c, err := net.Dial(network, address); err == nil {
			c.Close()
			return
		}
		select {
		case <-ended:
			said, _ := os.ReadFile(log.Name())
			h.t.Fatalf("%s ends: %s", name, said)
		case <-time.After(10 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			h.t.Fatalf("%s does not listen", name)
		}
	}
}

// bare makes the repository of a host.
func (h *host) bare() {
	h.hub = filepath.Join(h.dir, "hub.git")
	h.git("init", "-q", "--bare", "-b", "main", h.hub)
}

// serveGitolite serves a repository by gitolite, which runs behind sshd, to somebody who may extend
// branches.
func serveGitolite(h *host) {
	gitolite, home := h.program("gitolite"), filepath.Join(h.dir, "home")
	testrun.Check(h.t, os.Mkdir(home, 0o755))
	key := h.serveSSHD(home)
	administers := func(args ...string) {
		h.t.Helper()
		cmd := exec.Command(gitolite, args...)
		cmd.Env = append(quietly(), "HOME="+home, "USER=git")
		if out, err := cmd.CombinedOutput(); err != nil {
			h.t.Fatalf("gitolite %s: %v\n%s", args[0], err, out)
		}
	}
	administers("setup", "-pk", h.file("ann.pub", key, 0o644))
	const rules = "repo gitolite-admin\n\tRW+ = ann\nrepo board\n\tRW = ann\n"
	testrun.Check(h.t, os.WriteFile(filepath.Join(home, ".gitolite", "conf", "gitolite.conf"), []byte(rules), 0o644))
	administers("compile")
	administers("trigger", "POST_COMPILE")
	keys := testrun.Must(os.ReadFile(filepath.Join(home, ".ssh", "authorized_keys")))(h.t)
	h.file("authorized_keys", string(keys), 0o600)
	h.hub = filepath.Join(home, "repositories", "board.git")
	h.url += "/board"
}

// serveSSHD starts sshd for the account that runs the test, with home in place of its home unless
// that is empty. The project's ssh reaches it with the key that is returned, which the caller
// authorizes.
func (h *host) serveSSHD(home string) (key string) {
	sshd := h.program("sshd", "/usr/sbin/sshd")
	if os.Getuid() == 0 {
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil { // as its service does
			h.t.Skip(err)
		}
	}
	account := testrun.Must(user.Current())(h.t)
	hostKey, userKey := sshKey(h.t, filepath.Join(h.dir, "host")), sshKey(h.t, filepath.Join(h.dir, "key"))
	port := testrun.FreePort(h.t)
	env := []string{"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "PATH=" + os.Getenv("PATH")}
	if home != "" {
		env = append(env, "HOME="+home)
	}
	h.runs("tcp", "127.0.0.1:"+port, sshd, "-D", "-e", "-f", h.file("sshd_config", strings.Join([]string{
		"ListenAddress 127.0.0.1:" + port, "HostKey " + filepath.Join(h.dir, "host"), "PidFile none", "UsePAM no", "StrictModes no",
		"PermitRootLogin prohibit-password", "PasswordAuthentication no", "KbdInteractiveAuthentication no", "AcceptEnv GIT_PROTOCOL", "LogLevel VERBOSE",
		"AuthorizedKeysFile " + filepath.Join(h.dir, "authorized_keys"), "SetEnv " + strings.Join(env, " "),
	}, "\n")+"\n", 0o644))
	h.file("known_hosts", fmt.Sprintf("[127.0.0.1]:%s %s", port, authorized(hostKey)), 0o600)
	h.useSSH()
	h.url = "ssh://" + account.Username + "@127.0.0.1:" + port
	return authorized(userKey)
}

// useSSH has the project use ssh with the key and the hosts in the server's directory.
func (h *host) useSSH() {
	client := h.program("ssh")
	config := h.file("ssh_config", "KexAlgorithms curve25519-sha256\nIdentitiesOnly yes\nIdentityAgent none\nGlobalKnownHostsFile /dev/null\nUserKnownHostsFile "+filepath.Join(h.dir, "known_hosts")+
		"\nIdentityFile "+filepath.Join(h.dir, "key")+"\n", 0o644)
	h.file("bin/ssh", "#!/bin/sh\nexec "+client+" -F "+config+" \"$@\"\n", 0o755)
	h.env = append(h.env[:len(h.env):len(h.env)], "PATH="+filepath.Join(h.dir, "bin")+":"+os.Getenv("PATH"))
}
