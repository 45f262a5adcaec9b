package demo

import "context"

// story is a run in progress.
type story struct {
	ctx     context.Context
	dir     string
	say     *narrator
	human   *shell
	planner *shell
	agents  map[string]*agent
	owner   map[string]string // who claimed a task first
	result  Result
	verdict string // the output of verify
}

const reviewer = "code-reviewer-1"

func newStory(ctx context.Context, dir string, say *narrator) (*story, error) {
	s := &story{ctx: ctx, dir: dir, say: say, agents: map[string]*agent{}, owner: map[string]string{}}
	var err error
	if s.human, err = newShell(dir); err != nil {
		return nil, err
	}
	if s.planner, err = newShell(dir); err != nil {
		return nil, err
	}
	s.planner.set("LIZA_AGENT_ID", "planner-1")
	return s, nil
}

// steps are the steps of the run.
var steps = []struct {
	title string
	run   func(*story) error
}{
	{"A human has a small Go program, a vision of what it should do, and an integration test.", (*story).project},
	{"The human states the goal. That begins the board, a branch that nobody checks out.", (*story).goal},
	{"A planner cuts the goal into four tasks. Each command is one commit on liza/state.", (*story).plan},
	{"Two coders and a reviewer start, each a process of its own.", (*story).join},
	{"shout depends on many-names. It can't be claimed before that is merged.", (*story).tooEarly},
	{"Both coders ask for work at the same moment, and name no task.", (*story).race},
	{"Each works in its own worktree and on its own branch: checkpoint, code, tests, commit, submit.", (*story).firstTwo},
	{"coder-1 takes the next task.", (*story).takeNames},
	{"It does half of it and hands it off; meanwhile the reviewer judges greet-world and merges it.", (*story).handOff},
	{"trim-name is approved too, but it changed the same lines. No checkout was touched to find that out.", (*story).conflict},
	{"The process of coder-1 is gone; a fresh one starts. coder-2 asks for work and gets the hand-off.", (*story).resume},
	{"coder-1 asks for work and gets the integration fix: the merge is in its worktree, with the conflict.", (*story).takeFix},
	{"Both finish. The conflict is repaired by hand, and the hand-off is carried to its end.", (*story).lastTwo},
	{"The reviewer judges and merges both.", (*story).mergeTwo},
	{"Now shout can be claimed. coder-1 does it, tests are green, and it is submitted.", (*story).shout},
	{"The reviewer runs the program as the spec says, and rejects with a blocker that names line, reason and remedy.", (*story).reject},
	{"coder-1 gets it back, iteration 2, and reworks it.", (*story).rework},
	{"This time the reviewer approves.", (*story).approve},
	{"All tasks are terminal. The planner completes the goal; the agents leave.", (*story).complete},
	{"The history is proven: every commit of the board is replayed and compared.", (*story).verify},
	{"The human takes the result on to main, and runs the program.", (*story).land},
}

// act runs command lines as the human; each must succeed.
func (s *story) act(show int, lines ...[]string) error { return s.as("human", s.human, show, lines) }

// plans runs command lines as the planner.
func (s *story) plans(show int, lines ...[]string) error {
	return s.as("planner-1", s.planner, show, lines)
}

func (s *story) as(who string, sh *shell, show int, lines [][]string) error {
	for _, line := range lines {
		err := sh.must(s.ctx, show, line...)
		s.say.ran(who, sh.taken())
		if err != nil {
			return err
		}
	}
	return nil
}

func git(words ...string) []string { return append([]string{"git"}, words...) }

func liza(words ...string) []string { return append([]string{"git", "liza"}, words...) }
