package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// How a git child fails.
const (
	refuses = "refuses" // does nothing and exits with 128
	lies    = "lies"    // does its work and exits with 128
	dies    = "dies"    // does its work and dies by SIGKILL
	crashes = "crashes" // does its work, then git-liza dies by SIGKILL
)

var mishaps = []string{refuses, lies, dies, crashes}

// faultyGit counts its calls, one file each, and makes one of them fail. It is a shell script
// because a command starts a dozen of them.
const faultyGit = `#!/bin/sh
set -C
n=1
until command : >"$FAULTS/$n"; do n=$((n+1)); done 2>/dev/null
set +C
printf '%s\n' "$@" >"$FAULTS/$n"
[ $n = "$FAULT_AT" ] || exec "$FAULT_GIT" "$@"
case $FAULT in
refuses) echo 'fatal: the plug was pulled' >&2; exit 128 ;;
lies) "$FAULT_GIT" "$@"; echo 'fatal: the plug was pulled' >&2; exit 128 ;;
dies) "$FAULT_GIT" "$@"; kill -KILL $$ ;;
crashes) "$FAULT_GIT" "$@"; kill -KILL $PPID; kill -KILL $$ ;;
esac
`

// saboteur runs commands with a git that fails.
type saboteur struct {
	t        *testing.T
	dir, git string
}

func newSaboteur(t *testing.T) *saboteur {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	s := &saboteur{t: t, dir: t.TempDir(), git: git}
	if err := testrun.WriteProgram(filepath.Join(s.dir, "git"), faultyGit); err != nil {
		t.Fatal(err)
	}
	return s
}

// arm returns the environment in which the call with number at fails (0: none), and a function that
// lists the calls made in it, in order.
func (s *saboteur) arm(at int, how string) (env []string, calls func() []string) {
	dir, err := os.MkdirTemp(s.dir, "calls")
	if err != nil {
		s.t.Fatal(err)
	}
	env = []string{
		"PATH=" + s.dir + string(filepath.ListSeparator) + os.Getenv("PATH"),
		"FAULTS=" + dir, "FAULT_GIT=" + s.git, fmt.Sprintf("FAULT_AT=%d", at), "FAULT=" + how,
	}
	return env, func() []string {
		var all []string
		for n := 1; ; n++ {
			line, err := os.ReadFile(filepath.Join(dir, fmt.Sprint(n)))
			if err != nil {
				return all
			}
			all = append(all, shortCall(string(line)))
		}
	}
}

// shortCall is a call of git, one argument per line, without the options that every call has.
func shortCall(call string) string {
	var words []string
	args := strings.Split(strings.TrimSpace(call), "\n")
	for i := 0; i < len(args); i++ {
		switch {
		case args[i] == "-c" || args[i] == "-C":
			i++
		case strings.HasPrefix(args[i], "--git-dir"), strings.HasPrefix(args[i], "--work-tree"):
		default:
			words = append(words, filepath.Base(args[i]))
		}
	}
	return strings.Join(words[:min(len(words), 6)], " ")
}
