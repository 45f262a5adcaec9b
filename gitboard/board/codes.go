package board

// ErrorCode is the reason of a refusal in a word, for programs: it stays when the message changes.
// The table of codes in the documents is generated from the lines that declare them, here, in audit
// and in the command's edge.
type ErrorCode string

// The codes of refusals.
const (
	CodeInvalid         ErrorCode = "invalid"          // an argument, a field or a value is not one that can be stored
	CodePermission      ErrorCode = "permission"       // the operation is not for this role, this agent or this place
	CodeIdentity        ErrorCode = "identity"         // git does not know who acts, or the name is not the actor's
	CodeSession         ErrorCode = "session"          // the agent is not registered, or another process is registered under its id
	CodeSignature       ErrorCode = "signature"        // the commit is not signed by a key of its actor, or can't be
	CodeNoKey           ErrorCode = "no-key"           // nobody could sign: no human has a key on the board
	CodeNoBoard         ErrorCode = "no-board"         // there is no board in this repository
	CodeExists          ErrorCode = "exists"           // it is there, done or recorded already
	CodeWrongState      ErrorCode = "wrong-state"      // the task, agent, sprint or goal is not in a state from which this starts
	CodeMode            ErrorCode = "mode"             // the board, the task or this clone is paused, halted or stopped
	CodeLease           ErrorCode = "lease"            // somebody's lease is live, or the caller's own is lost
	CodeBusy            ErrorCode = "busy"             // somebody else is merging or sharing: exit code 2, try again
	CodeLimit           ErrorCode = "limit"            // the task has used its iterations
	CodeExhausted       ErrorCode = "exhausted"        // two attempts at the task failed: its definition must change first
	CodeReserved        ErrorCode = "reserved"         // the task is reserved for another coder
	CodeDependency      ErrorCode = "dependency"       // the task waits for others
	CodeDependents      ErrorCode = "dependents"       // other tasks depend on the task
	CodeGate            ErrorCode = "gate"             // the task lacks what it needs before the next step: a field, its spec, a checkpoint
	CodeCheckpoint      ErrorCode = "checkpoint"       // the iteration has no pre-execution checkpoint
	CodeTests           ErrorCode = "tests"            // a task of kind code changes no test
	CodeUnread          ErrorCode = "unread"           // a note for the agent or its task was not shown to it yet
	CodeRejected        ErrorCode = "rejected"         // the same files were rejected before, and nothing else is asked for
	CodeEmpty           ErrorCode = "empty"            // there is nothing to submit or to land
	CodeStale           ErrorCode = "stale"            // the commit named is not the one that counts
	CodeSecret          ErrorCode = "secret"           // the text looks like it holds a credential
	CodeInvariant       ErrorCode = "invariant"        // the board would contradict itself
	CodeUnknownTask     ErrorCode = "unknown-task"     // no task has this id
	CodeUnknownAgent    ErrorCode = "unknown-agent"    // no agent has this id
	CodeUnknownRecord   ErrorCode = "unknown-record"   // no record has this name
	CodeUnknownSprint   ErrorCode = "unknown-sprint"   // no ended sprint has this id
	CodeUnknownDocument ErrorCode = "unknown-document" // no document has this name
	CodeNoWork          ErrorCode = "no-work"          // nothing waits for the caller
	CodeBare            ErrorCode = "bare"             // the repository has no working tree
	CodeNoRoot          ErrorCode = "no-root"          // the main worktree can't be found from here
	CodeNoCommit        ErrorCode = "no-commit"        // the repository has no commit yet
	CodeNoIntegration   ErrorCode = "no-integration"   // the integration branch is missing here
	CodeSetBack         ErrorCode = "set-back"         // integration lacks where the last landing left it
	CodeInTheWay        ErrorCode = "in-the-way"       // a branch, directory or worktree is where one of the board's belongs
	CodeCheckedOut      ErrorCode = "checked-out"      // the branch is checked out somewhere else
	CodeNested          ErrorCode = "nested"           // a worktree holds a repository of its own, which can't be kept
	CodeMissing         ErrorCode = "missing"          // the commits are not in this clone
	CodeMalformed       ErrorCode = "malformed"        // the commit brings an object that git refuses, or files where git liza keeps its own
	CodeConflict        ErrorCode = "conflict"         // the merge still conflicts
	CodeOverlap         ErrorCode = "overlap"          // changes in a checkout of integration are in the way
	CodeNotForward      ErrorCode = "not-forward"      // the commit does not descend from integration
	CodeWrongBranch     ErrorCode = "wrong-branch"     // a commit in a task's worktree that is not on the task's branch
	CodeDirty           ErrorCode = "dirty"            // a worktree holds changes that are not committed
	CodeElsewhere       ErrorCode = "elsewhere"        // the worktree is in another clone
	CodeUnrelated       ErrorCode = "unrelated"        // the branch has no history in common with integration
	CodeDirectory       ErrorCode = "directory"        // the directory can't be used for this
	CodeNotShared       ErrorCode = "not-shared"       // this clone shares its board with no other
	CodeNoToken         ErrorCode = "no-token"         // no token for the host of pull requests is known, or the host does not take it
	CodeForge           ErrorCode = "forge-refused"    // the host of pull requests refused
	CodeMoved           ErrorCode = "moved"            // somebody pushed to the branch of a pull request
	CodeUnfinished      ErrorCode = "unfinished"       // a task of the goal is still open
	CodeNoRemote        ErrorCode = "no-remote"        // there is no remote of this name
	CodeUnfitRemote     ErrorCode = "unfit-remote"     // the remote does not accept what a board needs
	CodeAmbiguous       ErrorCode = "ambiguous"        // several remotes have a board
	CodeShallow         ErrorCode = "shallow"          // the history that is needed is cut off
	CodeMirror          ErrorCode = "mirror"           // git's settings would overwrite what the board shares
	CodeHistory         ErrorCode = "history"          // a push would take operations back
	CodeRef             ErrorCode = "ref"              // a push moves a ref that this kind of push does not move
	CodeIntegration     ErrorCode = "integration"      // integration and the board's record of it do not move together
	CodeTime            ErrorCode = "time"             // an operation or lease is from the future
	CodeSize            ErrorCode = "size"             // a push brings more to the board than records need
	CodeUnchecked       ErrorCode = "unchecked"        // the server could not check the push
)
