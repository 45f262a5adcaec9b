package demo

import "fmt"

func (s *story) tooEarly() error {
	return s.order("coder-1", Order{Do: doClaim, Task: "shout", Exit: 1})()
}

// race makes both coders claim at once. Git decides who gets which task.
func (s *story) race() error {
	claim := func(id string, into **Answer) func() error {
		return func() (err error) { *into, err = s.do(id, Order{Do: doClaim}); return err }
	}
	var one, two *Answer
	if err := together(claim("coder-1", &one), claim("coder-2", &two)); err != nil {
		return err
	}
	if one.Task == two.Task {
		return fmt.Errorf("both coders have claimed %s", one.Task)
	}
	s.owner[one.Task], s.owner[two.Task] = "coder-1", "coder-2"
	if s.owner["greet-world"] == "" || s.owner["trim-name"] == "" {
		return fmt.Errorf("coder-1 got %q and coder-2 %q, not what comes first", one.Task, two.Task)
	}
	s.say.say("coder-1 got %s, coder-2 got %s: liza/state moves by compare-and-swap, so nobody gets what another has.", one.Task, two.Task)
	return nil
}

func (s *story) firstTwo() error {
	whole := func(task string) func() error {
		return s.order(s.owner[task], Order{Do: doWork, Task: task, Stage: task}, Order{Do: doSubmit, Task: task})
	}
	return together(whole("greet-world"), whole("trim-name"))
}

// takes makes a coder claim the next task, which must be the given one.
func (s *story) takes(id, task string) error {
	a, err := s.do(id, Order{Do: doClaim})
	if err == nil && a.Task != task {
		err = fmt.Errorf("%s got %q, not %s", id, a.Task, task)
	}
	return err
}

func (s *story) takeNames() error { return s.takes("coder-1", "many-names") }

func (s *story) handOff() error {
	err := together(
		s.order("coder-1", Order{Do: doWork, Task: "many-names", Stage: "many-names-1"}, Order{Do: doHandoff, Task: "many-names"}),
		s.judges("APPROVED", "greet-world", true))
	if err != nil {
		return err
	}
	return s.ended("coder-1", 42)
}

// judges makes the reviewer review a task and, with merge, merge it.
func (s *story) judges(verdict, task string, merge bool) func() error {
	return func() error {
		a, err := s.do(reviewer, Order{Do: doReview, Task: task})
		if err != nil {
			return err
		}
		if a.Verdict != verdict {
			return fmt.Errorf("%s was %s, not %s", task, a.Verdict, verdict)
		}
		if !merge {
			return nil
		}
		return s.order(reviewer, Order{Do: doMerge, Task: task})()
	}
}

func (s *story) conflict() error {
	if err := s.judges("APPROVED", "trim-name", false)(); err != nil {
		return err
	}
	return s.order(reviewer, Order{Do: doMerge, Task: "trim-name", Exit: 3})()
}

func (s *story) resume() error {
	if err := s.takes("coder-2", "many-names"); err != nil {
		return err
	}
	if err := s.start("coder-1"); err != nil {
		return err
	}
	return s.order("coder-1", Order{Do: doJoin})()
}

func (s *story) takeFix() error { return s.takes("coder-1", "trim-name") }

func (s *story) lastTwo() error {
	return together(
		s.order("coder-1", Order{Do: doWork, Task: "trim-name", Stage: "trim-name-fix"}, Order{Do: doSubmit, Task: "trim-name"}),
		s.order("coder-2", Order{Do: doWork, Task: "many-names", Stage: "many-names-2"}, Order{Do: doSubmit, Task: "many-names"}))
}

func (s *story) mergeTwo() error {
	if err := s.judges("APPROVED", "trim-name", true)(); err != nil {
		return err
	}
	return s.judges("APPROVED", "many-names", true)()
}

func (s *story) shout() error {
	return s.order("coder-1", Order{Do: doClaim, Task: "shout"}, Order{Do: doWork, Task: "shout", Stage: "shout-1"}, Order{Do: doSubmit, Task: "shout"})()
}

func (s *story) reject() error { return s.judges("REJECTED", "shout", false)() }

func (s *story) rework() error {
	if err := s.takes("coder-1", "shout"); err != nil {
		return err
	}
	return s.order("coder-1", Order{Do: doWork, Task: "shout", Stage: "shout-2"}, Order{Do: doSubmit, Task: "shout"})()
}

func (s *story) approve() error { return s.judges("APPROVED", "shout", true)() }
