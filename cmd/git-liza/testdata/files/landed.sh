# TASK [N]: from the task to its merge, by coder-N and code-reviewer-N
set -e
git-liza add-task --id $1 --desc "Do $1" --spec specs/vision.md --done "it is done" --scope "IN: $1" --kind doc --ready
export LIZA_AGENT_ID=coder-${2:-1}
git-liza claim $1
git-liza pre-exec $1 --intent 'write it down' --validation "cat $1: 2" --file $1
echo $1 >.worktrees/$1/$1
git -C .worktrees/$1 add .
git -C .worktrees/$1 commit -qm "$1"
git-liza submit $1
export LIZA_AGENT_ID=code-reviewer-${2:-1}
git-liza claim-review $1
git-liza verdict $1 APPROVED --checked tests --commit task/$1
git-liza merge $1
