package demo

// The orders that an agent can get.
const (
	doJoin    = "join"    // register and take over the environment
	doClaim   = "claim"   // Task, or the next one
	doWork    = "work"    // Stage of Task: checkpoint, edit, test, commit
	doSubmit  = "submit"  // Task
	doHandoff = "handoff" // Task; the process ends with 42
	doReview  = "review"  // Task: look, try, give the verdict
	doMerge   = "merge"   // Task
	doLeave   = "leave"   // deregister; the process ends with 0
)

// Order is a line that an agent reads.
type Order struct {
	Do    string `json:"do"`
	Task  string `json:"task,omitempty"`
	Stage string `json:"stage,omitempty"`
	Exit  int    `json:"exit,omitempty"` // expected exit code of claim or merge
}

// Answer is the line that an agent writes after an order.
type Answer struct {
	Ran     []Ran  `json:"ran"`
	Task    string `json:"task,omitempty"`    // the claimed task
	Verdict string `json:"verdict,omitempty"` // the verdict given
	Error   string `json:"error,omitempty"`
}
