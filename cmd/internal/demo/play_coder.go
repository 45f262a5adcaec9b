package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// claim claims a task. It retries a lost race (exit code 2), as the rules for agents require.
func (p *player) claim(ctx context.Context, o Order, a *Answer) error {
	p.cd(p.root)
	line := []string{"git", "liza", "claim"}
	if o.Task != "" {
		line = append(line, o.Task)
	}
	r, err := p.run(ctx, 6, line...)
	for n := 0; err == nil && r.Exit == 2 && n < 3; n++ {
		r, err = p.run(ctx, 6, line...)
	}
	if err == nil && r.Exit != o.Exit {
		err = fmt.Errorf("%s ended with %d, not %d:\n%s", typed(line), r.Exit, o.Exit, r.Out)
	}
	if err != nil || r.Exit != 0 {
		return err
	}
	text, err := p.ask(ctx, "git", "liza", "prime", "--json")
	if err != nil {
		return err
	}
	var me struct{ Task string }
	if err := json.Unmarshal([]byte(text), &me); err != nil {
		return err
	}
	a.Task = me.Task
	return nil
}

// work does a stage of a task in its worktree: the checkpoint, the edits, the tests, the commit.
func (p *player) work(ctx context.Context, task, stage string) error {
	j, ok := jobs[stage]
	if !ok {
		return fmt.Errorf("nobody knows how to do %s", stage)
	}
	p.cd(p.worktree(task))
	if j.intent != "" {
		line := []string{"git", "liza", "pre-exec", task, "--intent", j.intent, "--validation", "go test ./...: ok"}
		for _, f := range j.files {
			line = append(line, "--file", f)
		}
		if err := p.must(ctx, 1, line...); err != nil {
			return err
		}
	}
	if j.resolve != nil {
		if err := p.resolve(ctx, j.resolve); err != nil {
			return err
		}
	}
	written, err := write(stage, p.dir)
	if err != nil {
		return err
	}
	p.note("", append([]string{"$EDITOR"}, written...)...)
	if err := p.must(ctx, 3, "go", "test", "./..."); err != nil {
		return err
	}
	if err := p.must(ctx, 0, "git", "add", "--all"); err != nil {
		return err
	}
	return p.must(ctx, 1, "git", "commit", "-m", j.message)
}

// resolution is what a coder replaces a conflict with.
type resolution struct{ file, text string }

// resolve looks at a conflict and replaces what is between its markers.
func (p *player) resolve(ctx context.Context, r *resolution) error {
	if err := p.must(ctx, 20, "git", "diff", "--", r.file); err != nil {
		return err
	}
	path := filepath.Join(p.dir, r.file)
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, begins := strings.Cut(string(data), "<<<<<<< ")
	_, after, ends := strings.Cut(rest, ">>>>>>> ")
	if !begins || !ends || strings.Contains(after, "<<<<<<< ") {
		return fmt.Errorf("%s has not the one conflict that was expected:\n%s", r.file, data)
	}
	_, after, _ = strings.Cut(after, "\n")
	p.note(strings.TrimRight(r.text, "\n"), "$EDITOR", r.file)
	return os.WriteFile(path, []byte(before+r.text+after), 0o644)
}
