package call

import "github.com/git-liza/git-liza/gitboard/board"

// The codes of errors that are not refusals.
const (
	CodeUsage             board.ErrorCode = "usage"              // the command line can't be understood
	CodeNotARepository    board.ErrorCode = "not-a-repository"   // there is no git repository here
	CodeForeign           board.ErrorCode = "foreign"            // the repository belongs to another user of this machine
	CodeLostRace          board.ErrorCode = "lost-race"          // others were faster on every retry, or a lock stayed
	CodeInconsistent      board.ErrorCode = "inconsistent"       // the board can't be read, or the remote has lost it
	CodeDiverged          board.ErrorCode = "diverged"           // two clones hold histories that do not follow from each other
	CodeNewerFormat       board.ErrorCode = "newer-format"       // a newer git-liza wrote this board
	CodeUnsupported       board.ErrorCode = "unsupported"        // git is too old
	CodeMissingProgram    board.ErrorCode = "missing-program"    // another program is missing
	CodeRejected          board.ErrorCode = "rejected"           // the remote did not take a push
	CodeMergeCorrupt      board.ErrorCode = "merge-corrupt"      // a pull request is called merged, and its base does not hold what it offered
	CodeNetwork           board.ErrorCode = "network"            // the remote can't be reached
	CodeStorage           board.ErrorCode = "storage"            // git could not read or write its files
	CodeGit               board.ErrorCode = "git"                // git failed at something else
	CodeInterrupted       board.ErrorCode = "interrupted"        // a signal ended it
	CodeFailed            board.ErrorCode = "failed"             // it failed for another reason
	CodeIntegrationFailed board.ErrorCode = "integration-failed" // a merge met a conflict or a failing test: the task is INTEGRATION_FAILED
	CodeProblems          board.ErrorCode = "problems"           // doctor or recover-task left problems
	CodePattern           board.ErrorCode = "pattern"            // analyze found a pattern: the circuit breaker has tripped
	CodeAlarm             board.ErrorCode = "alarm"              // watch --once found conditions for a human to look at
	CodeRefused           board.ErrorCode = "refused"            // some queued operations were refused, and are kept aside
	CodeViolation         board.ErrorCode = "violation"          // the history breaks the rules
	CodeEditor            board.ErrorCode = "editor"             // the editor failed
	CodeStopped           board.ErrorCode = "stopped"            // a supervisor has stopped
	CodeExit              board.ErrorCode = "exit"               // an agent ended with a code of its own
)
