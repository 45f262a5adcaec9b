# TASK CODER FILE TEXT: from claim to submission
set -e
LIZA_AGENT_ID=$2; export LIZA_AGENT_ID
git-liza claim $1
git-liza pre-exec $1 --intent "write $3" --validation "sh test_$3 prints ok" --file $3 --file test_$3
echo "$4" >.worktrees/$1/$3
echo "$4" >.worktrees/$1/test_$3
git -C .worktrees/$1 add -A
git -C .worktrees/$1 commit -q -m "Write $3"
git-liza submit $1
