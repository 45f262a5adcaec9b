package demo

import "strings"

func (s *story) project() error {
	if err := s.act(0, git("init", "--quiet", "--initial-branch=main", "."), git("config", "user.name", "Demo Human"),
		git("config", "user.email", "human@example.com")); err != nil {
		return err
	}
	written, err := write("base", s.dir)
	if err != nil {
		return err
	}
	s.human.note("", append([]string{"$EDITOR"}, written...)...)
	return s.act(1, git("add", "."), git("commit", "-m", "A program that greets"))
}

func (s *story) goal() error {
	return s.act(2, liza("init", "--unattended", "A greeting for everybody", "--spec", "specs/vision.md"))
}

// task is a row of the plan.
type task struct{ id, desc, spec, done, scope, priority, depends string }

var tasks = []task{
	{
		id: "greet-world", desc: "Greet the world when nobody is named", spec: "world", priority: "1",
		done: "greet prints Hello, world! and does so for an empty name", scope: "IN: Greeting, its tests. OUT: flags",
	},
	{
		id: "trim-name", desc: "Fold the spaces in a name", spec: "spaces", priority: "1",
		done: `greet "  Ann   Lee " prints Hello, Ann Lee!`, scope: "IN: Greeting, its tests. OUT: flags",
	},
	{
		id: "many-names", desc: "Greet several people in one sentence", spec: "several-names", priority: "2",
		done: "greet Ann Bob Eve prints Hello, Ann, Bob and Eve!", scope: "IN: names.go, run, their tests. OUT: Greeting",
	},
	{
		id: "shout", desc: "Greet in capitals with --shout", spec: "shouting", priority: "2", depends: "many-names",
		done: "greet --shout Ann and greet Ann --shout both print HELLO, ANN!", scope: "IN: run, its tests. OUT: Greeting",
	},
}

func (s *story) plan() error {
	ids := []string{"finalize"}
	for _, t := range tasks {
		line := liza("add-task", "--id", t.id, "--desc", t.desc, "--spec", "specs/vision.md#"+t.spec, "--done", t.done, "--scope", t.scope, "--priority", t.priority)
		if t.depends != "" {
			line = append(line, "--depends", t.depends)
		}
		if err := s.plans(1, line); err != nil {
			return err
		}
		ids = append(ids, t.id)
	}
	if err := s.plans(4, liza(ids...)); err != nil {
		return err
	}
	return s.plans(1, liza("alignment", "four tasks cover the vision; shout waits for many-names, both change run"))
}

func (s *story) complete() error {
	if err := s.plans(1, liza("goal", "complete")); err != nil {
		return err
	}
	for _, id := range []string{"coder-1", "coder-2", reviewer} {
		if _, err := s.do(id, Order{Do: doLeave}); err != nil {
			return err
		}
		if err := s.ended(id, 0); err != nil {
			return err
		}
	}
	return s.plans(1, liza("deregister"))
}

func (s *story) join() error {
	for _, id := range []string{"coder-1", "coder-2", reviewer} {
		if err := s.start(id); err != nil {
			return err
		}
	}
	return together(s.order("coder-1", Order{Do: doJoin}), s.order("coder-2", Order{Do: doJoin}), s.order(reviewer, Order{Do: doJoin}))
}

// order returns a function that gives orders to an agent.
func (s *story) order(id string, orders ...Order) func() error {
	return func() error {
		for _, o := range orders {
			if _, err := s.do(id, o); err != nil {
				return err
			}
		}
		return nil
	}
}

// state reads a task's status from the board with plain git.
func (s *story) state(id string) (string, error) {
	text, err := s.human.ask(s.ctx, "git", "show", "liza/state:tasks/"+id+".yaml")
	for _, l := range strings.Split(text, "\n") {
		if status, ok := strings.CutPrefix(l, "status: "); ok {
			return status, err
		}
	}
	return "", err
}
