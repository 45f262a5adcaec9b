package child

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/testrun"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// TestReadObject checks that an answer of cat-file that is damaged counts as none, and that one out
// of step is an error.
func TestReadObject(t *testing.T) {
	id := string(plumbing.NewObject(plumbing.BlobObject, []byte("a")).OID)
	for answer, want := range map[string]string{
		id + " blob 1\na\n": id + " <nil>", id + " blob 1\nb\n": " <nil>", id + " blob x\n": " <nil>", "a b 1\n": " <nil>",
		id + " missing\n": " <nil>", id + " blob 1\nab": " the answer of git cat-file is out of step", id + " blob 9\na": " unexpected EOF", "": " unexpected EOF",
	} {
		o, err := readObject(bufio.NewReader(strings.NewReader(answer)))
		testrun.Equal(t, fmt.Sprint(o.OID, " ", err), want, "%q", answer)
	}
}

func TestLastLine(t *testing.T) {
	for said, want := range map[string]string{
		"":                              "",
		"fatal: not a git repository\n": "not a git repository",
		"error: no\nhint: advice\nwarning: and so on\n\n":                                 "no",
		"Preparing\nerror: unable to write a\nerror: unable to write b\nfatal: no.":       "no. (unable to write a)",
		"fatal: Unable to create 'HEAD.lock': File exists.\n\nremove the file manually\n": "Unable to create 'HEAD.lock': File exists.",
		"progress 1%\rprogress 2%\rdone":                                                  "done",
		"\tindented \n":                                                                   "indented",
	} {
		testrun.Equal(t, LastLine(said), want, "%q:", said)
	}
}

// TestFirstCause checks the cause that is extracted from output of git 2.39, OpenSSH 9.2 and public
// hosts.
func TestFirstCause(t *testing.T) {
	for said, want := range map[string]string{
		"": "",
		"remote: Compressing objects: 100% (3/3), done.\nfatal: Could not read from remote repository.":                                                              unreadable,
		"fatal: unable to access 'http://h/x/': Could not resolve host: h":                                                                                           "unable to access 'http://h/x/': Could not resolve host: h",
		"remote: <html>\nremote: no entry\nremote: </html>\nfatal: unable to access 'http://h/x/': The requested URL returned error: 403":                            "unable to access 'http://h/x/': The requested URL returned error: 403",
		"git@h: Permission denied (publickey).\nfatal: Could not read from remote repository.\n\nPlease make sure you have":                                          "git@h: Permission denied (publickey).",
		"No ED25519 host key is known for h and you have requested strict checking.\nHost key verification failed.\r\nfatal: Could not read from remote repository.": "Host key verification failed.",
		"ERROR: Repository not found.\nfatal: Could not read from remote repository.":                                                                                "ERROR: Repository not found.",
		"remote: \nremote: ========\nremote: ERROR: The project could not be found\nfatal: Could not read from remote repository.":                                   "remote: ERROR: The project could not be found",
		"ssh: connect to host h port 22: Connection refused\r\nfatal: Could not read from remote repository.":                                                        "connect to host h port 22: Connection refused",
		"Writing objects: 100% (3/3), done.\nremote: Resolving deltas: 100%\nremote: liza: x is not y\nerror: failed to push some refs to 'h'":                       "remote: liza: x is not y",
		"remote: error: GH006: Protected branch update failed\nerror: failed to push some refs to 'h'":                                                               "remote: error: GH006: Protected branch update failed",
		"remote: error: \nremote: error: Branch liza/state is protected\nerror: failed to push some refs to 'h'":                                                     "remote: error: Branch liza/state is protected",
		"error: RPC failed; curl 52 Empty reply from server\nfatal: the remote end hung up unexpectedly":                                                             "RPC failed; curl 52 Empty reply from server",
		"remote: liza: no\nbanner of ssh\nfatal: the remote end hung up unexpectedly":                                                                                "remote: liza: no",
		"remote: liza: no\nremote: liza: really\nerror: x":                                                                                                           "remote: liza: no",
		"remote: first\nremote: second\nerror: x":                                                                                                                    "remote: first",
		"remote: other\nremote: liza: no\nerror: x":                                                                                                                  "remote: liza: no",
		"error\nfatal: bad": "error",
		"Writing objects: 100%\nTo h\n-----\nfatal: bad":         "bad",
		"Writing objects: 50%\rWriting objects: 99%\rfatal: bad": "bad",
		"  not known \nfatal: " + unreadable:                     "not known",
		"banner of ssh\nerror: bad":                              "bad",
		"remote: <p>Not here</p>\nerror: x":                      "x",
		"warning: redirecting to h\nhint: x\nhint:\nfatal: bad":  "bad",
	} {
		testrun.Equal(t, FirstCause(said), want, "%q ", said)
	}
}

// TestTrustedPrograms: what the repository sets in place of the user's own programs counts for
// nothing, and these go on working.
func TestTrustedPrograms(t *testing.T) {
	all := []setting{
		{"filter.lfs.clean", "git-lfs clean", true}, {"credential.helper", "store", true}, {"credential.https://a=b.helper", "cache", true},
		{"filter.lfs.clean", "evil", false}, {"filter.lfs.required", "true", false}, {"credential.helper", "evil", false}, {"credential.https://c.helper", "evil", false},
		{"core.sshcommand", "evil", false}, {"remote.hub.url", "x", false}, {"lfs.customtransfer.x.path", "evil", false},
	}
	var got []string
	for _, s := range turnedOff(all) {
		got = append(got, s.Key+"="+s.Value)
	}
	want := []string{"filter.lfs.clean=git-lfs clean", "filter.lfs.required=false", "credential.helper=", "credential.helper=store",
		"credential.https://a=b.helper=cache", "core.sshcommand=ssh", "lfs.customtransfer.x.path=false"}
	if !slices.Equal(got, want) {
		t.Errorf("turned off: %q", got)
	}
}

// TestTail checks that the end of a child's standard error is kept.
func TestTail(t *testing.T) {
	var last Tail
	for range 3 {
		_, _ = last.Write(bytes.Repeat([]byte("x"), tailSize/2+1)) // never fails
	}
	if len(last.String()) != tailSize {
		t.Errorf("%d bytes are kept", len(last.String()))
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if (Command{}).failure(t.Context(), exec.ErrWaitDelay, "") != nil || (Command{}).failure(ended, exec.ErrWaitDelay, "") == nil {
		t.Error("a child that holds a pipe has failed, or one that was ended has not")
	}
}
