package cli

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"encoding/pem"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/signing"
	"github.com/git-liza/git-liza/gitboard/sshsig"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// sshAgent serves keys on a socket as ssh-agent does.
func sshAgent(t *testing.T, keys ...any) (socket string) {
	t.Helper()
	ring := agent.NewKeyring()
	for _, k := range keys {
		testrun.Check(t, ring.Add(agent.AddedKey{PrivateKey: k}))
	}
	return serve(t, ring)
}

// serve serves an agent on a socket.
func serve(t *testing.T, ring agent.Agent) (socket string) {
	t.Helper()
	dir := testrun.Must(os.MkdirTemp("", "agent"))(t)
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket = filepath.Join(dir, "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Skip("no unix sockets here: ", err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() { _ = agent.ServeAgent(ring, conn) }()
		}
	}()
	return socket
}

func publicOf(t *testing.T, private any) string {
	t.Helper()
	key := testrun.Must(ssh.NewSignerFromKey(private))(t)
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key.PublicKey())))
}

// TestLoadKey: a key is found in every form in which git can name it, in a file or in ssh-agent,
// and signs.
func TestLoadKey(t *testing.T) {
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	testrun.Check(t, err)
	long := testrun.Must(rsa.GenerateKey(rand.Reader, 2048))(t)
	dir := t.TempDir()
	write := func(name string, data []byte) {
		testrun.Check(t, os.WriteFile(filepath.Join(dir, name), data, 0o600))
	}
	plain := testrun.Must(ssh.MarshalPrivateKey(ed, ""))(t)
	locked := testrun.Must(ssh.MarshalPrivateKeyWithPassphrase(ed, "", []byte("secret")))(t)
	write("plain", pem.EncodeToMemory(plain))
	write("plain.pub", []byte(publicOf(t, ed)+" me@here\n"))
	write("locked", pem.EncodeToMemory(locked))
	write("locked.pub", []byte(publicOf(t, ed)))
	write("alone.pub", []byte(publicOf(t, ed)))
	write("long.pub", []byte(publicOf(t, long)))
	write("other.pub", []byte("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAdhHNo8w69b7kcPBBg/1zdfewo1V9WSIQfAyW6PGYNt"))
	write("text", []byte("hello\n"))
	socket := sshAgent(t, &ed, long)
	load := func(socket, where string) (*sshsig.Signer, error) {
		c := &call.Call{App: &call.App{Dir: dir, Getenv: func(name string) string {
			return map[string]string{"SSH_AUTH_SOCK": socket, "HOME": dir}[name]
		}}}
		t.Cleanup(c.Close)
		return signing.LoadKey(t.Context(), c, where)
	}
	for where, public := range map[string]string{
		"plain": publicOf(t, ed), "plain.pub": publicOf(t, ed), "~/plain": publicOf(t, ed), filepath.Join(dir, "plain"): publicOf(t, ed),
		"locked": publicOf(t, ed), "locked.pub": publicOf(t, ed), "alone.pub": publicOf(t, ed), "long.pub": publicOf(t, long),
		publicOf(t, ed): publicOf(t, ed), "key::" + publicOf(t, long): publicOf(t, long),
	} {
		s, err := load(socket, where)
		if err != nil {
			t.Errorf("%s: %v", where, err)
			continue
		}
		signature, err := s.Sign([]byte("content"))
		if err != nil {
			t.Errorf("%s: %v", where, err)
		}
		testrun.Equal(t, testrun.Must(sshsig.Verify([]byte("content"), signature))(t), public, "%s", where)
	}
	for _, c := range []struct{ socket, where, says string }{
		{"", "locked", "it has a passphrase, and no ssh-agent holds it"},
		{"", "locked.pub", "it has a passphrase"},
		{"", "alone.pub", "no ssh-agent holds its private key"},
		{filepath.Join(dir, "gone"), "alone.pub", "no ssh-agent holds its private key"},
		{socket, "other.pub", "no ssh-agent holds its private key"},
		{socket, "text", "not a private key of OpenSSH"},
		{socket, "nothing", "no such file"},
		{socket, "key::hello", "not a public key"},
	} {
		_, err := load(c.socket, c.where)
		if err == nil || !strings.Contains(err.Error(), c.says) || call.Classify(err).Code != "signature" || call.Classify(err).Hint == "" {
			t.Errorf("%s: %v", c.where, err)
		}
	}
}

// TestAgentThatDoesNotAnswer: a cancelled caller does not wait for an ssh-agent that is waiting for
// its user.
func TestAgentThatDoesNotAnswer(t *testing.T) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	testrun.Check(t, err)
	asked := make(chan struct{})
	ring := &waits{Agent: agent.NewKeyring(), asked: asked, end: make(chan struct{})}
	t.Cleanup(func() { close(ring.end) })
	testrun.Check(t, ring.Add(agent.AddedKey{PrivateKey: key}))
	ctx, cancel := context.WithCancel(context.Background())
	socket := serve(t, ring)
	c := &call.Call{App: &call.App{Getenv: func(string) string { return socket }}}
	t.Cleanup(c.Close)
	s := testrun.Must(signing.LoadKey(ctx, c, "key::"+publicOf(t, key)))(t)
	go func() {
		<-asked
		cancel()
	}()
	if _, err := s.Sign([]byte("content")); err == nil {
		t.Error("it has signed")
	}
}

// waits is an ssh-agent that never answers a request to sign.
type waits struct {
	agent.Agent
	asked, end chan struct{}
}

func (w *waits) Sign(ssh.PublicKey, []byte) (*ssh.Signature, error) {
	close(w.asked)
	<-w.end
	return nil, os.ErrClosed
}
