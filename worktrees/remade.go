package worktrees

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// refusedWork is what this clone keeps of refused submissions of an iteration, whose commits were made
// before the checkpoint: when the tree of a commit, or its author at a time, was first refused.
type refusedWork struct {
	Iteration int                   `json:"iteration"`
	Marks     map[string]board.Time `json:"marks"`
}

func refusedFile(task string) string { return "refused/" + task + ".json" }

// authored identifies a commit that a rebase makes again.
func authored(c plumbing.Commit) string {
	return c.Author.When.UTC().Format("2006-01-02T15:04:05Z ") + c.Author.Email + " " + strings.TrimSpace(c.Subject())
}

// refusedOf reads what this clone keeps of the task's running iteration.
func (s *Project) refusedOf(t *board.Task) (refusedWork, error) {
	r := refusedWork{Iteration: t.Iteration, Marks: map[string]board.Time{}}
	data, err := s.b.Clone().Kept(refusedFile(t.ID))
	if err != nil || data == "" {
		return r, err
	}
	if was := (refusedWork{}); json.Unmarshal([]byte(data), &was) == nil && was.Iteration == t.Iteration && was.Marks != nil {
		return was, nil
	}
	return r, nil
}

// keepRefused keeps the marks of commits from before the checkpoint, and of those on top of them, if
// they are why a submission was refused. It returns the refusal.
func (s *Project) keepRefused(t *board.Task, p *board.Submit, work []plumbing.Commit, refusal error) error {
	r := (*board.Refusal)(nil)
	if !errors.As(refusal, &r) || r.Code != board.CodeCheckpoint || len(p.Early) == 0 {
		return refusal
	}
	kept, err := s.refusedOf(t)
	if err != nil {
		return errors.Join(refusal, err)
	}
	begun := false
	for _, c := range work {
		if begun = begun || string(c.OID) == p.Early[0]; !begun {
			continue
		}
		for _, mark := range []string{string(c.Tree), authored(c)} {
			if kept.Marks[mark] == "" {
				kept.Marks[mark] = board.At(s.b.Now())
			}
		}
	}
	data, err := json.Marshal(kept)
	if err == nil {
		err = s.b.Clone().Keep(refusedFile(t.ID), string(data))
	}
	if err != nil {
		return errors.Join(refusal, err)
	}
	return refusal
}

// markRemade names the commits of a submission that were made again after a refusal.
func (s *Project) markRemade(t *board.Task, p *board.Submit, work []plumbing.Commit) error {
	kept, err := s.refusedOf(t)
	if err != nil {
		return err
	}
	for _, c := range work {
		at := kept.Marks[string(c.Tree)]
		if at == "" {
			at = kept.Marks[authored(c)]
		}
		if id := string(c.OID); at != "" && len(c.Parents) < 2 && len(p.Remade) < maxTests && !slices.Contains(p.Early, id) {
			p.Remade, p.RefusedAt = append(p.Remade, id), at
		}
	}
	return nil
}
