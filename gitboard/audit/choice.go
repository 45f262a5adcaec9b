package audit

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/text"
)

// differs explains how a recorded merge of two sides differs from the computed one.
func differs(ctx context.Context, repo *git.Repo, sides [2]plumbing.OID, computed, recorded plumbing.OID) (why remerged, err error) {
	base, err := repo.History().MergeBase(ctx, sides[0], sides[1])
	if err != nil {
		return why, err
	}
	paths, err := repo.History().ChangedFiles(ctx, computed, recorded)
	if err != nil {
		return why, err
	}
	var changed [2][]string
	for i, side := range sides {
		if changed[i], err = repo.History().ChangedFiles(ctx, base, side); err != nil {
			return why, err
		}
	}
	drivers, err := repo.Drivers(ctx, sides[0], sides[1], paths)
	if err != nil {
		return why, err
	}
	for _, file := range paths {
		_, ours := slices.BinarySearch(changed[0], file)
		_, theirs := slices.BinarySearch(changed[1], file)
		if !ours || !theirs {
			return remerged{wrong: true, text: fmt.Sprintf("; %q was not changed on both sides, and is neither side's there", file)}, nil
		}
		if driver, is := drivers[file]; is {
			why.text += fmt.Sprintf("; %q is attested: the merge driver %s made it", file, text.Line(driver.Name, 40))
			continue
		}
		lines, err := chosen(ctx, repo, base, sides, computed, recorded, file)
		if err != nil {
			return why, err
		}
		if lines == nil {
			return remerged{wrong: true, text: fmt.Sprintf("; %q has another mode, or lines that are not a choice between those that both sides changed", file)}, nil
		}
		why.choice = true
		why.text += fmt.Sprintf("; %q has, where both sides changed the same lines: %s", file, quote(strings.Join(lines, "")))
	}
	return why, nil
}

// chosen returns the lines of a recorded file where both sides changed the same ones, and nil if
// the file is more than a choice between those.
func chosen(ctx context.Context, repo *git.Repo, base plumbing.OID, sides [2]plumbing.OID, computed, recorded plumbing.OID, file string) ([]string, error) {
	var texts [4][]string
	var modes []string
	for i, tree := range []plumbing.OID{base, sides[0], sides[1], recorded, computed} {
		mode, text, err := textOf(ctx, repo, tree, file)
		if err != nil || mode == "" && i > 0 || strings.Contains(text, "\x00") { // both may have added it
			return nil, err
		}
		modes = append(modes, mode)
		if i < len(texts) {
			texts[i] = slices.Collect(strings.Lines(text))
		}
	}
	if modes[3] != modes[4] {
		return nil, nil
	}
	var edits [2][]edit
	for i, side := range sides {
		patch, err := repo.History().Diff(ctx, base, side, file)
		if err != nil {
			return nil, err
		}
		edits[i] = editsOf(patch)
	}
	return choice(texts[0], [2][]string{texts[1], texts[2]}, edits, texts[3]), nil
}

// textOf returns the mode and the text of a regular file of a commit or a tree, "" for none.
func textOf(ctx context.Context, repo *git.Repo, tree plumbing.OID, file string) (mode, text string, err error) {
	dir, name := path.Split(file)
	found, err := repo.Objects(ctx, []string{fmt.Sprintf("%s:%s", tree, strings.TrimSuffix(dir, "/")), fmt.Sprintf("%s:%s", tree, file)})
	if err != nil {
		return "", "", err
	}
	entries, _ := plumbing.DecodeTree(found[0].Data) // without one there is no file
	for _, e := range entries {
		if e.Name == name && (e.Mode == filemode.Regular || e.Mode == filemode.Executable) {
			return e.Mode.String(), string(found[1].Data), nil
		}
	}
	return "", "", nil
}

// edit is a change of the lines from..to of a file (counted from 0, without to) into those of
// another one.
type edit struct{ from, to, newFrom, newTo int }

// editsOf returns the edits in a patch.
func editsOf(patch string) (edits []edit) {
	old, now := 0, 0 // how many lines have been passed
	for l := range plumbing.PatchLines(patch) {
		switch l.Kind {
		case plumbing.PatchSame:
			old, now = l.Old, l.New
			continue
		case plumbing.PatchGone:
			now = l.Next - 1
			old = l.Old - 1
		case plumbing.PatchAdded:
			now = l.New - 1
		default:
			continue
		}
		if n := len(edits); n == 0 || edits[n-1].to != old || edits[n-1].newTo != now {
			edits = append(edits, edit{old, old, now, now})
		}
		if e := &edits[len(edits)-1]; l.Kind == plumbing.PatchGone {
			old++
			e.to = old
		} else {
			now++
			e.newTo = now
		}
	}
	return edits
}

// piece is a part of a merged file: the lines that it must have, or those of both sides among which
// it may choose.
type piece struct {
	lines  []string
	shared bool
}

// pieces merges the edits of two sides.
func pieces(base []string, sides [2][]string, edits [2][]edit) (all []piece) {
	at := 0
	for next := edits; len(next[0])+len(next[1]) > 0; {
		first := 0
		if len(next[0]) == 0 || len(next[1]) > 0 && next[1][0].from < next[0][0].from {
			first = 1
		}
		region := next[first][0]
		var of [2][]edit
		for grown := true; grown; { // edits that touch are of one region
			grown = false
			for i := range next {
				for len(next[i]) > 0 && next[i][0].from <= region.to {
					region.to, grown = max(region.to, next[i][0].to), true
					of[i], next[i] = append(of[i], next[i][0]), next[i][1:]
				}
			}
		}
		all = append(all, piece{lines: base[at:region.from]})
		var lines []string
		for i, es := range of {
			if len(es) > 0 {
				first, last := es[0], es[len(es)-1]
				lines = append(lines, sides[i][first.newFrom-(first.from-region.from):last.newTo+region.to-last.to]...)
			}
		}
		all = append(all, piece{lines, len(of[0]) > 0 && len(of[1]) > 0})
		at = region.to
	}
	return append(all, piece{lines: base[at:]})
}

// choice returns the lines that a recorded file has in shared pieces, and nil if it differs in
// others or has lines of neither side.
func choice(base []string, sides [2][]string, edits [2][]edit, recorded []string) []string {
	chosen := []string{}
	all := pieces(base, sides, edits)
	for i, p := range all {
		if !p.shared {
			if len(recorded) < len(p.lines) || !slices.Equal(recorded[:len(p.lines)], p.lines) {
				return nil
			}
			recorded = recorded[len(p.lines):]
			continue
		}
		rest := 0 // a shared piece ends where the longest remaining text can still begin
		for _, later := range all[i+1:] {
			if later.shared {
				break
			}
			rest += len(later.lines)
		}
		n := 0
		for n < len(recorded)-rest && n < len(p.lines) && slices.Contains(p.lines, recorded[n]) {
			n++
		}
		for last := !slices.ContainsFunc(all[i+1:], func(p piece) bool { return p.shared }); !last && n > 0 && !begins(recorded[n:], all[i+1:]); {
			n--
		}
		chosen, recorded = append(chosen, recorded[:n]...), recorded[n:]
	}
	if len(recorded) > 0 {
		return nil
	}
	return chosen
}

// begins reports whether lines begin with the pieces up to the next shared one.
func begins(lines []string, rest []piece) bool {
	for _, p := range rest {
		if p.shared {
			return true
		}
		if len(lines) < len(p.lines) || !slices.Equal(lines[:len(p.lines)], p.lines) {
			return false
		}
		lines = lines[len(p.lines):]
	}
	return true
}
