package roles

// Permission says which roles may ask for an operation at all. Conditions beyond the role
// (whose task, which state, which lease) are the operation's own Check.
type Permission struct {
	Op    string
	Roles []Role
}

var (
	everybody = []Role{Planner, Coder, CodeReviewer, Human}
	planning  = []Role{Planner, Human}
	coding    = []Role{Coder}
	reviewing = []Role{CodeReviewer}
	humanOnly = []Role{Human}
)

// Permissions is the permission table: each operation once, in the order of a task's life.
var Permissions = []Permission{
	{"init", humanOnly},
	{"import", humanOnly},
	{"register", []Role{Planner, Coder, CodeReviewer}},
	{"deregister", []Role{Planner, Coder, CodeReviewer}},
	{"agent-status", []Role{Planner, Coder, CodeReviewer}},
	{"add-task", planning},
	{"finalize", planning},
	{"amend-task", planning},
	{"supersede", planning},
	{"abandon", planning},
	{"unblock", planning},
	{"reassign", planning},
	{"alignment", planning},
	{"spec-change", planning},
	{"convert-discovery", planning},
	{"settle-discovery", planning},
	{"ack", planning},
	{"complete-goal", planning},
	{"checkpoint", planning},
	{"deadline", planning},
	{"trip", planning},
	{"claim", coding},
	{"iteration-limit", coding},
	{"pre-exec", coding},
	{"submit", coding},
	{"withdraw", coding},
	{"block", []Role{Planner, Coder, Human}},
	{"handoff", everybody},
	{"release", everybody},
	{"claim-review", reviewing},
	{"verdict", reviewing},
	{"merge", reviewing},
	{"retry-merge", []Role{CodeReviewer, Human}},
	{"finish-merge", everybody},
	{"discover", everybody},
	{"anomaly", everybody},
	{"note", planning},
	{"land", humanOnly},
	{"pause", humanOnly},
	{"resume", humanOnly},
	{"abort", humanOnly},
	{"config", humanOnly},
	{"write", humanOnly},
	{"keys-add", humanOnly},
	{"keys-revoke", humanOnly},
	{"sprint-start", humanOnly},
	{"sprint-end", humanOnly},
	{"retrospective", humanOnly},
	{"resolve", humanOnly},
	{"archive", humanOnly},
}

// May reports whether a role may ask for an operation. An operation that is not in the table is nobody's.
func May(r Role, op string) bool {
	for _, who := range Allowed(op) {
		if who == r {
			return true
		}
	}
	return false
}

// Allowed returns the roles that may ask for an operation.
func Allowed(op string) []Role {
	for _, p := range Permissions {
		if p.Op == op {
			return p.Roles
		}
	}
	return nil
}
