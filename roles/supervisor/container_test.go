package supervisor

import (
	"errors"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// An agent's container has its folder, the common git directory and this program; secrets are not on its command line, and
// what is in the user's environment beside them stays there.
func TestContainer(t *testing.T) {
	k := &Container{Engine: "/usr/bin/docker", Image: "agents:1"}
	env := []string{"PATH=/usr/bin", "HOME=/home/ann", "AWS_SECRET=x", "ANTHROPIC_API_KEY=sk-1", "LIZA_AGENT_ID=coder-1", "LIZA_SESSION=s-1"}
	c := k.wrap(command{args: []string{"claude", "-p"}, dir: "/p/.worktrees/one", env: env}, "liza-coder-1", "/p/.git", "/usr/bin/git-liza")
	line := strings.Join(c.args, " ")
	for _, want := range []string{
		"/usr/bin/docker run --rm --interactive --name liza-coder-1", "--env ANTHROPIC_API_KEY ", "--env LIZA_AGENT_ID ", "--env HOME=/tmp ",
		"--volume /p/.worktrees/one:/p/.worktrees/one --volume /p/.git:/p/.git --volume /usr/bin/git-liza:/usr/bin/git-liza:ro --workdir /p/.worktrees/one agents:1 claude -p",
	} {
		if !strings.Contains(line, want) {
			t.Errorf("%q is not in %s", want, line)
		}
	}
	for _, secret := range []string{"sk-1", "AWS_SECRET", "/home/ann", "--env PATH", "--tty"} {
		if strings.Contains(line, secret) {
			t.Errorf("%q is in %s", secret, line)
		}
	}
	if c.container != "liza-coder-1" || !slices.Equal(c.env, env) {
		t.Errorf("%q in %q", c.container, c.env)
	}
	planner := k.wrap(command{args: []string{"claude"}, dir: "/p", shares: true}, "n", "/p/.git", "/l")
	if line := strings.Join(planner.args, " "); strings.Contains(line, "/p/.git:") || !strings.Contains(line, "--tty") {
		t.Error(line)
	}
}

// Podman comes first; without either nobody starts.
func TestFindEngine(t *testing.T) {
	have := func(names ...string) func(string) (string, error) {
		return func(name string) (string, error) {
			if slices.Contains(names, name) {
				return "/bin/" + name, nil
			}
			return "", exec.ErrNotFound
		}
	}
	if got, err := FindEngine(have("docker", "podman")); got != "/bin/podman" || err != nil {
		t.Error(got, err)
	}
	if got, err := FindEngine(have("docker")); got != "/bin/docker" || err != nil {
		t.Error(got, err)
	}
	stop := (*StopError)(nil)
	if _, err := FindEngine(have()); !errors.As(err, &stop) || stop.Exit != 5 {
		t.Error(err)
	}
}
