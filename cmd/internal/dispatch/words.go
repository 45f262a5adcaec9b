package dispatch

// ways are the commands that do what words of other tools mean.
var ways = map[string]string{
	"add":      "git liza add-task --id ID --desc TEXT --spec FILE --done TEXT --scope TEXT",
	"approve":  "git liza verdict ID APPROVED --checked TEXT --commit COMMIT",
	"assign":   "git liza claim ID takes a task; git liza reassign ID frees it for another coder",
	"board":    "git liza status",
	"close":    "git liza submit ID hands work over; git liza goal complete ends a goal",
	"complete": "git liza submit ID hands work over; git liza goal complete ends a goal",
	"create":   "git liza add-task --id ID --desc TEXT --spec FILE --done TEXT --scope TEXT",
	"delete":   "git liza abandon ID --reason TEXT",
	"done":     "git liza submit ID hands work over; git liza goal complete ends a goal",
	"finish":   "git liza submit ID hands work over; git liza goal complete ends a goal",
	"list":     "git liza status; all of it: git liza read",
	"ls":       "git liza status; all of it: git liza read",
	"man":      "git liza help",
	"new":      "git liza add-task --id ID --desc TEXT --spec FILE --done TEXT --scope TEXT",
	"next":     "git liza prime",
	"ps":       "git liza status",
	"pull":     "git liza sync",
	"push":     "git liza sync",
	"ready":    "git liza prime shows what you can claim; git liza finalize ID makes a draft claimable",
	"reject":   "git liza verdict ID REJECTED --commit COMMIT --blocker 'FILE:LINE|ISSUE|WHY|SUGGESTION' --overall TEXT --spec REF --anomaly ID",
	"remove":   "git liza abandon ID --reason TEXT",
	"rm":       "git liza abandon ID --reason TEXT",
	"stop":     "git liza pause --reason TEXT; for good: git liza abort --reason TEXT",
	"task":     "git liza show ID; all of them: git liza status",
	"tasks":    "git liza status",
	"todo":     "git liza prime",
	"unassign": "git liza release ID",
	"undo":     "git liza revert ID",
	"up":       "git liza start",
	"wait":     "git liza prime --wait",
	"whoami":   "git liza prime",
}

// flagWays are the commands that do what flags of other tools mean.
var flagWays = map[string]string{"web --port": "git liza web --listen 127.0.0.1:PORT"}
