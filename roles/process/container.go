package process

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Container is where agents run that may see their worktree and the common git directory, but no
// other files of this machine.
type Container struct {
	Engine string // the path of podman or docker
	Image  string // must contain the CLI, git and a shell
}

// passed are the prefixes of the variables that a container gets besides those that the supervisor
// sets: the CLI's keys and services, proxies, the language.
var passed = []string{
	"ANTHROPIC_", "CLAUDE_", "OPENAI_", "CODEX_", "GEMINI_", "GOOGLE_", "MISTRAL_",
	"HTTP_PROXY=", "HTTPS_PROXY=", "NO_PROXY=", "http_proxy=", "https_proxy=", "no_proxy=", "LANG=", "LC_", "TERM=", "TZ=", "NO_COLOR=",
	"LIZA_", "GIT_CONFIG_PARAMETERS=",
}

// guarded are the parts of the common git directory by which git is made to run programs, and the
// records by which an agent is known. An agent in a container can't write them.
var guarded = []string{"config", "config.worktree", "hooks", "info", "liza/hooks", "liza/agents"}

// FindContainer returns a container of an image, run by podman or else docker; nil without both.
func FindContainer(image string) *Container {
	for _, name := range []string{"podman", "docker"} {
		if path, err := exec.LookPath(name); err == nil {
			return &Container{Engine: path, Image: image}
		}
	}
	return nil
}

// Wrap turns a command into one that runs in a container. What it needs is mounted at the same
// paths as outside: its directory, the common git directory (guarded), and this program, which git
// calls through an alias.
func (k *Container) Wrap(c Command, name, common, program string) Command {
	args := []string{k.Engine, "run", "--rm", "--interactive", "--name", name, "--security-opt", "label=disable"}
	if c.Shares {
		args = append(args, "--tty")
	}
	args = append(args, "--user", strconv.Itoa(os.Getuid())+":"+strconv.Itoa(os.Getgid()))
	if os.Getuid() != 0 && filepath.Base(k.Engine) == "podman" {
		args = append(args, "--userns", "keep-id")
	}
	args = append(args, "--env", "HOME=/tmp")
	for _, entry := range c.Env { // by name, so that process lists don't show the values
		if slices.ContainsFunc(passed, func(begin string) bool { return strings.HasPrefix(entry, begin) }) {
			key, _, _ := strings.Cut(entry, "=")
			args = append(args, "--env", key)
		}
	}
	// A mount of its own can't be moved away, even where it lies in the other one.
	args = append(args, "--volume", c.Dir+":"+c.Dir, "--volume", common+":"+common)
	for _, name := range guarded {
		path := filepath.Join(common, filepath.FromSlash(name))
		if !strings.HasPrefix(name, "config") {
			_ = os.Mkdir(path, 0o755) // else the agent could make it
		}
		if _, err := os.Lstat(path); err == nil {
			args = append(args, "--volume", path+":"+path+":ro")
		}
	}
	args = append(args, "--volume", program+":"+program+":ro", "--workdir", c.Dir, k.Image)
	c.Args = append(args, c.Args...)
	return c
}

// End kills what still runs in a container, which outlives a killed client.
func (k *Container) End(name string, env []string) {
	cmd := exec.Command(k.Engine, "kill", name)
	cmd.Env = env
	_ = cmd.Run() // usually it ended already
}
