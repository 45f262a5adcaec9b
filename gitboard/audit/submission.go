package audit

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/text"
)

// whole returns the submissions that can be read completely, with their changes, and reports the
// others. Git fails at the first object that is missing.
func (p *replay) whole(ctx context.Context, repo *git.Repo, all []evidence) (sound []evidence, of sized, err error) {
	if of, err := sizes(ctx, repo, all); err == nil || !lacking(err) {
		return all, of, err
	}
	for _, e := range all {
		_, failed := sizes(ctx, repo, []evidence{e})
		if err := unlessLacking(failed); err != nil {
			return nil, sized{}, err
		}
		if failed == nil {
			sound = append(sound, e)
			continue
		}
		why := repo.History().WholeSince(ctx, e.handed.base, e.handed.commit)
		if err := unlessLacking(why); err != nil {
			return nil, sized{}, err
		}
		if why == nil {
			why = failed // its base can't be read
		}
		p.report.add(e.unread(why))
		p.unread[e.handed.commit] = true
	}
	of, err = sizes(ctx, repo, sound)
	return sound, of, err
}

// unread is the finding of a submission that can't be read.
func (e evidence) unread(why error) Finding {
	return Finding{e.commit, e.subject, CodeEvidence, fmt.Sprintf("the submission of %s, %s, can't be read completely: %v", e.handed.task, e.handed.commit.Short(), why)}
}

// counted checks the sizes that submissions record: the number of commits since the claim's base,
// the tree, the number of files that differ from the review's base, that the named tests are among
// these, and which tests the submission deletes or empties.
func (p *replay) counted(ctx context.Context, repo *git.Repo, all []evidence, found []signs, of sized) error {
	gone, err := goneTests(ctx, repo, all, of.stats)
	if err != nil {
		return err
	}
	for i, e := range all {
		if !found[i].examined {
			continue
		}
		h, is := e.handed, found[i].commits
		if h.claimed != h.base {
			is, err = repo.History().CountCommits(ctx, h.claimed, h.commit)
			if refused(err) {
				is, err = h.says.Commits, nil // the claim's base is missing
			}
			if err != nil {
				return err
			}
		}
		wrong := func(format string, args ...any) {
			p.report.add(Finding{e.commit, e.subject, CodeEvidence, fmt.Sprintf(format, args...)})
		}
		if is != h.says.Commits {
			wrong("it says that it has %d commits, and has %d", h.says.Commits, is)
		}
		if tree := string(of.trees[i]); tree != h.says.Tree {
			wrong("it says that its tree is %s, and it is %s", quote(h.says.Tree), tree)
		}
		if n := len(of.stats[i]); n != h.says.Files {
			wrong("it says that it changes %s, and changes %d", text.Plural(h.says.Files, "file"), n)
		}
		for _, test := range h.says.Tests {
			if !slices.ContainsFunc(of.stats[i], func(f git.FileStat) bool { return f.Path == test }) {
				wrong("it names the test %s, which it does not change", quote(test))
				break
			}
		}
		if what := wrongTests(h.says, gone[i]); what != "" {
			wrong("%s", what)
		}
		if what := wrongPaths(h, of.stats[i]); what != "" {
			wrong("%s", what)
		}
	}
	return nil
}

// wrongPaths describes how the paths for which a human has to approve differ from what the
// submission changes, "" for not at all.
func wrongPaths(h *handed, stats []git.FileStat) string {
	files := make([]string, len(stats))
	for i, f := range stats {
		files[i] = f.Path
	}
	if is := h.policy.HumanPaths(files); !slices.Equal(is, h.says.HumanPaths) {
		return fmt.Sprintf("it says that it changes files matching [%s], for which a human has to approve, and it changes some of [%s]",
			strings.Join(h.says.HumanPaths, ", "), strings.Join(is, ", "))
	}
	return ""
}

// wrongTests describes how a submission's lists of tests differ from the tests that its commit
// deletes or empties, "" for not at all.
func wrongTests(says *board.Submit, gone []string) string {
	for _, test := range says.Tests {
		if slices.Contains(gone, test) {
			return fmt.Sprintf("it names the test %s, which it deletes or empties", quote(test))
		}
	}
	for _, test := range says.DeletedTests {
		if !slices.Contains(gone, test) {
			return fmt.Sprintf("it says that it deletes or empties the test %s, and does not", quote(test))
		}
	}
	if len(says.DeletedTests) == 0 && len(gone) > 0 {
		return fmt.Sprintf("it deletes or empties the test %s, and does not say so", quote(gone[0]))
	}
	return ""
}

// goneTests lists for each submission the tests among its changes that its commit deletes or
// empties.
func goneTests(ctx context.Context, repo *git.Repo, all []evidence, stats [][]git.FileStat) ([][]string, error) {
	type asked struct {
		of   int
		path string
	}
	var names []string
	var of []asked
	for i, e := range all {
		for _, f := range stats[i] {
			// A file with added lines exists, and no record can name a path with a control
			// character.
			if f.Added == 0 && !strings.ContainsFunc(f.Path, unicode.IsControl) && board.Selects(e.handed.globs, f.Path) {
				names, of = append(names, string(e.handed.commit)+":"+f.Path), append(of, asked{i, f.Path})
			}
		}
	}
	gone := make([][]string, len(all))
	for begin := 0; begin < len(names); begin += batchSize {
		part := names[begin:min(begin+batchSize, len(names))]
		found, err := repo.History().SizesOf(ctx, part)
		if err != nil {
			return nil, err
		}
		for n, size := range found {
			if a := of[begin+n]; size.Type != plumbing.BlobObject || size.Bytes == 0 {
				gone[a.of] = append(gone[a.of], a.path)
			}
		}
	}
	return gone, nil
}

// sized is what each submission changes, and the trees of the submitted commits.
type sized struct {
	stats [][]git.FileStat
	trees []plumbing.OID
}

// sizes lists what each submission changes, from the trees alone.
func sizes(ctx context.Context, repo *git.Repo, all []evidence) (of sized, err error) {
	names := make([]string, 0, 2*len(all))
	for _, e := range all {
		names = append(names, string(e.handed.base)+"^{tree}", string(e.handed.commit)+"^{tree}")
	}
	var trees []plumbing.OID
	for part := range slices.Chunk(names, batchSize) {
		found, err := repo.History().SizesOf(ctx, part)
		if err != nil {
			return of, err
		}
		for _, tree := range found {
			if tree.OID == "" {
				return of, &git.DamagedError{Commit: all[len(trees)/2].handed.commit}
			}
			trees = append(trees, tree.OID)
		}
	}
	pairs := make([][2]plumbing.OID, len(all))
	for i := range pairs {
		pairs[i] = [2]plumbing.OID{trees[2*i], trees[2*i+1]}
		of.trees = append(of.trees, trees[2*i+1])
	}
	of.stats, err = repo.History().DiffStats(ctx, pairs)
	return of, err
}
