package demo

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/git-liza/git-liza/gitboard/proc"
)

// shell is the process in which somebody types.
type shell struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// newShell starts a shell at the repository's root. The process and all that it starts end with the
// run.
func (p *play) newShell(who string) (*shell, error) {
	cmd := exec.CommandContext(p.ctx, "sh")
	cmd.Dir, cmd.Env = p.dir, environment(os.Environ(), p.bin)
	cmd.Env = append(cmd.Env, "PWD="+p.dir)
	if who != "human" {
		cmd.Env = append(cmd.Env, "LIZA_AGENT_ID="+who, "GIT_AUTHOR_NAME="+who, "GIT_AUTHOR_EMAIL="+who+"@liza")
	}
	proc.OwnGroup(cmd)
	cmd.WaitDelay = 5 * time.Second
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &shell{cmd, in, bufio.NewReader(out)}, cmd.Start()
}

// environment removes variables that would redirect git, go or `git liza`. Without a home directory,
// go keeps its files in bin.
func environment(all []string, bin string) (env []string) {
	path, set := "", map[string]bool{}
	for _, v := range all {
		name, value, _ := strings.Cut(v, "=")
		set[name] = value != ""
		switch {
		case name == "PATH":
			path = value
		case strings.HasPrefix(name, "GIT_"), strings.HasPrefix(name, "LIZA_"), name == "SKIP_SPEC_FILE_CHECK", name == "OLDPWD",
			name == "GOFLAGS", name == "GOPACKAGESDRIVER", name == "ENV":
		default:
			env = append(env, v)
		}
	}
	home := set["HOME"] || set["USERPROFILE"]
	if !home && !set["GOPATH"] {
		env = append(env, "GOPATH="+filepath.Join(bin, "go"))
	}
	if !home && !set["XDG_CACHE_HOME"] && !set["GOCACHE"] {
		env = append(env, "GOCACHE="+filepath.Join(bin, "go-cache"))
	}
	return append(env, "PATH="+bin+string(os.PathListSeparator)+path, "LC_ALL=C", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_TERMINAL_PROMPT=0", "GOFLAGS=-mod=mod -buildvcs=false", "GOPROXY=off", "GOTOOLCHAIN=local", "GOWORK=off", "GO111MODULE=on")
}

// endMark begins the line by which a shell reports the exit code of a command.
const endMark = '\x01'

// run runs a command in the shell and returns its output and exit code.
func (s *shell) run(command string) (out string, exit int, err error) {
	_, err = fmt.Fprintf(s.in, "{ %s\n} </dev/null 2>&1; printf '\\001%%d\\n' $?\n", command)
	if err == nil {
		out, err = s.out.ReadString(endMark)
	}
	code := ""
	if err == nil {
		code, err = s.out.ReadString('\n')
	}
	if err == nil {
		exit, err = strconv.Atoi(strings.TrimSpace(code))
	}
	if err != nil {
		return out, 0, fmt.Errorf("%s: its shell ended: %w\n%s", command, err, out)
	}
	return strings.TrimSpace(strings.TrimSuffix(out, string(endMark))), exit, nil
}

// last runs the command that ends the shell, and returns the exit code of the shell, -1 if it was
// killed.
func (s *shell) last(command string) int {
	_, _ = fmt.Fprintln(s.in, command)
	_ = s.in.Close()
	_ = s.cmd.Wait()
	return s.cmd.ProcessState.ExitCode()
}

// end ends the remaining shells.
func (p *play) end() {
	for _, s := range p.shells {
		s.last("exit")
	}
}
