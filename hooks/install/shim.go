package install

import (
	_ "embed"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git/disk"
	"github.com/git-liza/git-liza/gitboard/git/gitenv"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

//go:embed shim.sh
var shim string

// hook is the text of each hook of a clone. It stops nobody while the run file is being written.
const hook = "#!/bin/sh\nrun=${0%/*}/" + runFile + "\n[ ! -r \"$run\" ] || . \"$run\"\n"

// serverHook is the text of each hook of a server. A whole run file exits by itself; without it all
// moves are refused.
const serverHook = hook + `echo "liza: the hooks of this server are damaged, so nothing moves; its admin can install them again: git liza hooks install --server" >&2
exit 1
`

// hookText is the text of each hook.
func hookText(server bool) string {
	if server {
		return serverHook
	}
	return hook
}

// clientHooks are the hooks that git runs in worktrees (githooks). Where ours are on, the project's
// own hooks are run only by ours.
var clientHooks = []string{
	"applypatch-msg", "pre-applypatch", "post-applypatch", "pre-commit", "pre-merge-commit", "prepare-commit-msg", "commit-msg",
	"post-commit", "pre-rebase", "post-checkout", "post-merge", "pre-push", "reference-transaction", "post-rewrite",
	"post-index-change", "pre-auto-gc", "sendemail-validate",
}

// serverHooks are the hooks that git runs when it receives a push, and in gc.
var serverHooks = slices.Concat([]string{"pre-receive", "proc-receive", "reference-transaction"}, passedOn)

// passedOn are those in which git-liza has no word. One that the server has not when ours are
// installed is a link to where it would be: git starts nothing while there is nothing.
var passedOn = []string{"update", "post-receive", "post-update", "pre-auto-gc"}

// installHook writes a hook in one step, so that git never misses it. project is the directory of a
// server's own hooks, "" in a clone.
func installHook(dir, name, project string) error {
	file, made, own := filepath.Join(dir, name), filepath.Join(dir, "."+name+"-"+strconv.Itoa(os.Getpid())), filepath.Join(project, name)
	err := os.ErrExist
	if project != "" && slices.Contains(passedOn, name) {
		if _, missing := os.Stat(own); missing != nil {
			err = os.Symlink(own, made)
		}
	}
	if err != nil {
		err = os.WriteFile(made, []byte(hookText(project != "")), 0o755)
	}
	if err == nil {
		err = os.Rename(made, file)
	}
	if err != nil {
		return errors.Join(err, disk.Remove(made))
	}
	return nil
}

// isHook reports whether a file is what installHook has made.
func isHook(dir, name string, server bool) bool {
	file := filepath.Join(dir, name)
	if to, err := os.Readlink(file); err == nil {
		return slices.Contains(passedOn, name) && filepath.Base(to) == name && filepath.Dir(to) != dir
	}
	info, err := os.Stat(file)
	text, _ := os.ReadFile(file) // what can't be read is none
	return err == nil && string(text) == hookText(server) && (isExecutable(info.Mode()) || runtime.GOOS == "windows")
}

// isExecutable reports whether its owner, and all others who may read a file, may also execute it.
// Who that is depends on the umask.
func isExecutable(mode os.FileMode) bool {
	return mode&0o100 != 0 && mode&0o111 == (mode&0o444)>>2
}

// clientProject finds the project's hooks each time, because the tool that manages them may be set
// up later.
const clientProject = `# The project's hooks are where core.hooksPath says without us, else in hooks/. A relative path is the worktree's;
# what is not checked out there (husky makes its directory in the main worktree alone) is the main worktree's.
project=
while IFS= read -r dir; do
	case $dir in '' | "$self") ;; *) project=$dir ;; esac # an agent's shell may have emptied it
done <<PATHS
$(git config --type=path --get-all core.hooksPath)
PATHS
case $project in
'') project=$common/hooks ;;
/*) ;;
*) [ -d "$project" ] || project=${common%/.git}/$project ;;
esac`

// clientAlone lets the project's hooks see git without our setting, because they may use hooks
// themselves (lint-staged stashes, lefthook installs hooks). Settings from the environment come
// last, so one more include there sets the path of the project's hooks. The file is rewritten only
// if the path has changed; if it can't be written, our hooks stay on.
const clientAlone = `
without() {
	known=
	[ ! -r "$self/project" ] || IFS= read -r known <"$self/project"
	if [ "$known" != "# $project" ]; then
		case $project in *"
"*) return ;; esac
		new=$self/project.$$
		{ echo "# $project" >"$new" && git config --file "$new" core.hooksPath "$project" && mv "$new" "$self/project"; } 2>/dev/null || { rm -f "$new"; return; }
	fi
	export GIT_CONFIG_PARAMETERS="${GIT_CONFIG_PARAMETERS:+$GIT_CONFIG_PARAMETERS }"@alone@
}
`

// serverProject sets the server's own hooks as found when ours were installed: a push of many
// branches runs the hooks often.
func serverProject(dir string) string {
	if dir == "" {
		return "project=$common/hooks"
	}
	return "project=" + quote(dir)
}

// run is the text of the file that all hooks of the repository common read. own is the directory of
// a server's own hooks, "" for the usual one.
func run(common, program string, server bool, own string) string {
	project, alone, without := clientProject, strings.ReplaceAll(clientAlone, "@alone@", quote(gitenv.AddSettings("", gitenv.IncludeWithin(common, common+"/liza/hooks/project")...))), "without"
	names, filter, flag := "pre-commit|pre-merge-commit|commit-msg) asks=1 ;;\npost-checkout) [ \"$3\" = 0 ] || asks=1 ;;\npre-push) reads=1 asks=1 ;;", "", ""
	otherwise := "warn \"git-liza does not answer, so nothing was checked; reinstall it, or: git liza hooks uninstall\"\nexit 0"
	if server {
		project, alone, without = serverProject(own), "", ":"
		names, flag = "pre-receive) reads=1 asks=1 ;;\n"+serverSequence, " --server"
		refs := strings.NewReplacer("@board@", plumbing.BoardRef, "@home@", plumbing.HomeRef, "@homebranch@", plumbing.AsBranch(plumbing.HomeRef), "@inbox@", plumbing.InboxPrefix, "@sequencer@", plumbing.SequencerPrefix, "@boards@", plumbing.BoardPrefix, "@own@", plumbing.OwnPrefix, "@heads@", plumbing.HeadsPrefix)
		filter, otherwise = refs.Replace(serverFilter), serverOtherwise
	}
	return strings.NewReplacer("@project@", project, "@alone@", alone, "@without@", without, "@program@", quote(program), "@names@", names, "@filter@", filter, "@server@", flag, "@otherwise@", otherwise).Replace(shim)
}

// isRun reports whether run has made a text for a repository, whatever the program and the
// directory of a server's own hooks.
func isRun(text, common string, server bool) bool {
	own, _ := quoted(text, "project=")
	program, _ := quoted(text, "program=")
	return text == run(common, program, server, own)
}

// quoted returns the quoted word behind a name at the beginning of a line.
func quoted(text, name string) (word string, found bool) {
	for line := range strings.SplitSeq(text, "\n") {
		if word, is := strings.CutPrefix(line, name+"'"); is {
			return strings.ReplaceAll(strings.TrimSuffix(word, "'"), `'\''`, "'"), true
		}
	}
	return "", false
}

// serverFilter allows, without starting git-liza, moves of refs that are not the board's and moves
// that pre-receive has proven (KeepProven). ours is a ref that needs a check. It ignores
// refs/replace, where anybody may push. git-liza has recorded which branch is integration, together
// with the id of the settings that say so (KeepIntegration). With other settings, or where the
// board's ref has been lost, any branch may be integration, and git-liza decides.
//
// First of all it refuses a push that would make the server shallow (receive.shallowUpdate), to
// whatever branch: what lacks its history can't be checked. For a push from a shallow clone, git
// lets hooks see the history as that clone has it.
const serverFilter = `
if [ "$GIT_SHALLOW_FILE" ] && [ "$name" = pre-receive ]; then
	while read -r old new ref; do
		case $new in *[!0]*) echo "$new" ;; esac
	done <<MOVES | (unset GIT_SHALLOW_FILE; git rev-list --quiet --stdin --not --all 2>/dev/null) || { echo "liza: this would cut off the history here as in the shallow clone that pushes; instead: git fetch --unshallow" >&2; exit 1; }
$input
MOVES
fi
ours= board= key=
while read -r old new ref; do
	case $ref in
	@inbox@*) # proc-receive answers for it
		[ "$name" = pre-receive ] || case $new in *[!0]*) echo "liza: $ref is not kept as a ref: this server's git has no proc-receive hook" >&2; exit 1 ;; esac
		;;
	@sequencer@*) ;; # and for it
	@board@) ours=$ref key=$new board=1 ;;
	@boards@*|@own@*)
		case $new in
		*[!0]*)
			ours=$ref
			[ "$board" ] || key=$new
			;;
		*) [ "$name" = reference-transaction ] || ours=$ref ;; # pre-receive has looked at what a transaction deletes
		esac
		;;
	esac
done <<MOVES
$input
MOVES
if [ "$key" ] && [ "$name" = reference-transaction ] && [ -r "$self/` + provenDir + `/$key" ]; then
	proven=
	while IFS= read -r line; do
		proven=$proven$line"
"
	done <"$self/` + provenDir + `/$key"
	[ "$proven" != "$input" ] || exit 0
fi
if [ -z "$ours" ]; then
	case $input in
	*" @heads@"*) ;;
	*) exit 0 ;;
	esac
	every= known= integration=
	config=$(GIT_NO_REPLACE_OBJECTS=1 git rev-parse -q --verify @board@:config.yaml 2>/dev/null) || config=
	[ ! -r "$self/` + integrationFile + `" ] || { IFS= read -r known && IFS= read -r integration; } <"$self/` + integrationFile + `"
	if [ -z "$config" ]; then
		for known_ref in @board@ @home@ @homebranch@; do # a board that has been lost guards as well
			! git rev-parse -q --verify $known_ref >/dev/null 2>&1 || every=1
		done
	elif [ "$config" != "$known" ]; then
		every=1
	fi
	while read -r old new ref; do
		case $ref in
		'') ;;
		"$integration") ours=$ref ;;
		@heads@*) [ -z "$every" ] || ours=$ref ;;
		esac
	done <<MOVES
$input
MOVES
	[ "$ours" ] || exit 0
fi
`

// serverSequence lets git-liza talk to git, in git's own protocol (githooks, proc-receive).
const serverSequence = `proc-receive)
	[ ! -x "$hook" ] || exec "$hook" "$@"
	[ -x "$program" ] && [ ! -d "$program" ] || program=$(command -v git-liza) || exit 1
	exec "$program" hook --server -- proc-receive "$project"
	;;`

// serverOtherwise keeps the refs locked if git-liza does not answer.
const serverOtherwise = `echo "liza: git-liza does not answer on this server, so $ours stays; its admin can reinstall it, or: git liza hooks uninstall --server" >&2
exit 1`

// quote quotes a word for the shell.
func quote(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }
