package supervisor

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/git-liza/git-liza/gitboard/git/records"
	"github.com/git-liza/git-liza/gitboard/text"
	"github.com/git-liza/git-liza/roles/clis"
)

// probeTime is how long a CLI may take to show that its sandbox works.
const probeTime = 20 * time.Second

// trySandbox finds out whether this supervisor's runs can use the CLI's own sandbox. If it does not
// start, runs do without, which is reported, unless the user insists on it.
func (s *supervisor) trySandbox(ctx context.Context) error {
	box := s.CLI.Sandbox
	if box == nil || box.Use == clis.Never || s.Container != nil {
		return nil
	}
	failed := s.probe(ctx, box.Probe)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case failed == "":
		s.sandboxed = true
	case box.Use == clis.Always:
		return &StopError{
			Exit: 5, Reason: fmt.Sprintf("the sandbox of %s does not start here: %s", s.CLI.Name, failed),
			Hint: fmt.Sprintf("--container IMAGE, or without any: git config liza.%s.sandbox false", s.CLI.Name),
		}
	default:
		s.unboxed = fmt.Sprintf("the sandbox of %s does not start here (%s): it works without, and may change all that you may", s.CLI.Name, failed)
	}
	return nil
}

// probe runs the CLI's program like a later run; on failure it returns the reason in one line.
func (s *supervisor) probe(ctx context.Context, args []string) string {
	ctx, end := context.WithTimeout(ctx, probeTime)
	defer end()
	cmd := exec.CommandContext(ctx, s.program, args...)
	cmd.Env = inherit(s.Environ, nil, s.CLI.Keeps...)
	out, err := cmd.CombinedOutput()
	if err == nil {
		return ""
	}
	return cmp.Or(text.Line(strings.TrimSpace(lastLine(string(out))), 200), err.Error())
}

// warnOfRights reports, before the first start, permissions of the agent that nobody would expect.
func (s *supervisor) warnOfRights() {
	if s.unboxed != "" {
		s.report(Trouble, "", s.unboxed)
	}
	if s.Terminal != nil || s.Container != nil || s.CLI.Name == clis.ExecName || os.Geteuid() != 0 {
		return
	}
	switch name := s.CLI.Name; {
	case s.CLI.Root != nil:
		s.report(Trouble, "", fmt.Sprintf("you are root, and %s refuses there to work without asking: it gets fewer tools (%s); with all of them it works as another user", name, s.CLI.Root[len(s.CLI.Root)-1]))
	case s.sandboxed:
		s.report(Trouble, "", fmt.Sprintf("you are root: in its sandbox %s can read every file of this machine; as another user it could not", name))
	default:
		s.report(Trouble, "", fmt.Sprintf("you are root, and %s asks nobody: it can change every file of this machine; start it as another user, or with --container", name))
	}
}

// folders are the directories outside a worktree that the sandbox lets an agent write to: git's,
// which also hold its caches. nil without a sandbox.
func (s *supervisor) folders(worktree string) []string {
	if !s.sandboxed {
		return nil
	}
	folders := []string{s.Board.Repo().CommonDir()}
	if dir := records.LinkedDir(worktree); dir != "" {
		folders = append(folders, dir)
	}
	return folders
}

// caches are the variables that move build caches to where the sandbox allows them: the home
// directory is out of its reach, and Go, for example, does not build without a cache. The human's
// ssh-agent, which may sign as the human, is not passed on.
func (s *supervisor) caches() map[string]string {
	if !s.sandboxed {
		return nil
	}
	dir := filepath.Join(s.Board.Dir(), "cache", "agents")
	return map[string]string{"SSH_AUTH_SOCK": "", "XDG_CACHE_HOME": dir, "GOCACHE": filepath.Join(dir, "go-build"), "npm_config_cache": filepath.Join(dir, "npm")}
}
