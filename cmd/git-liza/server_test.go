package main

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

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
