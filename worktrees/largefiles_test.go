package worktrees_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/gitenv"
	"github.com/git-liza/git-liza/gitboard/queue"
	"github.com/git-liza/git-liza/gitboard/retry"
	"github.com/git-liza/git-liza/gitboard/share"
	"github.com/git-liza/git-liza/gitboard/testrun"
	"github.com/git-liza/git-liza/worktrees"
)

// lfs is a stand-in for git-lfs: clean keeps a file and prints the same pointer as git-lfs, since git
// may ask either of them, and push copies kept files to a remote that is a directory. Before and
// after a push it runs what a test has left beside the files.
const lfs = `#!/bin/sh
set -e
common=$(git rev-parse --path-format=absolute --git-common-dir)
kept=$common/lfs/objects
place() { rest=${1#??}; echo "${1%"$rest"}/${rest%"${rest#??}"}/$1"; }
sha256() { if command -v sha256sum >/dev/null; then sha256sum; else shasum -a 256; fi; }
copy() { mkdir -p "$(dirname "$2")" && cp "$1" "$2"; }
left() { if [ -e "$common/lfs/$1" ]; then mv "$common/lfs/$1" "$common/lfs/$1.ran" && sh "$common/lfs/$1.ran" >&2; fi; }
case $1 in
clean)
	read=$(mktemp) && trap 'rm "$read"' EXIT && cat >"$read"
	if grep -q '^version https://git-lfs' "$read"; then cat "$read" && exit; fi
	id=$(sha256 <"$read") && id=${id%% *}
	copy "$read" "$kept/$(place "$id")"
	printf 'version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize %d\n' "$id" "$(wc -c <"$read")" ;;
push)
	left before
	there=$(git config "remote.$3.url")/lfs/objects
	shift 3
	for id; do copy "$kept/$(place "$id")" "$there/$(place "$id")"; done
	left after ;;
esac
`

// lfsStandIn is the directory of the stand-in for git-lfs.
var lfsStandIn string

// standInForLFS writes the stand-in, and puts it at the beginning of the PATH where git-lfs is not
// installed.
func standInForLFS(bin string) error {
	lfsStandIn = bin
	err := errors.Join(os.MkdirAll(bin, 0o755), testrun.WriteProgram(filepath.Join(bin, "git-lfs"), lfs))
	if _, missing := exec.LookPath("git-lfs"); missing != nil {
		err = errors.Join(err, os.Setenv("PATH", inPath(bin)))
	}
	return err
}

// inPath is the PATH with a directory before all others.
func inPath(bin string) string { return bin + string(os.PathListSeparator) + os.Getenv("PATH") }

// withLFS shares a board whose project keeps large files with git-lfs, and claims a task. there
// lists the large files that the remote has.
func withLFS(t *testing.T) (s *scene, there func() []string) {
	t.Helper()
	s = newScene(t, step{"shared", func(s *scene) { s.shares(filepath.Join(s.dir, ".git", "hub.git")) }}, ready("one"), claimed("coder-1", "one"))
	s.preExec("coder-1", "one")
	s.write(s.path("one"), "one_test.txt", "a test\n")
	return s, func() []string {
		return testrun.Must(filepath.Glob(filepath.Join(s.dir, ".git", "hub.git", "lfs", "objects", "*", "*", "*")))(s.t)
	}
}

// TestLargeFiles checks that submit and merge both push a submission's git-lfs objects to the
// remote, and that a pointer without its object can neither be submitted nor merged.
func TestLargeFiles(t *testing.T) {
	s, there := withLFS(t)
	path := s.path("one")
	s.write(path, "art/good.bin", strings.Repeat("large\n", 500))
	s.commitAll(path, "large"+s.trailers("one"))
	s.write(path, "lost.bin", "version https://git-lfs.github.com/spec/v1\noid sha256:"+strings.Repeat("b", 64)+"\nsize 12345\n")
	s.commitAll(path, "a pointer"+s.trailers("one"))
	_, err := s.trySubmit("coder-1", "one")
	if failed := (*git.NetworkError)(nil); !errors.As(err, &failed) || !contains(failed.Error(), "lost.bin") {
		t.Fatalf("a pointer to nothing: %v", err)
	}
	s.git(path, "reset", "-q", "--hard", "HEAD~1")
	s.submit("coder-1", "one")
	if got := there(); len(got) != 1 {
		t.Fatalf("the remote has %q", got)
	}
	s.check(os.Remove(there()[0])) // as if submitted before the board was shared
	s.verdict("code-reviewer-1", "one", board.VerdictApproved)
	kept, err := filepath.Glob(filepath.Join(s.b.Repo().CommonDir(), "lfs", "objects", "*", "*", "*"))
	if err != nil || len(kept) != 1 {
		t.Fatalf("kept here are %q (%v)", kept, err)
	}
	s.check(os.Rename(kept[0], kept[0]+".lost"))
	if failed, merged := (*git.NetworkError)(nil), s.mergeErr("one"); !errors.As(merged, &failed) || !contains(failed.Error(), "good.bin") {
		t.Errorf("nobody else would get its large file: %v", merged)
	}
	s.is("one", board.Approved)
	s.check(os.Rename(kept[0]+".lost", kept[0]))
	s.merge("one")
	if got := there(); len(got) != 1 {
		t.Errorf("the remote has %q", got)
	}
}

// TestLargeFilesNeverUploaded checks that submit gives up on a worktree that moves during each
// upload, and reports that.
func TestLargeFilesNeverUploaded(t *testing.T) {
	s, _ := withLFS(t)
	s.ctx, _ = retry.With(gitenv.With(s.ctx, append(os.Environ(), "PATH="+inPath(lfsStandIn))), 1)
	s.b = s.open()
	path := s.path("one")
	s.write(path, "first.bin", "first\n")
	s.commitAll(path, "first"+s.trailers("one"))
	s.write(s.b.Repo().CommonDir(), "lfs/after", "cp \"$0\" \"${0%.ran}\"; unset GIT_DIR; cd '"+path+"'; git commit -q --allow-empty -m 'more"+s.trailers("one")+"'\n")
	s.refused(second(s.trySubmit("coder-1", "one")), board.CodeStale, "at another commit each time")
	if n := s.git(path, "rev-list", "--count", "--grep=more", "HEAD"); n != "2" {
		t.Errorf("it was uploaded %s times, not twice", n)
	}
	s.is("one", board.Claimed)
}

// TestLargeFileMeanwhile checks that the large files of a commit that is made while those before it
// are uploaded are uploaded as well, and that other commands of this clone need not wait for that.
func TestLargeFileMeanwhile(t *testing.T) {
	s, there := withLFS(t)
	s.ctx = gitenv.With(s.ctx, append(os.Environ(), "PATH="+inPath(lfsStandIn))) // for its hooks
	s.b = s.open()
	path := s.path("one")
	s.write(path, "first.bin", "first\n")
	s.commitAll(path, "first"+s.trailers("one"))
	pipe := filepath.Join(t.TempDir(), "pipe")
	if out, err := exec.Command("mkfifo", pipe).CombinedOutput(); err != nil {
		t.Fatalf("mkfifo: %v %s", err, out)
	}
	s.write(s.b.Repo().CommonDir(), "lfs/after", "unset GIT_DIR; cd '"+path+"'; echo second >second.bin; git add .; git commit -qm 'second"+s.trailers("one")+"'\n"+
		"echo \"cat '"+pipe+"'\" >\""+s.b.Repo().CommonDir()+"/lfs/before\"\n")
	var held error
	seen := make(chan error)
	go func() {
		writer, err := os.OpenFile(pipe, os.O_WRONLY, 0) // waits for the second upload
		if err == nil {
			var turn *queue.File
			if turn, err = s.b.Repo().OpenQueue(filepath.Join(s.b.Dir(), share.TurnFile)); err == nil {
				held = turn.Try()
				err = turn.Close()
			}
			err = errors.Join(err, writer.Close())
		}
		seen <- err
	}()
	done, _, err := worktrees.Submit(s.ctx, s.b, worktrees.SubmitRequest{Request: gitboard.Request{Actor: s.as("coder-1")}, Task: "one"})
	s.check(err)
	reader, err := os.OpenFile(pipe, os.O_RDWR, 0) // if there was no second upload
	s.check(err)
	defer reader.Close()
	s.check(<-seen)
	if held != nil {
		t.Errorf("during the upload of the second file, others wait: %v", held)
	}
	testrun.Equal(t, done.After.Task("one").ReviewCommit, s.git(path, "rev-parse", "HEAD"), "submitted")
	if got := there(); len(got) != 2 {
		t.Errorf("the remote has %q", got)
	}
}
