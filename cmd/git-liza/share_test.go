//go:build linux

package main

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// A fleet is a set of clones of one project that share its board by a bare remote.
type fleet struct {
	t      *testing.T
	hub    string
	clones []*project
}

// newFleet makes a project, and shares it by a hub with the server's lock on.
func newFleet(t *testing.T) *fleet {
	t.Helper()
	first := prepared(t, "fleet", t.TempDir(), func(p *project) {
		p.founded()
		hub := hubOf(p)
		p.git("init", "-q", "--bare", "-b", "main", hub)
		p.must("", "-C", hub, "hooks", "install", "--server")
		newFleetAt(p, 1, hub, hub)
	})
	return &fleet{t: t, hub: hubOf(first), clones: []*project{first}}
}

// hubOf is the hub that lies in the same directory as a project.
func hubOf(p *project) string { return filepath.Join(filepath.Dir(p.dir), "hub.git") }

// bareHub makes a bare repository for a project.
func bareHub(p *project) string {
	p.t.Helper()
	hub := filepath.Join(p.t.TempDir(), "hub.git")
	p.git("init", "-q", "--bare", "-b", "main", hub)
	return hub
}

// newFleetAt is newFleet for an existing project and hub, which it clones by a URL until there are n
// clones.
func newFleetAt(first *project, n int, hub, url string) *fleet {
	t := first.t
	t.Helper()
	f := &fleet{t: t, hub: hub, clones: []*project{first}}
	first.git("remote", "add", "origin", url)
	first.git("push", "-q", "origin", "main")
	first.must("", "share", "origin")
	for i := 1; i < n; i++ {
		p := &project{t: t, dir: filepath.Join(t.TempDir(), fmt.Sprintf("clone %d", i)), env: first.env}
		first.git("clone", "-q", url, p.dir)
		p.must("", "init")
		f.clones = append(f.clones, p)
	}
	return f
}

// agrees ends a test: all clones end with the same board and the same integration, both verify, and
// each task was claimed once.
func (f *fleet) agrees(tasks int) {
	f.t.Helper()
	where := func(p *project) string { return p.git("rev-parse", "liza/state", "integration") }
	for _, p := range f.clones {
		p.must("", "sync")
	}
	at := where(f.clones[0])
	for _, p := range f.clones {
		if got := where(p); got != at {
			f.t.Errorf("%s is at\n%sand the first clone at\n%s", p.dir, got, at)
		}
		p.proven()
		p.must("", "doctor")
	}
	p := f.clones[0]
	claims := strings.Fields(p.git("log", "--format=%(trailers:key=Liza-Task,valueonly,separator=)", "--grep=^Liza-Op: claim$", "liza/state"))
	slices.Sort(claims)
	if len(slices.Compact(slices.Clone(claims))) != len(claims) || len(claims) != tasks {
		f.t.Errorf("%d tasks, and these claims: %v", tasks, claims)
	}
	if out, errs, code := p.run("", "git", "--git-dir="+f.hub, "fsck", "--full"); code != 0 {
		f.t.Errorf("the hub: %s%s", out, errs)
	}
}

// quietly is the environment of a server's git, without any of the user's settings.
func quietly() []string {
	return append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
}

const (
	account  = "ann"
	password = "open sesame"
)

// serveHTTP serves the repositories below a directory by git's own server program to clients with
// the password.
func serveHTTP(t *testing.T, root string) *httptest.Server {
	t.Helper()
	exe := testrun.Must(exec.Command("git", "--exec-path").Output())(t)
	backend := &cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(string(exe)), "git-http-backend"), Stderr: io.Discard,
		Env: append(quietly(), "GIT_PROJECT_ROOT="+root, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER="+account),
	}
	if _, err := os.Stat(backend.Path); err != nil {
		t.Skipf("git has no http-backend here: %v", err)
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, word, ok := r.BasicAuth(); !ok || user != account || word != password {
			w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		backend.ServeHTTP(w, r)
	}))
	server.Config.ErrorLog = nil
	server.Start()
	t.Cleanup(server.Close)
	return server
}

// sshKey makes a key, and writes it to path.
func sshKey(t *testing.T, path string) ssh.Signer {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	testrun.Check(t, err)
	signer := testrun.Must(ssh.NewSignerFromKey(key))(t)
	block := testrun.Must(ssh.MarshalPrivateKey(key, ""))(t)
	testrun.Check(t, os.WriteFile(path, pem.EncodeToMemory(block), 0o600))
	return signer
}

// authorized is the line of a public key.
func authorized(key ssh.Signer) string { return string(ssh.MarshalAuthorizedKey(key.PublicKey())) }

// listen passes each connection to serve, which need not close it, until the test ends.
func listen(t *testing.T, serve func(net.Conn)) net.Listener {
	t.Helper()
	listener := testrun.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				serve(c)
			}()
		}
	}()
	return listener
}

// TestUnfitRemotes: share finds a remote that does not accept everything a board needs before
// anything is shared, and says why in one sentence; a clone that joins is warned.
func TestUnfitRemotes(t *testing.T) {
	testrun.LongOnly(t)
	t.Parallel()
	const byHook = "#!/bin/sh\nzero=0000000000000000000000000000000000000000\nwhile read -r old new ref; do\n%\ndone\n"
	for name, c := range map[string]struct{ hook, config, branch, says string }{
		"only other branches":  {hook: `case "$ref" in refs/heads/liza/*) echo "not here"; exit 1;; refs/heads/*|refs/tags/*) ;; *) echo "only heads and tags"; exit 1;; esac`, says: "origin does not accept refs below refs/liza: remote: only heads and tags"},
		"nothing is replaced":  {hook: `[ "$old" = $zero ] || [ "$new" = $zero ] || { echo "no rewinding"; exit 1; }`, says: "origin does not let a ref below refs/liza be replaced, as each heartbeat does: remote: no rewinding"},
		"nothing is deleted":   {hook: `case "$new $ref" in $zero*|*" refs/heads/liza/"*) echo "nothing is deleted"; exit 1; esac`, says: "origin does not let a ref below refs/liza be deleted: remote: nothing is deleted"},
		"hidden refs":          {config: "receive.hideRefs=refs/liza refs/heads/liza", says: "origin does not accept refs below refs/liza: [remote rejected] (deny updating a hidden ref)"},
		"a branch called liza": {branch: "liza", says: "origin has a branch liza, and git keeps no branches below a branch: a board needs liza/…"},
		"pushed elsewhere":     {says: "a ref pushed to origin can't be read back immediately: pushes go to another address (pushurl), or reads are served by a copy that lags behind"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t)
			hub := filepath.Join(t.TempDir(), "hub.git")
			p.git("init", "-q", "--bare", "-b", "main", hub)
			p.git("remote", "add", "origin", hub)
			p.git("push", "-q", "origin", "main")
			elsewhere := ""
			if c.branch != "" {
				p.git("push", "-q", "origin", "main:refs/heads/"+c.branch)
			}
			switch {
			case c.hook != "":
				testrun.Check(t, testrun.WriteProgram(filepath.Join(hub, "hooks", "pre-receive"), strings.Replace(byHook, "%", c.hook, 1)))
			case c.config != "":
				key, value, _ := strings.Cut(c.config, "=")
				for _, value := range strings.Fields(value) {
					p.git("--git-dir="+hub, "config", "--add", key, value)
				}
			case c.branch == "":
				elsewhere = filepath.Join(t.TempDir(), "other.git")
				p.git("clone", "-q", "--bare", hub, elsewhere)
				p.git("config", "remote.origin.pushurl", elsewhere)
			}
			was := p.git("config", "--local", "--list")
			out, errs, code := p.liza("", "share", "origin")
			if code != 1 || out != "" || !strings.HasPrefix(errs, "git liza: "+c.says+"\nhint: ") {
				t.Errorf("exit %d\n%s%s", code, out, errs)
			}
			left := strings.Fields(p.git("--git-dir="+hub, "for-each-ref", "--format=%(refname)", "refs/heads/liza/", "refs/liza"))
			if elsewhere != "" {
				left = append(left, strings.Fields(p.git("--git-dir="+elsewhere, "for-each-ref", "--format=%(refname)", "refs/liza"))...)
			}
			left = slices.DeleteFunc(left, func(ref string) bool { return ref == "refs/heads/"+c.branch })
			if len(left) > 0 && name != "nothing is deleted" {
				t.Errorf("something was shared, or a probe is left:\n%s", left)
			}
			if now := p.git("config", "--local", "--list"); now != was {
				t.Errorf("the settings were\n%s\nand are\n%s", was, now)
			}
			p.proven()
		})
	}
}
