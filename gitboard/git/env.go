package git

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// localVars point git at a repository, an index, a pathspec dialect or a diff program. Our children
// get these in their arguments, so the environment of this process (a hook, an alias, a shell) must
// not override them. The list starts from `git rev-parse --local-env-vars`; GIT_CONFIG_PARAMETERS
// and GIT_CONFIG_COUNT stay, since they carry `git -c key=value liza`.
var localVars = map[string]bool{
	"GIT_DIR": true, "GIT_WORK_TREE": true, "GIT_INDEX_FILE": true,
	"GIT_COMMON_DIR": true, "GIT_PREFIX": true, "GIT_NAMESPACE": true,
	"GIT_IMPLICIT_WORK_TREE": true, "GIT_INTERNAL_SUPER_PREFIX": true,
	"GIT_CONFIG": true, "GIT_GRAFT_FILE": true, "GIT_REPLACE_REF_BASE": true,
	"GIT_LITERAL_PATHSPECS": true, "GIT_GLOB_PATHSPECS": true,
	"GIT_NOGLOB_PATHSPECS": true, "GIT_ICASE_PATHSPECS": true,
	"GIT_EXTERNAL_DIFF": true, "GIT_DIFF_OPTS": true, "GIT_ATTR_SOURCE": true,
	"GIT_REFLOG_ACTION": true, "GIT_DEFAULT_HASH": true,
}

// quarantineVars name the place where receive-pack keeps the objects of a push until the hooks have
// accepted it. A server hook would not see those objects without them.
var quarantineVars = map[string]bool{
	"GIT_OBJECT_DIRECTORY": true, "GIT_ALTERNATE_OBJECT_DIRECTORIES": true,
	"GIT_SHALLOW_FILE": true,
}

// quiet keeps a child from prompting and from using another language, and makes it see the real
// objects rather than refs/replace and grafts.
var quiet = []string{
	"LC_ALL=C", "LANGUAGE=C", "GIT_TERMINAL_PROMPT=0", "GIT_EDITOR=true",
	"GIT_SEQUENCE_EDITOR=true", "GIT_NO_REPLACE_OBJECTS=1", "GIT_GRAFT_FILE=" + os.DevNull,
}

// signingKey is the variable that names the caller's private key. It is withheld because git runs
// programs of the project (filters, merge drivers) that agents may have written.
const signingKey = "LIZA_SIGNING_KEY"

// cleanEnv returns an environment as children may see it.
func cleanEnv(given environ) []string {
	quarantined := given.quarantined()
	var env []string
	for _, entry := range given {
		key, _, _ := strings.Cut(entry, "=")
		if localVars[key] || key == signingKey || quarantineVars[key] && !quarantined || isPushTrace(entry) {
			continue
		}
		env = append(env, entry)
	}
	return append(env, quiet...)
}

// Elsewhere returns an environment for a program that must find its own repository: without the
// variables that point git at one or at the quarantine of a push.
func Elsewhere(environ []string) []string {
	var env []string
	for _, entry := range environ {
		key, _, _ := strings.Cut(entry, "=")
		if !localVars[key] && !quarantineVars[key] && key != "GIT_QUARANTINE_PATH" && key != "GIT_CEILING_DIRECTORIES" {
			env = append(env, entry)
		}
	}
	return env
}

// where returns the variables by which git finds the repository, for children that start before
// Open has found it.
func (e environ) where() []string {
	var env []string
	for _, key := range []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_IMPLICIT_WORK_TREE"} {
		if value, given := e.lookup(key); given {
			env = append(env, key+"="+value)
		}
	}
	return env
}

// quarantined reports whether a process with this environment runs inside a push's quarantine.
func (e environ) quarantined() bool { return e.get("GIT_QUARANTINE_PATH") != "" }

// authorEnv makes who both author and committer. With a zero time, git uses the current time.
func authorEnv(who plumbing.Signature) []string {
	env := []string{
		"GIT_AUTHOR_NAME=" + who.Name, "GIT_AUTHOR_EMAIL=" + who.Email,
		"GIT_COMMITTER_NAME=" + who.Name, "GIT_COMMITTER_EMAIL=" + who.Email,
	}
	if !who.When.IsZero() {
		date := gitDate(who.When)
		env = append(env, "GIT_AUTHOR_DATE="+date, "GIT_COMMITTER_DATE="+date)
	}
	return env
}

// gitDate formats t in git's internal format, seconds and zone. The @ keeps git from reading small
// numbers as another format.
func gitDate(t time.Time) string {
	return fmt.Sprintf("@%d %s", t.Unix(), t.Format("-0700"))
}
