//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestGitea: two clones share a board by Gitea. A raced task goes to one clone, which finishes it,
// and leases have the place that needs no branch. By http with the server's lock beside Gitea's own
// hooks, a forged board is refused, and so is a push for a reason of Gitea, which is shown; by ssh
// without a lock the forgery is found. LIZA_GITEA is the program, beside its sources (.ci/gitea).
func TestGitea(t *testing.T) {
	t.Parallel()
	if os.Getenv("LIZA_GITEA") == "" {
		t.Skip("LIZA_GITEA names no program: .ci/gitea builds one")
	}
	g := startGitea(t)
	t.Run("http", func(t *testing.T) {
		t.Parallel()
		h := g.serves(t, "by-http")
		h.env = append(h.env[:len(h.env):len(h.env)], settings(credentials(t, password)...)...)
		h.url = g.address + h.url
		h.must("", "-C", h.hub, "hooks", "install", "--server")
		f := newFleetAt(h.project, 2, h.hub, h.url)
		f.race()
		h.leases()
		f.forges(true)
		g.asks(t, "repos/"+account+"/by-http/branch_protections",
			map[string]any{"rule_name": "liza/state", "enable_push": false})
		_, errs, code := h.liza("", "note", "hello")
		if code != 3 || !strings.Contains(errs, "Not allowed to push to protected branch liza/state") {
			t.Errorf("a note to a protected board: exit %d\n%s", code, errs)
		}
		f.agrees(1)
	})
	t.Run("ssh", func(t *testing.T) {
		t.Parallel()
		h := g.serves(t, "by-ssh")
		g.asks(t, "user/keys", map[string]any{"title": "key", "key": authorized(sshKey(t, filepath.Join(h.dir, "key")))})
		h.useSSH("StrictHostKeyChecking accept-new\n")
		h.url = "ssh://git@127.0.0.1:" + g.sshPort + "/" + h.url
		f := newFleetAt(h.project, 2, h.hub, h.url)
		f.race()
		h.leases()
		f.forges(false)
		for _, p := range f.clones {
			p.hangsUp()
		}
	})
}

// leases looks for the first coder's lease, which stays in its place when it ends.
func (h *host) leases() {
	h.t.Helper()
	refs := h.git("--git-dir="+h.hub, "for-each-ref", "--format=%(refname)")
	if !strings.Contains(refs, "refs/liza/leases/coder-1\n") {
		h.t.Errorf("the host has no lease among\n%s", refs)
	}
}

// A gitea is a server of repositories that people own.
type gitea struct {
	*host            // its process and its files
	address, sshPort string
}

// startGitea starts Gitea with one account.
func startGitea(t *testing.T) *gitea {
	t.Helper()
	runs, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	program, port := os.Getenv("LIZA_GITEA"), testrun.FreePort(t)
	g := &gitea{
		host:    &host{project: &project{t: t}, dir: t.TempDir()},
		address: "http://127.0.0.1:" + port + "/", sshPort: testrun.FreePort(t),
	}
	// Gitea writes git's global settings. In place of /dev/null, which servers of tests have for
	// them, git would put a file.
	g.own = []string{"HOME=" + g.dir, "GIT_CONFIG_GLOBAL=" + g.file("gitconfig", "", 0o600)}
	config := g.file("gitea.ini", strings.NewReplacer(
		"@dir", g.dir, "@user", runs.Username, "@sources", filepath.Dir(program), "@address", g.address, "@port", port, "@ssh", g.sshPort).Replace(giteaConfig), 0o600)
	for _, args := range [][]string{
		{"migrate"},
		{"admin", "user", "create", "--username", account, "--password", password, "--email", "ann@example.org",
			"--must-change-password=false"},
	} {
		cmd := exec.Command(program, append(args, "--config", config)...)
		cmd.Env = append(quietly(), g.own...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("gitea %s: %v\n%s", args[0], err, out)
		}
	}
	t.Cleanup(func() {
		if said, err := os.ReadFile(filepath.Join(g.dir, "gitea.log")); err == nil && t.Failed() {
			t.Logf("Gitea says:\n%s", said)
		}
	})
	g.runs("tcp", "127.0.0.1:"+port, program, "web", "--config", config)
	return g
}

// serves makes an empty repository of the account, for a new project. Its url is that below an
// address of Gitea.
func (g *gitea) serves(t *testing.T, name string) *host {
	t.Helper()
	g.asks(t, "user/repos", map[string]any{"name": name, "private": true})
	return &host{
		project: newProject(t), dir: t.TempDir(),
		hub: filepath.Join(g.dir, "repositories", account, name+".git"), url: account + "/" + name + ".git",
	}
}

// asks posts to Gitea's API in the account's name.
func (g *gitea) asks(t *testing.T, path string, what map[string]any) {
	t.Helper()
	text, err := json.Marshal(what)
	if err != nil {
		t.Fatal(err)
	}
	url := g.address + "api/v1/" + path
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	request.SetBasicAuth(account, password)
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusCreated {
		t.Fatalf("%s: %s", path, answer.Status)
	}
}

const giteaConfig = `RUN_USER = @user
RUN_MODE = prod
WORK_PATH = @dir/gitea
I_AM_BEING_UNSAFE_RUNNING_AS_ROOT = true
[server]
HTTP_ADDR = 127.0.0.1
HTTP_PORT = @port
ROOT_URL = @address
LOCAL_ROOT_URL = @address
STATIC_ROOT_PATH = @sources
START_SSH_SERVER = true
BUILTIN_SSH_SERVER_USER = git
SSH_LISTEN_HOST = 127.0.0.1
SSH_LISTEN_PORT = @ssh
LFS_START_SERVER = false
OFFLINE_MODE = true
[database]
DB_TYPE = sqlite3
PATH = @dir/gitea.db
SQLITE_TIMEOUT = 60000
SQLITE_JOURNAL_MODE = WAL
[repository]
ROOT = @dir/repositories
[security]
INSTALL_LOCK = true
SECRET_KEY = of-this-test
PASSWORD_COMPLEXITY = off
PASSWORD_HASH_ALGO = pbkdf2$1$10
[cron]
ENABLED = false
[actions]
ENABLED = false
[indexer]
ISSUE_INDEXER_TYPE = db
[log]
MODE = console
LEVEL = Warn
`
