package sshsig

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/crypto/ssh"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

var payload = []byte("tree 0\n\na commit\n")

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// keys are one of each type, made once.
var keys = sync.OnceValue(func() map[string]any {
	return map[string]any{
		"ed25519": ed25519.NewKeyFromSeed([]byte("a seed that has thirty-two bytes")),
		"ecdsa":   must(ecdsa.GenerateKey(elliptic.P384(), rand.Reader)),
		"rsa":     must(rsa.GenerateKey(rand.Reader, 2048)),
	}
})

func signerOf(t testing.TB, name string) *Signer {
	t.Helper()
	key := testrun.Must(ssh.NewSignerFromKey(keys()[name]))(t)
	return testrun.Must(NewSigner(key, rand.Reader))(t)
}

func file(t testing.TB, name string) string {
	t.Helper()
	return string(testrun.Must(os.ReadFile(filepath.Join("testdata", name)))(t))
}

// TestOfSSHKeygen verifies what ssh-keygen -Y sign -n git has written.
func TestOfSSHKeygen(t *testing.T) {
	for name := range keys() {
		want := testrun.Must(ParsePublic(file(t, name+".pub")))(t)
		got, err := Verify(payload, file(t, name+".sig"))
		if err != nil || got != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// TestForSSHKeygen has ssh-keygen verify what is signed here.
func TestForSSHKeygen(t *testing.T) {
	program, err := exec.LookPath("ssh-keygen")
	if err != nil {
		t.Skip("there is no ssh-keygen here")
	}
	for name := range keys() {
		s := signerOf(t, name)
		signature := testrun.Must(s.Sign(payload))(t)
		dir := t.TempDir()
		allowed, sig := filepath.Join(dir, "allowed"), filepath.Join(dir, "sig")
		for path, text := range map[string]string{allowed: "me@here namespaces=\"git\" " + s.Public() + "\n", sig: signature} {
			testrun.Check(t, os.WriteFile(path, []byte(text), 0o600))
		}
		cmd := exec.Command(program, "-Y", "verify", "-n", "git", "-f", allowed, "-I", "me@here", "-s", sig)
		cmd.Stdin = bytes.NewReader(payload)
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", name, err, said)
		}
	}
}

// TestNoByteElse: a signature with any one character changed, and one of another content, is
// refused.
func TestNoByteElse(t *testing.T) {
	for name := range keys() {
		s := signerOf(t, name)
		good := must(s.Sign(payload))
		if public, err := Verify(payload, good); err != nil || public != s.Public() {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := Verify(append([]byte("x"), payload...), good); err == nil {
			t.Errorf("%s: of another content", name)
		}
		for i := range good {
			for _, with := range []string{"A", "B", "", "\n", good[i:i+1] + "\n", good[i:i+1] + " "} {
				if bad := good[:i] + with + good[i+1:]; bad != good {
					if _, err := Verify(payload, bad); err == nil {
						t.Errorf("%s: with %q at %d", name, with, i)
					}
				}
			}
		}
	}
}

// TestOtherSignatures: what is made otherwise than git does is refused, though the key's signature
// is right.
func TestOtherSignatures(t *testing.T) {
	digest := sha256.Sum256(payload)
	forged := func(name string, change func(*envelope, *signed), format string) string {
		s := signerOf(t, name)
		e := envelope{magic, version, s.key.PublicKey().Marshal(), namespace, "", hashName, nil}
		sum := sha512.Sum512(payload)
		d := signed{magic, namespace, "", hashName, sum[:]}
		change(&e, &d)
		made := testrun.Must(s.key.(ssh.AlgorithmSigner).SignWithAlgorithm(rand.Reader, ssh.Marshal(d), format))(t)
		if e.Signature == nil {
			e.Signature = ssh.Marshal(made)
		} else {
			e.Signature = append(ssh.Marshal(made), e.Signature...)
		}
		return e.armour()
	}
	none := func(*envelope, *signed) {}
	if _, err := Verify(payload, forged("rsa", none, ssh.KeyAlgoRSASHA256)); err != nil {
		t.Errorf("rsa-sha2-256: %v", err)
	}
	for name, c := range map[string]struct{ armoured, says string }{
		"SHA-1":     {forged("rsa", none, ssh.KeyAlgoRSA), `"ssh-rsa"`},
		"files":     {forged("ed25519", func(e *envelope, d *signed) { e.Namespace, d.Namespace = "file", "file" }, ssh.KeyAlgoED25519), `made for "file"`},
		"SHA-256":   {forged("ed25519", func(e *envelope, d *signed) { e.Hash, d.Hash, d.Digest = "sha256", "sha256", digest[:] }, ssh.KeyAlgoED25519), `"sha256"`},
		"reserved":  {forged("ed25519", func(e *envelope, d *signed) { e.Reserved, d.Reserved = "x", "x" }, ssh.KeyAlgoED25519), "sha512"},
		"version 2": {forged("ed25519", func(e *envelope, _ *signed) { e.Version = 2 }, ssh.KeyAlgoED25519), "version 1"},
		"magic":     {forged("ed25519", func(e *envelope, _ *signed) { e.Magic[0] = 'X' }, ssh.KeyAlgoED25519), "version 1"},
		"trailing":  {forged("ed25519", func(e *envelope, _ *signed) { e.Signature = []byte("more") }, ssh.KeyAlgoED25519), "after its end"},
		"no key":    {forged("ed25519", func(e *envelope, _ *signed) { e.PublicKey = []byte("x") }, ssh.KeyAlgoED25519), "its key"},
		"large":     {strings.Repeat("A", maxArmor+1), "allowed"},
		"PGP":       {"-----BEGIN PGP SIGNATURE-----\n\nx\n-----END PGP SIGNATURE-----\n", "not an SSH signature"},
		"empty":     {"", "not an SSH signature"},
		"nothing":   {begin + end, "can't be read"},
	} {
		if public, err := Verify(payload, c.armoured); err == nil || public != "" || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %q, %v", name, public, err)
		}
	}
}

func TestParsePublic(t *testing.T) {
	short := must(ssh.NewPublicKey(&must(rsa.GenerateKey(rand.Reader, 1024)).PublicKey))
	for name, c := range map[string]struct{ line, says string }{
		"short RSA":  {string(ssh.MarshalAuthorizedKey(short)), "2048"},
		"options":    {"restrict " + file(t, "ed25519.pub"), "more than one"},
		"two":        {file(t, "ed25519.pub") + file(t, "ecdsa.pub"), "more than one"},
		"none":       {"hello", "not a public key"},
		"private":    {"-----BEGIN OPENSSH PRIVATE KEY-----\n", "not a public key"},
		"other type": {"sk-ssh-ed25519@openssh.com AAAAGnNrLXNzaC1lZDI1NTE5QG9wZW5zc2guY29tAAAAIAMcGDbfRqxrs4z9Vp/FdwRNBvWcfvQHl0bHXc0NKQRdAAAABHNzaDo=", "don't sign here"},
	} {
		if public, err := ParsePublic(c.line); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %q, %v", name, public, err)
		}
	}
}

// FuzzVerify: nothing panics, and an accepted signature is one of the content, in its only form.
func FuzzVerify(f *testing.F) {
	for _, name := range []string{"ed25519", "ecdsa", "rsa"} {
		f.Add(payload, file(f, name+".sig"))
	}
	f.Add([]byte{}, begin+"U1NIU0lH\n"+end)
	f.Fuzz(func(t *testing.T, content []byte, armoured string) {
		public, err := Verify(content, armoured)
		if (err == nil) != (public != "") {
			t.Fatalf("%q, %v", public, err)
		}
		if err != nil {
			return
		}
		if e, err := parse(namespace, armoured); err != nil || e.armour() != armoured {
			t.Errorf("not in its only form: %v", err)
		}
		if _, err := Verify(append(content, 'x'), armoured); err == nil {
			t.Error("of another content, too")
		}
	})
}

// TestNamespaces: a signature for one use is void for the other.
func TestNamespaces(t *testing.T) {
	s := signerOf(t, "ed25519")
	for made, other := range map[string]string{InToto: namespace, namespace: InToto} {
		signature := must(s.SignFor(made, payload))
		testrun.Equal(t, testrun.Must(VerifyFor(made, payload, signature))(t), s.Public(), "%s", made)
		if _, err := VerifyFor(other, payload, signature); err == nil {
			t.Errorf("one made for %s serves for %s", made, other)
		}
	}
}
