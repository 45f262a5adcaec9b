# An agent of any role: two tasks, one and two, are planned, done and approved.
field() { sed -n "s/^$1: //p" "$LIZA_PROMPT_FILE" | head -1; }
task=$(field 'TASK ID')
case $LIZA_AGENT_ID in
planner-*)
	test "$(field 'WAKE TRIGGER')" = INITIAL_PLANNING || exit 0
	for t in one two; do
		git liza add-task --id $t --desc "Write $t" --spec specs/vision.md --done "$t.txt says $t" --scope "IN: $t.txt" --kind doc
		git liza finalize $t
	done
	git liza alignment 'Two files say it' ;;
coder-*)
	cd "$(field WORKTREE)"
	git liza pre-exec $task --intent "write $task" --validation "cat $task.txt: $task" --file $task.txt
	echo $task > $task.txt
	git add $task.txt
	git commit -q -m "Add $task"
	git liza submit $task
	exit 42 ;;
code-reviewer-*)
	git liza verdict $task APPROVED --checked tests --commit "$(field 'REVIEW COMMIT')" ;;
esac
