//go:build linux

package main

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestNetworkTroubles: a command that the network fails, or a wrong password, ends with exit code 3, has
// done nothing, and prints git's message in one line; with the password it is done. What is unclear after a push is tested in
// gitboard/share.
func TestNetworkTroubles(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	p := f.clones[0]
	asked := filepath.Join(t.TempDir(), "asked")
	p.env = append(p.env, "SSH_ASKPASS="+asker(t, asked), "DISPLAY=:0")
	p.env = append(p.env, settings(credentials(t, "open barley")...)...)
	before := p.git("rev-parse", "liza/state")
	silent := listen(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }).Addr().String()
	fails := func(address, said string) {
		t.Helper()
		p.git("config", "remote.origin.url", address)
		out, errs, code := p.liza("", "note", "hello")
		if line := regexp.MustCompile(`^git liza: (append note: )?the remote origin: ` + said + `\nhint: .*\n$`); code != 3 || out != "" || !line.MatchString(errs) {
			t.Errorf("exit %d\n%s%s", code, out, errs)
		}
	}
	server := serveHTTP(t, "/").URL
	fails(server+f.hub, `Authentication failed for 'http://.*'`)
	p.git("config", "liza.networkTimeout", "3") // not before: a busy machine may be silent for seconds
	fails("http://"+silent+"/x", `git push heard nothing for 3s`)
	if _, err := os.Stat(asked); err == nil {
		t.Error("somebody was asked")
	}
	p.git("config", "remote.origin.url", f.hub)
	p.git("config", "--unset", "liza.networkTimeout")
	if now := p.git("rev-parse", "liza/state"); now != before {
		t.Errorf("the board was at %s and is at %s", before, now)
	}
	p.env = append(p.env, settings(credentials(t, password)...)...)
	p.git("config", "remote.origin.url", server+f.hub)
	p.must("", "note", "with the password")
	f.agrees(0)
}

// asker is a password prompt that records in a file that it was called.
func asker(t *testing.T, asked string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ask")
	testrun.Check(t, testrun.WriteProgram(path, "#!/bin/sh\n: >'"+asked+"'\nsleep 60\n"))
	return path
}
