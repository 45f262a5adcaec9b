package demo

import "fmt"

// summary ends the narration: the result, and what a reader can type now.
func (n *narrator) summary(s *story) {
	n.mu.Lock()
	defer n.mu.Unlock()
	r, at := s.result, "git -C "+quoted(s.result.Dir)+" "
	n.line("")
	n.line(n.paint("1", fmt.Sprintf("Done in %.1f s: %d operations on the board, %d tasks merged.", r.Seconds, r.Operations, r.Merged)))
	n.line("    verify said        " + s.verdict)
	n.line("    the program said   " + r.Output)
	n.line("    the repository is  " + r.Dir + "   (kept; delete it when you like)")
	n.line("")
	n.line("Look around, with plain git:")
	for _, l := range []string{
		"log --oneline liza/state",
		"log -p liza/state -- tasks/shout.yaml",
		"show liza/state:tasks/trim-name.yaml",
		"log --format='%h %an: %(trailers:key=Liza-Op,valueonly,separator=%x20) %(trailers:key=Liza-Task,valueonly,separator=%x20)' liza/state",
		"log --graph --oneline integration",
		"for-each-ref refs/liza",
	} {
		n.line("    " + at + l)
	}
	n.line("")
	n.line("And with git-liza installed (go install github.com/git-liza/git-liza/cmd/git-liza@latest):")
	for _, l := range []string{"liza show trim-name", "liza log", "liza verify"} {
		n.line("    " + at + l)
	}
}
