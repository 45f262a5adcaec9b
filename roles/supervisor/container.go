package supervisor

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Container is where agents run that see their worktree and the common git directory, and nothing else of this machine's
// files.
type Container struct {
	Engine string // the program: podman or docker
	Image  string // has the CLI, git and a shell
}

// passed are the beginnings of the variables that a CLI gets in a container beside those that the supervisor sets: its
// keys and services, proxies, the language.
var passed = []string{
	"ANTHROPIC_", "CLAUDE_", "OPENAI_", "CODEX_", "GEMINI_", "GOOGLE_", "MISTRAL_",
	"HTTP_PROXY=", "HTTPS_PROXY=", "NO_PROXY=", "http_proxy=", "https_proxy=", "no_proxy=", "LANG=", "LC_", "TERM=", "TZ=", "NO_COLOR=",
	"LIZA_", "GIT_CONFIG_PARAMETERS=",
}

// FindContainer is a container of an image, by the program that runs containers here.
func FindContainer(image string) (*Container, error) {
	for _, name := range []string{"podman", "docker"} {
		if path, err := exec.LookPath(name); err == nil {
			return &Container{Engine: path, Image: image}, nil
		}
	}
	return nil, &StopError{Exit: 5, Reason: "--container needs podman or docker, and neither is in PATH", Hint: "install podman, or leave --container out"}
}

// wrap makes a command run in a container. It gets what it needs at the same paths as here: its folder, the common git
// directory, and this program, which git calls as an alias.
func (k *Container) wrap(c command, name, common, program string) command {
	args := []string{k.Engine, "run", "--rm", "--interactive", "--name", name, "--security-opt", "label=disable"}
	if c.shares {
		args = append(args, "--tty")
	}
	args = append(args, "--user", strconv.Itoa(os.Getuid())+":"+strconv.Itoa(os.Getgid()))
	if os.Getuid() != 0 && filepath.Base(k.Engine) == "podman" {
		args = append(args, "--userns", "keep-id")
	}
	args = append(args, "--env", "HOME=/tmp")
	for _, entry := range c.env { // by name: their values are no business of who lists processes
		if slices.ContainsFunc(passed, func(begin string) bool { return strings.HasPrefix(entry, begin) }) {
			key, _, _ := strings.Cut(entry, "=")
			args = append(args, "--env", key)
		}
	}
	args = append(args, "--volume", c.dir+":"+c.dir)
	if !strings.HasPrefix(common+"/", c.dir+"/") {
		args = append(args, "--volume", common+":"+common)
	}
	args = append(args, "--volume", program+":"+program+":ro", "--workdir", c.dir, k.Image)
	c.args, c.container = append(args, c.args...), name
	return c
}

// end ends what still runs in a container: the client that was killed could not.
func (k *Container) end(name string, env []string) {
	cmd := exec.Command(k.Engine, "kill", name)
	cmd.Env = env
	_ = cmd.Run() // it has mostly gone already
}

// contained puts a run into the supervisor's container, if it has one.
func (s *supervisor) contained(c command) command {
	if s.Container == nil {
		return c
	}
	name := fmt.Sprintf("liza-%s-%s-%d", s.actor.ID, s.actor.Session[:min(8, len(s.actor.Session))], s.Board.Now().UnixMilli())
	return s.Container.wrap(c, name, s.Board.Repo().CommonDir(), s.Program)
}
