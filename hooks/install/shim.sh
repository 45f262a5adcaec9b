# Made by git liza hooks install. Each hook beside this file reads it.

name=${0##*/}
self=${0%/*}
common=${self%/liza/hooks}
program=@program@

warn() { echo "liza: warning: $1" >&2; }

@project@
hook=$project/$name
@alone@
# asks says whether git liza has a word in this hook, reads whether the hook has a standard input.
asks= reads=
case $name in
@names@
reference-transaction) reads=1; [ "$1" != prepared ] || asks=1 ;;
post-rewrite) reads=1 ;;
esac

if [ -z "$asks" ]; then
	[ -x "$hook" ] || exit 0
	@without@
	exec "$hook" "$@"
fi

input=
if [ "$reads" ]; then
	n=0
	while [ $n -lt 32 ] && IFS= read -r line; do # most have a line or two, and need no child
		n=$((n + 1)) input=$input$line"
"
	done
	if [ $n = 32 ]; then
		rest=$(cat; echo .)
		input=$input${rest%.}
	fi
fi
if [ -x "$hook" ]; then
	if [ "$reads" ]; then
		printf %s "$input" | (@without@; exec "$hook" "$@") || exit
	else
		(@without@; exec "$hook" "$@") || exit
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
