package main

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
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
func serveHTTP(t *testing.T, root string, secure bool) *httptest.Server {
	t.Helper()
	exe, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		t.Fatal(err)
	}
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
	if secure {
		server.StartTLS()
	} else {
		server.Start()
	}
	t.Cleanup(server.Close)
	return server
}

// certificate writes the certificate that a client must trust to a file.
func certificate(t *testing.T, server *httptest.Server) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ca.pem")
	block := &pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}
	if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// A sshServer runs git's server programs for clients that have the key.
type sshServer struct {
	address string // 127.0.0.1:port
	command string // the ssh of a client that has the key and knows the server
	strange string // the ssh of a client whose key the server does not know
}

// serveSSH starts a sshServer. It needs ssh in PATH.
func serveSSH(t *testing.T) *sshServer {
	t.Helper()
	if _, err := exec.LookPath("ssh"); err != nil {
		t.Skip("there is no ssh client here")
	}
	dir := t.TempDir()
	user, host := sshKey(t, filepath.Join(dir, "key")), sshKey(t, "")
	sshKey(t, filepath.Join(dir, "strange"))
	known := string(user.PublicKey().Marshal())
	config := &ssh.ServerConfig{PublicKeyCallback: func(_ ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
		if string(key.Marshal()) != known {
			return nil, errors.New("who are you?")
		}
		return nil, nil
	}}
	config.AddHostKey(host)
	listener := listen(t, func(c net.Conn) { serveConn(c, config) })
	s := &sshServer{address: listener.Addr().String()}
	_, port, err := net.SplitHostPort(s.address)
	if err != nil {
		t.Fatal(err)
	}
	line := fmt.Sprintf("[127.0.0.1]:%s %s", port, authorized(host))
	if err := os.WriteFile(filepath.Join(dir, "known_hosts"), []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	common := "ssh -F none -o KexAlgorithms=curve25519-sha256 -o IdentitiesOnly=yes -o IdentityAgent=none -o GlobalKnownHostsFile=/dev/null -o UserKnownHostsFile='" + filepath.Join(dir, "known_hosts") + "' -i '"
	s.command, s.strange = common+filepath.Join(dir, "key")+"'", common+filepath.Join(dir, "strange")+"'"
	return s
}

// sshKey makes a key, and writes it to path unless that is empty.
func sshKey(t *testing.T, path string) ssh.Signer {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(key)
	if err != nil {
		t.Fatal(err)
	}
	if path != "" {
		block, err := ssh.MarshalPrivateKey(key, "")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return signer
}

// authorized is the line of a public key.
func authorized(key ssh.Signer) string { return string(ssh.MarshalAuthorizedKey(key.PublicKey())) }

// listen passes each connection to serve, which need not close it, until the test ends.
func listen(t *testing.T, serve func(net.Conn)) net.Listener {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
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

func serveConn(c net.Conn, config *ssh.ServerConfig) {
	conn, channels, requests, err := ssh.NewServerConn(c, config)
	if err != nil {
		return
	}
	defer conn.Close()
	go ssh.DiscardRequests(requests)
	for offered := range channels {
		if offered.ChannelType() != "session" {
			_ = offered.Reject(ssh.UnknownChannelType, "sessions only")
			continue
		}
		channel, requests, err := offered.Accept()
		if err != nil {
			return
		}
		go serveSession(channel, requests)
	}
}

// serveSession runs the requested command if it is one of git's server programs.
func serveSession(channel ssh.Channel, requests <-chan *ssh.Request) {
	defer channel.Close()
	env := quietly()
	for r := range requests {
		var ask struct{ Command string }
		var set struct{ Name, Value string }
		switch {
		case r.Type == "env" && ssh.Unmarshal(r.Payload, &set) == nil && set.Name == "GIT_PROTOCOL":
			env = append(env, "GIT_PROTOCOL="+set.Value)
			_ = r.Reply(true, nil)
			continue
		case r.Type != "exec" || ssh.Unmarshal(r.Payload, &ask) != nil || !served(ask.Command):
			_ = r.Reply(false, nil)
			continue
		}
		_ = r.Reply(true, nil)
		cmd := exec.Command("sh", "-c", ask.Command)
		cmd.Env, cmd.Stdout, cmd.Stderr = env, channel, channel.Stderr()
		in, err := cmd.StdinPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err == nil {
			go func() {
				_, _ = io.Copy(in, channel)
				in.Close()
			}()
			_ = cmd.Wait()
		}
		_, _ = channel.SendRequest("exit-status", false, ssh.Marshal(struct{ Code uint32 }{uint32(cmd.ProcessState.ExitCode())}))
		return
	}
}

func served(command string) bool {
	program, _, _ := strings.Cut(command, " ")
	return program == "git-upload-pack" || program == "git-receive-pack" || program == "git-upload-archive"
}
