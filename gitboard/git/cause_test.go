package git

import "testing"

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
		if got := firstCause(said); got != want {
			t.Errorf("%q\n got %q\nwant %q", said, got, want)
		}
	}
}
