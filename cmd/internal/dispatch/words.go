package dispatch

// ways are the commands that do what words of other tools mean.
var ways = map[string]string{
	"add":         "git liza add-task --id ID --desc TEXT --spec FILE --done TEXT --scope TEXT",
	"agents":      "git liza status",
	"approve":     "git liza verdict ID APPROVED --checked TEXT --commit COMMIT",
	"ask":         "git liza block ID --reason TEXT --question TEXT; a human asks by git liza note TEXT --for ID",
	"assign":      "git liza claim ID takes a task; git liza reassign ID frees it for another coder",
	"board":       "git liza status",
	"cancel":      "git liza abandon ID --reason TEXT",
	"close":       "git liza submit ID hands work over; git liza goal complete ends a goal",
	"complete":    "git liza submit ID hands work over; git liza goal complete ends a goal",
	"continue":    "git liza resume",
	"create":      "git liza add-task --id ID --desc TEXT --spec FILE --done TEXT --scope TEXT",
	"create-task": "git liza add-task --id ID --desc TEXT --spec FILE --done TEXT --scope TEXT",
	"dashboard":   "git liza web in a browser; git liza status --watch in a terminal",
	"delete":      "git liza abandon ID --reason TEXT",
	"done":        "git liza submit ID hands work over; git liza goal complete ends a goal",
	"events":      "git liza log",
	"finish":      "git liza submit ID hands work over; git liza goal complete ends a goal",
	"history":     "git liza log",
	"join":        "git liza init joins the board of a shared project",
	"list":        "git liza status; all of it: git liza read",
	"ls":          "git liza status; all of it: git liza read",
	"man":         "git liza help",
	"new":         "git liza add-task --id ID --desc TEXT --spec FILE --done TEXT --scope TEXT",
	"new-task":    "git liza add-task --id ID --desc TEXT --spec FILE --done TEXT --scope TEXT",
	"next":        "git liza prime",
	"ps":          "git liza status",
	"pull":        "git liza sync",
	"push":        "git liza sync",
	"question":    "git liza block ID --reason TEXT --question TEXT; a human asks by git liza note TEXT --for ID",
	"ready":       "git liza prime shows what you can claim; git liza finalize ID makes a draft claimable",
	"reject":      "git liza verdict ID REJECTED --commit COMMIT --blocker 'FILE:LINE|ISSUE|WHY|SUGGESTION' --overall TEXT --spec REF --anomaly ID",
	"remove":      "git liza abandon ID --reason TEXT",
	"reply":       "git liza answer ID TEXT",
	"rm":          "git liza abandon ID --reason TEXT",
	"settings":    "git liza config get shows them; git liza config set KEY VALUE changes one",
	"stop":        "git liza pause --reason TEXT; for good: git liza abort --reason TEXT",
	"take":        "git liza claim ID",
	"task":        "git liza show ID; all of them: git liza status",
	"tasks":       "git liza status",
	"todo":        "git liza prime",
	"ui":          "git liza web in a browser; git liza status --watch in a terminal",
	"unassign":    "git liza release ID",
	"unclaim":     "git liza release ID",
	"undo":        "git liza revert ID",
	"unpause":     "git liza resume",
	"up":          "git liza start",
	"wait":        "git liza prime --wait",
	"whoami":      "git liza prime",
}

// flagWays are the commands that do what flags of other tools mean.
var flagWays = map[string]string{
	"agent --role":      "git liza agent ROLE",
	"verdict --approve": ways["approve"],
	"verdict --reject":  ways["reject"],
	"web --port":        "git liza web --listen 127.0.0.1:PORT",
}

// arguments are the arguments that flags of other tools stand for.
var arguments = map[string]string{"goal": "GOAL", "id": "ID", "message": "TEXT", "task": "ID", "text": "TEXT"}

// synonyms are the flags that flags of other tools stand for.
var synonyms = map[string]string{"because": "reason", "limit": "max", "message": "reason", "name": "title"}
