package supervisor

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"

	"github.com/git-liza/git-liza/gitboard/gitio"
)

// kin is a process, identified by its number and its birth.
type kin struct {
	pid  int
	born string
}

func (k kin) lives() bool { return gitio.Birth(k.pid) == k.born }

// descendants returns the processes that a process has started, directly or not, in any session and
// group. It misses those whose parent has ended.
func descendants(of int) []kin {
	children := map[int][]int{}
	for _, pid := range processes() {
		if parent := parentOf(pid); parent != 0 {
			children[parent] = append(children[parent], pid)
		}
	}
	var all []kin
	for next := children[of]; len(next) > 0; next = next[1:] {
		if born := gitio.Birth(next[0]); born != "" {
			all = append(all, kin{next[0], born})
		}
		next = append(next, children[next[0]]...)
	}
	return all
}

// marked returns the processes that have an entry in their environment. Those of other users can't
// be read.
func marked(entry string) []kin {
	var all []kin
	for _, pid := range processes() {
		environ, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "environ"))
		if err != nil || !bytes.Contains(append([]byte{0}, environ...), []byte("\x00"+entry+"\x00")) {
			continue
		}
		if born := gitio.Birth(pid); born != "" && pid != os.Getpid() {
			all = append(all, kin{pid, born})
		}
	}
	return all
}

func processes() []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var all []int
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			all = append(all, pid)
		}
	}
	return all
}

func parentOf(pid int) int {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0
	}
	fields := statFields(stat)
	if len(fields) <= statParent {
		return 0
	}
	parent, _ := strconv.Atoi(fields[statParent])
	return parent
}
