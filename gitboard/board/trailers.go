package board

import "strings"

// The trailers that hooks add to commits on a task's branch.
const (
	TaskTrailer  = "Liza-Task"
	AgentTrailer = "Liza-Agent"
)

// MadeFor reads from the last paragraph of a commit's message which agent claims to have made it,
// and for which task; "" if it names none.
func MadeFor(message string) (task, agent string) {
	block := strings.TrimRight(message, "\n")
	if at := strings.LastIndex(block, "\n\n"); at >= 0 {
		block = block[at:]
	}
	for line := range strings.SplitSeq(block, "\n") {
		if v, is := strings.CutPrefix(line, TaskTrailer+": "); is {
			task = strings.TrimSpace(v)
		} else if v, is := strings.CutPrefix(line, AgentTrailer+": "); is {
			agent = strings.TrimSpace(v)
		}
	}
	return task, agent
}
