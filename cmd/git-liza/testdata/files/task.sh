# TASK [OPTION...]: a task that is ready
id=$1; shift
exec git-liza add-task --id $id --desc "Add $id" --spec specs/vision.md --done "sh test_$id.sh prints ok" --scope "IN: $id.sh" --ready "$@"
