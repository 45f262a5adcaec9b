# Made by git liza hooks install. Each hook beside this file reads it.

name=${0##*/}
self=${0%/*}
common=${self%/liza/hooks}
program=@program@

warn() { echo "liza: warning: $1" >&2; }

# The project's hooks are where core.hooksPath says without us, else in hooks/. A relative path is the worktree's;
# what is not checked out there (husky makes its directory in the main worktree alone) is the main worktree's.
project=
while IFS= read -r dir; do
	[ "$dir" = "$self" ] || project=$dir
done <<PATHS
$(git config --type=path --get-all core.hooksPath)
PATHS
case $project in
'') project=$common/hooks ;;
/*) ;;
*) [ -d "$project" ] || project=${common%/.git}/$project ;;
esac
hook=$project/$name

# asks says whether git liza has a word in this hook, reads whether the hook has a standard input.
asks= reads=
case $name in
@names@
reference-transaction) reads=1; [ "$1" != prepared ] || asks=1 ;;
post-rewrite) reads=1 ;;
esac

if [ -z "$asks" ]; then
	[ ! -x "$hook" ] || exec "$hook" "$@"
	exit 0
fi

input=
if [ "$reads" ]; then
	input=$(cat; echo .)
	input=${input%.}
fi
if [ -x "$hook" ]; then
	if [ "$reads" ]; then
		printf %s "$input" | "$hook" "$@" || exit
	else
		"$hook" "$@" || exit
	fi
fi
@filter@
[ -x "$program" ] && [ ! -d "$program" ] || program=$(command -v git-liza) || program=
answer=
if [ "$program" ]; then
	answer=$(printf %s "$input" | "$program" hook@server@ -- "$name" "$@")
fi
case $answer in
allow) exit 0 ;;
refuse) exit 1 ;;
esac
@otherwise@
