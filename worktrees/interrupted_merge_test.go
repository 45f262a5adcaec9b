package worktrees_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/worktrees/merge"
)

// merged says what became of the tasks of a train.
func merged(all []*merge.Result, err error) (any, error) {
	text := ""
	for _, r := range all {
		text += fmt.Sprintln(r.Task, r.Merged, r.Failure)
		err = warned(r.Warnings, err)
	}
	return text, err
}

// TestInterruptedMerge interrupts what moves integration.
func TestInterruptedMerge(t *testing.T) {
	failed := step{"failed", func(s *scene) {
		s.set("integration_test", "false")
		_, err := mergeOne(s.ctx, s.b, merge.TrainRequest{Request: asked(s, "code-reviewer-1"), Tasks: []string{"one"}})
		s.check(err)
	}}
	brought := step{"brought", func(s *scene) {
		s.git(s.dir, "-c", "core.hooksPath=/dev/null", "update-ref", "refs/heads/integration", taskRef("one"))
	}}
	landing := step{"landing", func(s *scene) {
		s.git(s.dir, "branch", "landing", s.git(s.dir, "commit-tree", "-m", "another", "-p", "integration", "integration^{tree}"))
	}}
	tested := step{"tested", func(s *scene) { s.set("integration_test", "test ! -e t2.txt") }}
	beside := step{"beside", func(s *scene) {
		s.git(s.dir, "worktree", "add", "-q", filepath.Join(s.dir, "beside"), "integration")
		s.git(s.dir, "worktree", "add", "-q", "--force", filepath.Join(s.dir, "gone"), "integration")
		s.check(os.RemoveAll(filepath.Join(s.dir, "gone")))
	}}
	other := step{"other", func(s *scene) { s.merge("other") }}
	drafts := []string{"specs/vision.md", "specs/new/page.md", "top.md", "mine.txt/inner.md"}
	drafted := step{"drafted", func(s *scene) {
		dir := filepath.Join(s.dir, "draft")
		s.git(s.dir, "worktree", "add", "-q", "-b", "landing", dir, "integration")
		s.check(os.Remove(filepath.Join(dir, "mine.txt"))) // a directory is in its place
		for _, name := range drafts {
			s.write(dir, name, "# "+name+"\n")
		}
		s.commitAll(dir, "drafted")
	}}
	finish := func(ctx context.Context, s *scene) (any, error) {
		all, err := merge.Finish(ctx, s.b, human())
		for _, f := range all {
			err = warned(f.Warnings, err)
		}
		return nil, err
	}
	interrupted(t, []interruption{
		{"merge", []step{ready("one"), approved("coder-1", "one", "b.txt", "b\n"), moved}, func(ctx context.Context, s *scene) (any, error) {
			got, err := mergeOne(ctx, s.b, merge.TrainRequest{Request: asked(s, "code-reviewer-1"), Tasks: []string{"one"}})
			if err != nil {
				return nil, err
			}
			return got.Merged, warned(got.Warnings, nil)
		}},
		{"retry a merge", []step{ready("one"), approved("coder-1", "one", "b.txt", "b\n"), failed}, func(ctx context.Context, s *scene) (any, error) {
			return nothing(merge.Retry(ctx, s.b, asked(s, "code-reviewer-1"), "one"))
		}},
		{"finish a merge", []step{ready("one"), approved("coder-1", "one", "b.txt", "b\n"), brought}, finish},
		{"land", []step{ready("one"), landing}, func(ctx context.Context, s *scene) (any, error) {
			got, err := merge.Land(ctx, s.b, merge.LandRequest{Request: gitboard.Request{Actor: human(), ID: "asked"}, Commit: "landing"})
			if err != nil {
				return nil, err
			}
			return nil, warned(got.Warnings, nil)
		}},
		{"merge a train", []step{ready("t1"), ready("t2"), approved("coder-1", "t1", "t1.txt", "1\n"), approved("coder-2", "t2", "t2.txt", "2\n"), tested, beside}, func(ctx context.Context, s *scene) (any, error) {
			return merged(merge.Train(ctx, s.b, merge.TrainRequest{Request: asked(s, "code-reviewer-1")}))
		}},
		{"merge what conflicts", []step{ready("one"), ready("other"), approved("coder-1", "one", "b.txt", "mine\n"), approved("coder-3", "other", "b.txt", "theirs\n"), other}, func(ctx context.Context, s *scene) (any, error) {
			return merged(merge.Train(ctx, s.b, merge.TrainRequest{Request: asked(s, "code-reviewer-1")}))
		}},
		{"land files", []step{ready("one"), beside, drafted}, func(ctx context.Context, s *scene) (any, error) {
			got, err := merge.Land(ctx, s.b, merge.LandRequest{
				Request: gitboard.Request{Actor: human(), ID: "asked"}, Commit: "landing", Files: drafts,
			})
			if err != nil {
				return nil, err
			}
			for _, name := range drafts {
				if s.file(got.Commit, name) != "# "+name+"\n" {
					t.Errorf("%s did not land", name)
				}
			}
			return nil, warned(got.Warnings, nil)
		}},
	})
}
