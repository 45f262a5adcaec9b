package board

import (
	"fmt"
	"slices"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/git-liza/git-liza/gitboard/text"
)

// Submit submits work for review. Attested: the worktree was clean and its HEAD was the commit.
type Submit struct {
	About
	Commit     string `json:"commit"`
	ReviewBase string `json:"review_base"` // merge base with integration
	Commits    int    `json:"commits"`     // beyond the base commit
	Files      int    `json:"files"`       // changed since the review base
	Tree       string `json:"tree,omitempty"`
	// People are the addresses of humans who made some of its commits, and so may not review it:
	// at most MaxPeople.
	People []string `json:"people,omitempty"`
	// Early are the commits made before the checkpoint. Only the first of many are listed.
	Early []string `json:"early,omitempty"`
	// Remade are commits that were made again after a submission was refused, at RefusedAt, for commits
	// from before the checkpoint. Attested. Only the first of many are listed.
	Remade    []string `json:"remade,omitempty"`
	RefusedAt Time     `json:"refused_at,omitempty"`
	// Tests are the changed files that count as tests, DeletedTests those that the submission
	// deletes or empties, which prove nothing. Only the first of many are listed.
	Tests          []string `json:"tests,omitempty"`
	DeletedTests   []string `json:"deleted_tests,omitempty"`
	NoTestsBecause string   `json:"no_tests_because,omitempty"`
	// Verified is the validation that ran in the worktree, on the commit; nil if none did.
	Verified *Validation `json:"verified,omitempty"`
	// HumanPaths are the globs of the review policy that match a changed file.
	HumanPaths []string `json:"human_paths,omitempty"`
}

// MaxPeople is how many humans may have made the commits of a submission. None of them may review
// it, so all are listed.
const MaxPeople = 200

// Op implements Payload.
func (p *Submit) Op() string { return "submit" }

// Check implements Payload.
func (p *Submit) Check(s *State, op Operation) error {
	t := s.Task(p.Task)
	if err := holds(t, op); err != nil {
		return err
	}
	if err := fullID("commit", p.Commit); err != nil {
		return err
	}
	if err := fullID("review_base", p.ReviewBase); err != nil {
		return err
	}
	if p.Tree != "" {
		if err := fullID("tree", p.Tree); err != nil {
			return err
		}
	}
	if p.Verified != nil {
		if err := required("verified", p.Verified.Command); err != nil {
			return err
		}
	}
	for _, c := range slices.Concat(p.Early, p.Remade) {
		if err := fullID("early or remade", c); err != nil {
			return err
		}
	}
	if _, err := ParseTime(string(p.RefusedAt)); (len(p.Remade) > 0 || p.RefusedAt != "") && err != nil {
		return invalid("refused_at: %v", err)
	}
	for _, glob := range p.HumanPaths {
		if !slices.Contains(s.Team().ReviewPolicy(t.InStage()).Paths, glob) {
			return invalid("the review policy of %s does not name the paths %s", t.ID, quote(glob))
		}
	}
	unwritten := s.Config().RequirePreExecutionCheckpoint && t.CheckpointOfIteration() == nil
	if p.Commits < 1 || p.Commit == t.BaseCommit {
		r := refuse(CodeEmpty, "%s has no commit beyond its base %.10s", s.TaskBranches().Of(t.ID), t.BaseCommit).on(t)
		if unwritten {
			return r // the checkpoint comes before a commit
		}
		return r.Advise("commit your work in %s first", t.Worktree)
	}
	if rejected := t.rejectedLike(p.Commit, p.Tree); rejected != nil {
		return refuse(CodeRejected, "%.10s has the same files as %.10s, which %s rejected, and %s still asks for the same",
			p.Commit, rejected.Commit, rejected.Agent, t.ID).on(t).
			Advise("%s, commit what the rejection asks for, and submit that; or %s", ActOn("show", t.ID), ActOn("block", t.ID).With("reason", exampleText, "question", exampleText))
	}
	if unwritten {
		return refuse(CodeCheckpoint, "%s has no pre-execution checkpoint in iteration %d", t.ID, t.Iteration).on(t)
	}
	if len(p.Early) > 0 && s.Config().EarlyCommits == "refuse" {
		return refuse(CodeCheckpoint, "%.10s was made before the checkpoint of iteration %d", p.Early[0], t.Iteration).on(t).
			Advise("git -C %s rebase --no-ff %.10s makes the commits again, under the checkpoint", t.Worktree, p.ReviewBase)
	}
	if len(p.People) > MaxPeople {
		return invalid("the commits are by %d people, and a submission has %d at most; submit the work in parts", len(p.People), MaxPeople)
	}
	for _, f := range slices.Concat(p.Tests, p.DeletedTests) {
		if !Selects(s.Config().TestGlobs, f) {
			return invalid("%s does not match test_globs", quote(f))
		}
	}
	if s.Config().RequireTests == "refuse" && t.Kind == Code && len(p.Tests) == 0 && required("", p.NoTestsBecause) != nil {
		found := "nothing that it changes is a test"
		if len(p.DeletedTests) > 0 {
			found = "it only deletes or empties tests: " + all(p.DeletedTests)
		}
		return refuse(CodeTests, "%s is code, and %s", t.ID, found).on(t).
			Advise("commit the tests of done_when, or say %s, which the reviewer will see", ActOn("").With("no_tests_because", exampleText))
	}
	return nil
}

// Selects reports whether one of a setting's globs matches a file.
func Selects(globs []string, file string) bool {
	return slices.ContainsFunc(globs, func(glob string) bool { return matches(glob, file) })
}

func matches(glob, file string) bool {
	ok, err := doublestar.Match(glob, file)
	return err == nil && ok
}

// Apply implements Payload.
func (p *Submit) Apply(s *State, op Operation) {
	t := s.editTask(p.Task)
	t.ReviewCommit, t.ReviewBase, t.Approvals, t.HumanPaths = p.Commit, p.ReviewBase, nil, p.HumanPaths
	t.become(ReadyForReview, op)
	e := t.event(op, EventReady)
	e.Iteration, e.Commit, e.Base, e.Tree = t.Iteration, p.Commit, p.ReviewBase, p.Tree
	e.NoTests, e.DeletedTests, e.EarlyCommits, e.People = p.NoTestsBecause, p.DeletedTests, p.Early, p.People
	e.Verified, e.Remade, e.RefusedAt = p.Verified, p.Remade, p.RefusedAt
	e.CLI, e.Model = s.programOf(op.Actor.ID)
	if a := s.Agent(op.Actor.ID); a.CurrentTask == t.ID {
		edit[Agent](s, RecordPath(AgentDir, op.Actor.ID)).Status = Waiting
	}
}

// Subject implements Payload.
func (p *Submit) Subject(_, after *State, _ Operation) (string, string) {
	body := ""
	if p.NoTestsBecause != "" {
		body = "No tests because: " + p.NoTestsBecause + "\n"
	}
	if p.Verified != nil {
		body += "Verified by " + p.Verified.String()
	}
	return fmt.Sprintf("%.10s, iteration %d, %s in %s", p.Commit, after.Task(p.Task).Iteration, text.Plural(p.Commits, "commit"), text.Plural(p.Files, "file")), body
}

// rejectedLike returns the rejection of the same commit, or of one with the same files, if it still
// counts: the task has not been unblocked or redefined after it. It returns nil for none.
func (t *Task) rejectedLike(commit, tree string) *Event {
	trees := map[string]string{}
	for _, e := range t.Submitted() {
		trees[e.Commit] = e.Tree
	}
	for i := len(t.History) - 1; i >= 0; i-- {
		switch e := &t.History[i]; {
		case e.Event == EventUnblocked || e.Was.redefines():
			return nil
		case e.Event != EventRejected || e.Commit == "":
		case e.Commit == commit || tree != "" && trees[e.Commit] == tree:
			return e
		}
	}
	return nil
}

// Submitted returns a task's submissions, in order.
func (t *Task) Submitted() []Event {
	var all []Event
	for _, e := range t.History {
		if e.Event == EventReady {
			all = append(all, e)
		}
	}
	return all
}

// Submission returns the commit of a task's nth submission, "" if there is none or if it is unknown
// (imported).
func (t *Task) Submission(n int) string {
	if all := t.Submitted(); n >= 1 && n <= len(all) {
		return all[n-1].Commit
	}
	return ""
}

// Submissions counts a task's submissions; it numbers refs/liza/review/<task>/<n>.
func (t *Task) Submissions() int { return len(t.Submitted()) }
