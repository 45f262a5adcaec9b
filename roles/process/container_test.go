package process

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestContainer checks that an agent's container has its directory, the common git directory and
// this program, that its command line has no secrets, and that the user's other environment
// variables are not passed on.
func TestContainer(t *testing.T) {
	k := &Container{Engine: "/usr/bin/docker", Image: "agents:1"}
	env := []string{"PATH=/usr/bin", "HOME=/home/ann", "AWS_SECRET=x", "ANTHROPIC_API_KEY=sk-1", "LIZA_AGENT_ID=coder-1", "LIZA_SESSION=s-1"}
	c := k.Wrap(Command{Args: []string{"claude", "-p"}, Dir: "/p/.worktrees/one", Env: env}, "liza-coder-1", "/p/.git", "/usr/bin/git-liza")
	line := strings.Join(c.Args, " ")
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
	if !slices.Equal(c.Env, env) {
		t.Errorf("the environment is %q", c.Env)
	}
	common := t.TempDir()
	for _, name := range []string{"hooks", "liza/agents", "objects"} {
		testrun.Check(t, os.MkdirAll(filepath.Join(common, name), 0o755))
	}
	inside := strings.Join(k.Wrap(Command{Dir: "/w"}, "n", common, "/l").Args, " ")
	if at := common + "/hooks"; !strings.Contains(inside, common+":"+common+" --volume "+at+":"+at+":ro --volume "+common+"/info:") || !strings.Contains(inside, "/liza/agents:ro ") || strings.Contains(inside, "objects:") {
		t.Error(inside)
	}
	planner := k.Wrap(Command{Args: []string{"claude"}, Dir: "/p", Shares: true}, "n", "/p/.git", "/l")
	if line := strings.Join(planner.Args, " "); !strings.Contains(line, "--volume /p:/p --volume /p/.git:/p/.git ") || !strings.Contains(line, "--tty") {
		t.Error(line)
	}
}

// TestFindContainer checks that podman is preferred.
func TestFindContainer(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	if k := FindContainer("agents:1"); k != nil {
		t.Error(k)
	}
	for _, name := range []string{"docker", "podman"} {
		testrun.Check(t, os.WriteFile(filepath.Join(dir, name), nil, 0o755))
		if k := FindContainer("agents:1"); k == nil || k.Engine != filepath.Join(dir, name) || k.Image != "agents:1" {
			t.Error(k)
		}
	}
}
