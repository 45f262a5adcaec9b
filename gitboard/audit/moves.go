package audit

import (
	"fmt"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// moves looks for moves of integration that no operation records. It goes back from the tip and
// skips each recorded move, from its end to its start. The commits between those moves are not
// recorded. Until the first claim, what people bring there is not noted: they make it ready.
func (p *replay) moves(l *line) {
	w := p.walker(l)
	early := l.known.IsZero()
	var others []plumbing.Commit // consecutive commits by people, newest first
	report := func() {
		if len(others) > 0 {
			newest, oldest := others[0], others[len(others)-1]
			text := unrecorded(l.branch, newest.OID, newest.Committer.Name)
			if len(others) > 1 {
				text = fmt.Sprintf("%s got %d commits, from %s to %s, which no merge or land records; the newest is by %s",
					l.branch, len(others), oldest.OID.Short(), newest.OID.Short(), newest.Committer.Name)
			}
			p.report.note(Finding{newest.OID, subject(newest), CodeIntegration, text})
		}
		others = nil
	}
	at := l.end
	for c, since := l.commits[at]; since; c, since = l.commits[at] {
		if at == l.known {
			report()
			early = true
		}
		if before, ok := w.recorded[at]; ok {
			report()
			at = before
			continue
		}
		brought := w.brought(c)
		if l.agentOf(c) == "" && len(brought) == 0 {
			if !early {
				others = append(others, c)
			}
		} else {
			report()
		}
		if by := l.agentOf(c); by != "" {
			p.report.add(Finding{at, subject(c), CodeIntegration, unrecorded(l.branch, at, by)})
		}
		for _, b := range brought {
			p.report.add(Finding{b.OID, subject(b), CodeIntegration, fmt.Sprintf("%s, brought by %s", unrecorded(l.branch, b.OID, l.agentOf(b)), at.Short())})
		}
		at = first(c)
	}
	report()
}

// walker follows the commits that came to integration beside the line that moves goes back.
type walker struct {
	l        *line
	recorded map[plumbing.OID]plumbing.OID // the end of a recorded move → its start
	first    map[plumbing.OID]bool         // where integration has been, and what recorded moves took it over
	seen     map[plumbing.OID]bool         // commits that recorded merges brought, and visited commits
}

func (p *replay) walker(l *line) *walker {
	w := &walker{l, map[plumbing.OID]plumbing.OID{}, map[plumbing.OID]bool{}, map[plumbing.OID]bool{}}
	for _, e := range p.evidence {
		if e.lands != nil && l.follows(e.lands.before, e.lands.after) { // else the walk might never end
			w.recorded[e.lands.after] = e.lands.before
		}
	}
	w.follow()
	for _, e := range p.evidence {
		if e.lands != nil && e.lands.mergeType == board.MergeCommitType {
			w.visit([]plumbing.OID{e.lands.review}, func(plumbing.Commit) {})
		}
	}
	return w
}

// brought lists the agents' commits that an unrecorded merge brought in by its other parents.
func (w *walker) brought(merge plumbing.Commit) (found []plumbing.Commit) {
	if len(merge.Parents) < 2 {
		return nil
	}
	w.visit(merge.Parents[1:], func(c plumbing.Commit) {
		if w.l.agentOf(c) != "" {
			found = append(found, c)
		}
	})
	return found
}

// follow marks the line that moves goes back: the first parents, and each recorded move from its
// end to its start. Work that has integration merged into it may land as a fast-forward; its first
// parents are not where integration was.
func (w *walker) follow() {
	at := w.l.end
	for c, since := w.l.commits[at]; since; c, since = w.l.commits[at] {
		w.first[at] = true
		before, recorded := w.recorded[at]
		at = first(c)
		if !recorded {
			continue
		}
		for at != before { // the commits of a fast-forward
			c, since := w.l.commits[at]
			if !since || w.first[at] {
				break
			}
			w.first[at] = true
			at = first(c)
		}
		at = before
	}
}

// visit goes back from commits to that line, visits each commit once, and skips recorded moves.
func (w *walker) visit(open []plumbing.OID, see func(plumbing.Commit)) {
	for len(open) > 0 {
		at := open[len(open)-1]
		open = open[:len(open)-1]
		if w.first[at] || w.seen[at] {
			continue
		}
		w.seen[at] = true
		if before, ok := w.recorded[at]; ok {
			open = append(open, before)
			continue
		}
		c := w.l.commits[at] // none from before the line
		see(c)
		open = append(open, c.Parents...)
	}
}
