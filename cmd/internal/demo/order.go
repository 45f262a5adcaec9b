package demo

// The orders that an agent can get.
const (
	doJoin    = "join"    // register, take the environment
	doClaim   = "claim"   // Task, or whatever comes next
	doWork    = "work"    // Stage of Task: checkpoint, edit, test, commit
	doSubmit  = "submit"  // Task
	doHandoff = "handoff" // Task; the process ends with 42
	doReview  = "review"  // Task: look, try, verdict
	doMerge   = "merge"   // Task
	doLeave   = "leave"   // deregister; the process ends with 0
)

// Order is a line that an agent reads.
type Order struct {
	Do    string `json:"do"`
	Task  string `json:"task,omitempty"`
	Stage string `json:"stage,omitempty"`
	Exit  int    `json:"exit,omitempty"` // how claim or merge is expected to end
}

// Answer is the line that an agent writes when an order is carried out.
type Answer struct {
	Ran     []Ran  `json:"ran"`
	Task    string `json:"task,omitempty"`    // what was claimed
	Verdict string `json:"verdict,omitempty"` // what was decided
	Error   string `json:"error,omitempty"`
}
