package board

import (
	"cmp"

	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/text"
)

// SetConfig changes one setting.
type SetConfig struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Op implements Payload.
func (p *SetConfig) Op() string { return "config" }

// Check implements Payload.
func (p *SetConfig) Check(s *State, _ Operation) error {
	k, err := FindConfigKey(p.Key)
	if err != nil {
		return err
	}
	if p.Key == chosenAtInit {
		return refuse(CodePermission, "the integration branch is chosen at init and stays").Advise("a human lands on it from any branch: %s", ActOn("land", "COMMIT"))
	}
	c := *s.Config()
	if err := k.set(&c, p.Value); err != nil {
		return invalid("%v", err)
	}
	if k.Value(&c) == k.Value(s.Config()) {
		return refuse(CodeExists, "%s is %q already", p.Key, p.Value)
	}
	return mayConfigure(s, &c, nil)
}

// mayConfigure refuses values that their settings don't permit or that don't fit the board, and
// requiring signatures while nobody could sign.
func mayConfigure(s *State, next *Config, edited []FieldEdit) error {
	for _, f := range edited {
		if k, err := FindConfigKey(f.Field); err == nil {
			if err := k.Check(next); err != nil {
				return invalid("%v", err)
			}
		}
	}
	if err := mayRename(s, next); err != nil {
		return err
	}
	if next.RequireSignatures && !s.Config().RequireSignatures && !s.humansKey("") {
		return refuse(CodeNoKey, "no human has a key on the board: nobody could sign for a human").Way(ActOn("keys-add", "you@example.org").With("key", "FILE.pub"))
	}
	return nil
}

// Apply implements Payload.
func (p *SetConfig) Apply(s *State, op Operation) {
	k, _ := FindConfigKey(p.Key)
	_ = k.set(editSingle[Config](s, ConfigPath), p.Value)
	continueOnBudget(s, op, p.Key)
}

// continueOnBudget ends a pause that began because the sprint's or a goal's budget was used up, if
// the changed setting raises the budget enough.
func continueOnBudget(s *State, op Operation, key string) {
	boards := key == KeyBudgetSprint || key == KeyBudgetGoal
	if c := s.Control(); boards && c.Mode == Paused && c.By == string(roles.System) && spentBudget(s) == nil {
		setMode(s, Running, op, op.Actor.ID, key+" is raised")
	}
}

// Subject implements Payload.
func (p *SetConfig) Subject(before, _ *State, _ Operation) (string, string) {
	k, _ := FindConfigKey(p.Key)
	return text.Line(p.Key+": "+cmp.Or(k.Value(before.Config()), "(empty)")+" -> "+cmp.Or(p.Value, "(empty)"), 110), ""
}
