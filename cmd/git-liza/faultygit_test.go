package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The ways in which a git child goes wrong.
const (
	refuses = "refuses" // it does nothing, and exits with 128
	lies    = "lies"    // it does its work, and exits with 128
	dies    = "dies"    // it does its work, and ends by SIGKILL
	crashes = "crashes" // it does its work, and then git-liza ends by SIGKILL
)

var mishaps = []string{refuses, lies, dies, crashes}

// faultyGit counts its calls, one file each, and lets one of them go wrong. It is a shell script because
// a command starts a dozen of them.
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

// saboteur lets commands meet a git that goes wrong.
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
	if err := os.WriteFile(filepath.Join(s.dir, "git"), []byte(faultyGit), 0o755); err != nil {
		t.Fatal(err)
	}
	return s
}

// arm returns the environment in which the call with a number goes wrong; with 0 none does. calls are the
// calls that were made in it, in their order.
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

// shortCall is a call of git, an argument a line, without the options that it always has.
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
