package gitenv

import (
	"context"
	"os"
	"path/filepath"
	"strings"
)

// List is an environment: entries "KEY=value", of which the last one of a key counts.
type List []string

type key struct{}

// With returns a context for an environment other than that of this process. Repositories
// opened with it, and their children, see that environment.
func With(ctx context.Context, entries []string) context.Context {
	return context.WithValue(ctx, key{}, List(entries))
}

// Of returns the environment of ctx: that of this process, unless With gave another.
func Of(ctx context.Context) List {
	if given, is := ctx.Value(key{}).(List); is {
		return given
	}
	return os.Environ()
}

func (e List) Lookup(key string) (value string, given bool) {
	for _, entry := range e {
		if v, is := strings.CutPrefix(entry, key+"="); is {
			value, given = v, true
		}
	}
	return value, given
}

func (e List) Get(key string) string {
	value, _ := e.Lookup(key)
	return value
}

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

// Quiet keeps a child from prompting and from using another language, and makes it see the real
// objects rather than refs/replace and grafts.
var Quiet = []string{
	"LC_ALL=C", "LANGUAGE=C", "GIT_TERMINAL_PROMPT=0", "GIT_EDITOR=true",
	"GIT_SEQUENCE_EDITOR=true", "GIT_NO_REPLACE_OBJECTS=1", "GIT_GRAFT_FILE=" + os.DevNull,
}

// signingKey is the variable that names the caller's private key. It is withheld because git runs
// programs of the project (filters, merge drivers) that agents may have written.
const signingKey = "LIZA_SIGNING_KEY"

// Clean returns an environment as children may see it.
func Clean(given List) []string {
	quarantined := given.Quarantined()
	var env []string
	for _, entry := range given {
		key, _, _ := strings.Cut(entry, "=")
		if localVars[key] || key == signingKey || quarantineVars[key] && !quarantined || isPushTrace(entry) {
			continue
		}
		env = append(env, entry)
	}
	return append(env, Quiet...)
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

// Where returns the variables by which git finds the repository, for children that start before
// Open has found it.
func (e List) Where() []string {
	var env []string
	for _, key := range []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_IMPLICIT_WORK_TREE"} {
		if value, given := e.Lookup(key); given {
			env = append(env, key+"="+value)
		}
	}
	return env
}

// Quarantined reports whether a process with this environment runs inside a push's quarantine.
func (e List) Quarantined() bool { return e.Get("GIT_QUARANTINE_PATH") != "" }

// TraceKey is the variable that names the file of git's own record of its steps (trace2 events), and
// PushTrace begins the name of one that records a push.
const (
	TraceKey  = "GIT_TRACE2_EVENT"
	PushTrace = ".push-trace-"
)

// isPushTrace reports whether an entry of the environment names the record of a push. The hooks of
// a remote on this machine inherit it, and nothing that their children do belongs there.
func isPushTrace(entry string) bool {
	file, is := strings.CutPrefix(entry, TraceKey+"=")
	return is && strings.HasPrefix(filepath.Base(file), PushTrace)
}
