package demo

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// review judges a submission by its behaviour: the tests, and the program run as in the spec.
func (p *player) review(ctx context.Context, task string, a *Answer) error {
	p.cd(p.root)
	if err := p.must(ctx, 1, "git", "liza", "claim-review", task); err != nil {
		return err
	}
	if err := p.must(ctx, 2, "git", "liza", "review", task); err != nil {
		return err
	}
	p.cd(p.worktree(task))
	head, err := p.expect(ctx, 0, 1, "git", "rev-parse", "HEAD")
	if err != nil {
		return err
	}
	if err := p.must(ctx, 2, "go", "test", "./..."); err != nil {
		return err
	}
	a.Verdict = "APPROVED"
	line := []string{"--commit", head.Out}
	for _, t := range trials[task] {
		got, err := p.run(ctx, 2, append([]string{"go", "run", "."}, t.args...)...)
		if err != nil {
			return err
		}
		if got.Exit == 0 && got.Out == t.want {
			continue
		}
		blocker, err := t.blocker(p.dir, got.Out)
		if err != nil {
			return err
		}
		a.Verdict, line = "REJECTED", append(line, "--blocker", blocker)
	}
	if a.Verdict == "REJECTED" {
		line = append(line, "--overall", "What is there is right; one case of the spec is missing.", "--spec", "specs/vision.md")
	}
	p.cd(p.root)
	return p.must(ctx, 1, append([]string{"git", "liza", "verdict", task, a.Verdict}, line...)...)
}

// blocker formats the result of a trial as a blocker.
func (t trial) blocker(dir, got string) (string, error) {
	where := t.file + ":1"
	data, err := os.ReadFile(filepath.Join(dir, t.file))
	if err != nil {
		return "", err
	}
	for n, l := range strings.Split(string(data), "\n") {
		if t.at != "" && strings.Contains(l, t.at) {
			where = fmt.Sprintf("%s:%d", t.file, n+1)
			break
		}
	}
	issue := fmt.Sprintf("greet %s prints %s, not %s", strings.Join(t.args, " "), got, t.want)
	return strings.Join([]string{where, issue, t.why, t.suggestion}, "|"), nil
}

// merge lands approved work, or finds that it doesn't merge (exit code 3).
func (p *player) merge(ctx context.Context, o Order) error {
	p.cd(p.root)
	_, err := p.expect(ctx, o.Exit, 4, "git", "liza", "merge", o.Task)
	return err
}
