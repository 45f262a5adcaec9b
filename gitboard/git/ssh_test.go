package git

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/git/gitenv"
)

// TestKeptConnections: ssh keeps a connection where the address may be one of ssh's and the user
// has chosen no ssh command, and only where its socket has room.
func TestKeptConnections(t *testing.T) {
	_, r := scratch(t)
	check(t, os.MkdirAll(filepath.Join(r.common, "liza"), 0o755))
	r.environ = gitenv.List{"PATH=" + os.Getenv("PATH")}
	keeps := func(address, command string) bool {
		return strings.Contains(strings.Join(r.sshEnv("hub", map[string][]string{"remote.hub.url": {address}, "core.sshcommand": {command}}), " "), "-o ControlPath=")
	}
	for address, want := range map[string]bool{
		"ssh://git@host/board": true, "git@host:board": true, "host:board": true, "git+ssh://host/board": true,
		"https://host/board": false, "/srv/board.git": false, "../board.git": false, "file:///srv/board": false, "./a:b": false,
	} {
		if got := keeps(address, ""); got != want {
			t.Errorf("%s: %v", address, got)
		}
	}
	if keeps("host:board", "ssh -i key") {
		t.Error("an own command is changed")
	}
	r.environ = append(r.environ, "GIT_SSH=plink")
	if keeps("host:board", "") {
		t.Error("an own program is changed")
	}
	r.environ = r.environ[:1]
	r.common = filepath.Join(filepath.Dir(r.common), strings.Repeat("long", 20), ".git")
	check(t, os.MkdirAll(filepath.Join(r.common, "liza"), 0o755))
	r.gitDir, r.top = r.common, ""
	if !keeps("host:board", "") {
		t.Error("a long directory above the project matters")
	}
	t.Chdir(t.TempDir())
	t.Setenv("TMPDIR", filepath.Join(r.common, "missing"))
	if holdsSockets(filepath.Join(r.common, "liza")) {
		t.Error("without a place for temporary files a folder is tried")
	}
	t.Setenv("TMPDIR", "")
	if holdsSockets(filepath.Join(r.common, "missing")) {
		t.Error("a missing folder holds sockets")
	}
	check(t, os.RemoveAll(filepath.Join(r.common, "liza")))
	if keeps("host:board", "") {
		t.Error("a socket is made in a missing folder")
	}
}
