package network

import (
	"crypto/rand"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/git-liza/git-liza/gitboard/git/gitenv"
)

// SSHEnv returns an environment that keeps ssh and git's credential manager from prompting, and lets children that follow each
// other use one connection. Git starts ssh in base; own is the folder for its sockets. A command other than OpenSSH's is left unchanged; if it prompts, the
// timeout ends it.
func SSHEnv(environ gitenv.List, remote string, settings map[string][]string, base, own string) []string {
	command := environ.Get("GIT_SSH_COMMAND")
	if command == "" {
		command = Last(settings["core.sshcommand"])
	}
	chosen := command != "" || environ.Get("GIT_SSH") != ""
	if !chosen {
		command = "ssh"
	}
	env := []string{"SSH_ASKPASS_REQUIRE=never", "GCM_INTERACTIVE=never"}
	if words := strings.Fields(command); len(words) > 0 && filepath.Base(words[0]) == "ssh" {
		command += " -o BatchMode=yes"
		if !chosen && slices.ContainsFunc(slices.Concat(settings["remote."+remote+".url"], settings["remote."+remote+".pushurl"]), maybeSSH) {
			command += keepConnection(base, own)
		}
		env = append(env, "GIT_SSH_COMMAND="+command)
	}
	return env
}

// maybeSSH reports whether git may use ssh for an address.
func maybeSSH(address string) bool {
	scheme, _, is := strings.Cut(address, "://")
	if is {
		return strings.Contains(scheme, "ssh")
	}
	host, _, is := strings.Cut(address, ":")
	return is && !strings.Contains(host, "/")
}

const (
	// sshSocket names the sockets of kept connections in this clone's own folder: by user, and by
	// what ssh makes of host, port and account.
	sshSocket = "ssh-%i-%C"
	// sshSocketRoom is how many bytes of a socket's path (104 in all) are left for the folder: 10
	// for the user, 40 for %C, and 17 that ssh appends while it makes the socket.
	sshSocketRoom = 104 - 1 - len("ssh--") - 10 - 40 - 17
)

// plainFolder is a folder that no shell and no percent of ssh's would change.
var plainFolder = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9._/-]+$`) })

// keepConnection returns the words that make ssh keep its connection in this clone's own folder for
// a minute after the last use, "" where that is not possible: without sockets in that folder, or if
// its path is too long. The shell that runs them leaves them out if the user's settings already
// share connections, and for an OpenSSH older than 9, which keeps its standard error open as long
// as the connection. Nothing is left behind: the connection ends by itself, and soon if the server
// does not answer.
func keepConnection(base, own string) string {
	folder, err := filepath.Rel(base, own) // git starts ssh in base: this is shorter
	if err != nil || runtime.GOOS == "windows" || len(folder) > sshSocketRoom || !plainFolder().MatchString(folder) || !holdsSockets(own) {
		return ""
	}
	const asks = `{ ssh -V; ssh -G "$@"; } 2>&1 | awk '/^OpenSSH_(9|[1-9][0-9])\./ { can = 1 } /^controlpath / { theirs = 1 } END { if (can && !theirs) print "`
	return " $(" + asks + "-o ControlMaster=auto -o ControlPersist=60 -o ServerAliveInterval=5 -o ServerAliveCountMax=3 -o ControlPath=" + folder + "/" + sshSocket + `" }')`
}

// holdsSockets reports whether a folder holds sockets and links to them. Ssh gives up where it
// can't make either. The folder is tried by a short name, as the path of a socket is bounded.
func holdsSockets(dir string) bool {
	short, err := os.MkdirTemp("", "ssh-")
	if err != nil {
		return false
	}
	defer os.RemoveAll(short)
	_ = os.Symlink(dir, filepath.Join(short, "d")) // without it there is no socket either
	name := filepath.Join(short, "d", ".ssh-"+rand.Text())
	listener, err := net.Listen("unix", name)
	if err != nil {
		return false
	}
	defer listener.Close()
	defer os.Remove(name + "l")
	return os.Link(name, name+"l") == nil
}

// Last returns the effective value of a setting, "" if it is not set.
func Last(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[len(values)-1]
}
