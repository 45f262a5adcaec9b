package demo

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
)

// player is an agent at work.
type player struct {
	*shell
	id string
}

// Play is the process of an agent: it carries out orders until there are no more, and returns the
// exit code of the process. dir is the repository.
func Play(ctx context.Context, id, dir string, in io.Reader, out io.Writer) (int, error) {
	sh, err := newShell(dir)
	if err != nil {
		return 3, err
	}
	p := &player{sh, id}
	p.set("LIZA_AGENT_ID", id)
	p.set("GIT_AUTHOR_NAME", id)
	p.set("GIT_AUTHOR_EMAIL", id+"@liza")
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	orders := make(chan Order)
	go func() { // also ends the process if the one that gives orders disappears during one
		defer stop()
		defer close(orders)
		for lines := json.NewDecoder(in); ; {
			var o Order
			if lines.Decode(&o) != nil {
				return
			}
			select {
			case orders <- o:
			case <-ctx.Done():
				return
			}
		}
	}()
	answers := json.NewEncoder(out)
	for o := range orders {
		answer := Answer{}
		err := p.carryOut(ctx, o, &answer)
		if answer.Ran = p.taken(); err != nil {
			answer.Error = err.Error()
		}
		if err := answers.Encode(answer); err != nil {
			return 3, err
		}
		switch {
		case err != nil:
		case o.Do == doHandoff:
			return 42, nil
		case o.Do == doLeave:
			return 0, nil
		}
	}
	return 0, nil
}

func (p *player) carryOut(ctx context.Context, o Order, a *Answer) error {
	switch o.Do {
	case doJoin:
		return p.join(ctx)
	case doClaim:
		return p.claim(ctx, o, a)
	case doWork:
		return p.work(ctx, o.Task, o.Stage)
	case doSubmit:
		p.cd(p.worktree(o.Task))
		return p.must(ctx, 1, "git", "liza", "submit", o.Task)
	case doHandoff:
		p.cd(p.worktree(o.Task))
		return p.must(ctx, 1, "git", "liza", "handoff", o.Task, "--summary", "Names() and its tests are done, nothing calls it yet",
			"--next", "call Names from run in main.go, with a test", "--context-used", "91%")
	case doReview:
		return p.review(ctx, o.Task, a)
	case doMerge:
		return p.merge(ctx, o)
	case doLeave:
		p.cd(p.root)
		return p.must(ctx, 1, "git", "liza", "deregister")
	}
	return errors.New("no such order")
}

func (p *player) worktree(task string) string { return filepath.Join(p.root, ".worktrees", task) }

// join registers the agent, and takes over the environment of its session.
func (p *player) join(ctx context.Context) error {
	if err := p.must(ctx, 1, "git", "liza", "register", p.id); err != nil {
		return err
	}
	text, err := p.ask(ctx, "git", "liza", "env", p.id, "--json")
	if err != nil {
		return err
	}
	var env map[string]any
	if err := json.Unmarshal([]byte(text), &env); err != nil {
		return err
	}
	for name, value := range env {
		if value, ok := value.(string); ok && value != "" {
			p.set(name, value)
		}
	}
	p.note("", "eval", "$(git liza env "+p.id+")")
	return nil
}
