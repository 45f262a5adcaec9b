package proc

import (
	"os"
	"strconv"
	"strings"
)

// ID identifies a process among all that ever ran on this machine, by four words: its number, the boot,
// its start, and the namespace of its number (a container has its own). It is "" for a process that
// can't be identified.
type ID string

// boot, ticks and space are the places of an ID's words after the number.
const (
	boot  = 1
	ticks = 2
	space = 3
)

// This is the ID of this process.
func This() ID { return Of(os.Getpid()) }

// fields returns the words of an ID, nil if it has not four of them.
func (id ID) fields() []string {
	if words := strings.Fields(string(id)); len(words) == space+1 {
		return words
	}
	return nil
}

// PID returns the number, 0 if there is none.
func (id ID) PID() int {
	number, _, _ := strings.Cut(string(id), " ")
	pid, _ := strconv.Atoi(number)
	return pid
}

// Runs reports whether this very process runs and can be seen.
func (id ID) Runs() bool { return id != "" && Of(id.PID()) == id }

// Ended reports whether the process has certainly ended. It is false for a process of another machine,
// boot or namespace, whose processes are unknown.
func (id ID) Ended() bool { return endedBeside(This(), id) }

// Elsewhere reports whether the process is in another namespace than this one.
func (id ID) Elsewhere() bool {
	words := id.fields()
	return words != nil && words[space] != Space()
}

// GroupRuns reports whether a process of the group runs that the process led. The kernel gives no
// process the number of a group that exists, so a leader with another ID leads another group. If the
// leader has ended, its group is what remains, unless the machine has been started since.
func (id ID) GroupRuns() bool {
	if leader := Of(id.PID()); leader != "" || id == "" {
		return leader == id && id != ""
	}
	own, words := This().fields(), id.fields()
	return own != nil && words != nil && own[boot] == words[boot] && GroupLives(id.PID())
}
