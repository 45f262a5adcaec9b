package testrun

import (
	"os/exec"
	"strings"
	"testing"
)

// RunGit runs git in a directory as a user would, and returns what it printed. The test ends if git
// fails.
func RunGit(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimRight(string(out), "\n")
}

// InitRepository makes a repository at dir, whose first branch is main.
func InitRepository(t testing.TB, dir string, bare bool) {
	t.Helper()
	args := []string{"init", "--quiet", "--initial-branch=main", "--object-format=sha1"}
	if bare {
		args = append(args, "--bare")
	}
	RunGit(t, "", append(args, "--", dir)...)
}

// CommitAll commits everything in a worktree as Ada, untracked files included, and returns the id
// of HEAD.
func CommitAll(t testing.TB, dir, message string) string {
	t.Helper()
	RunGit(t, dir, "add", "--all")
	said := RunGit(t, dir, "-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "core.abbrev=40", "commit", "--no-gpg-sign", "-m", message)
	branch, _, _ := strings.Cut(said, "] ") // [BRANCH ID] MESSAGE
	return branch[len(branch)-40:]
}

// Fsck fails a test if git finds damage in a repository.
func Fsck(t testing.TB, dir string) {
	t.Helper()
	RunGit(t, dir, "fsck", "--full", "--no-progress", "--no-dangling")
}
