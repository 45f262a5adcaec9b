package board

import (
	"slices"
	"strings"
)

// TaskBranches names the branches of tasks in a clone: it is the prefix that all of them have,
// followed by the task's id. Branches with that prefix whose task was never claimed belong to
// people.
type TaskBranches string

// UsualTaskBranches is the prefix that a board begins with.
const UsualTaskBranches TaskBranches = "task/"

// KeyTaskBranches is the setting of the prefix.
const KeyTaskBranches = "task_branch_prefix"

// TaskBranches returns how the branches of tasks are named. Settings that can't be read, or lack
// the prefix, mean the usual one.
func (c *Config) TaskBranches() TaskBranches {
	if c == nil || c.TaskBranchPrefix == "" {
		return UsualTaskBranches
	}
	return c.TaskBranchPrefix
}

// TaskBranches returns how the branches of this board's tasks are named.
func (s *State) TaskBranches() TaskBranches { return s.Config().TaskBranches() }

// Of returns the name of a task's branch: "task/login".
func (b TaskBranches) Of(task string) string { return string(b) + task }

// Task returns the id of the task whose branch has a name.
func (b TaskBranches) Task(branch string) (id string, is bool) {
	id, is = strings.CutPrefix(branch, string(b))
	return id, is && ValidTaskID(id)
}

// Dir is the prefix without its slash. Git keeps no branch of that name beside those of tasks.
func (b TaskBranches) Dir() string { return strings.TrimSuffix(string(b), "/") }

// Parents lists the branches that can't exist next to the branches of tasks: the prefix, and the
// parents that its name is below.
func (b TaskBranches) Parents() []string {
	var parents []string
	for i, c := range b {
		if c == '/' {
			parents = append(parents, string(b[:i]))
		}
	}
	return parents
}

// valid reports whether git accepts the names and they are no other names of the board.
func (b TaskBranches) valid() bool {
	return strings.HasSuffix(string(b), "/") && validBranch(b.Dir())
}

// clashes reports whether a branch is below the prefix, or the prefix below the branch. File
// systems may ignore case.
func (b TaskBranches) clashes(branch string) bool {
	prefix, name := strings.ToLower(string(b)), strings.ToLower(branch)+"/"
	return strings.HasPrefix(prefix, name) || strings.HasPrefix(name, prefix)
}

// CheckBranches returns an error if the integration branch, or the prefix of tasks' branches, is
// not a name that a board can have. It is called for unproven settings, before git sees the names.
func (c *Config) CheckBranches() error {
	switch prefix := c.TaskBranches(); {
	case !validBranch(c.IntegrationBranch):
		return invalid("%s can't be the integration branch", quote(c.IntegrationBranch))
	case !prefix.valid() || prefix.clashes(c.IntegrationBranch):
		return invalid("%s can't be %s", KeyTaskBranches, quote(string(prefix)))
	}
	return nil
}

// mayRename refuses to change how the branches of tasks are named once a task was claimed: each
// clone may have its branch.
func mayRename(s *State, next *Config) error {
	if next.TaskBranches() == s.TaskBranches() || MayRenameBranches(s) {
		return nil
	}
	return refuse(CodeWrongState, "tasks of this board were claimed, and clones may have their branches: their names begin with %s for good", s.TaskBranches()).
		Advise("rename the branch that is in the way: git branch -m NAME NEW-NAME")
}

// MayRenameBranches reports whether the prefix of tasks' branches can change: no task was ever
// claimed.
func MayRenameBranches(s *State) bool {
	begun := slices.ContainsFunc(s.Goals(), func(g *Goal) bool { return g.Archived > 0 })
	s.EachBrief(func(b Brief) { begun = begun || s.Task(b.ID).Begun() })
	return !begun
}
