package audit_test

import (
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log/codec"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

const importedRef = "refs/heads/liza/imported"

// imports begins another board with everything on this one, including archived tasks, keeps it
// under importedRef, and returns to this one.
func (w *world) imports() {
	all := board.Unarchived(w.snapshot(w.tip()).State)
	p := &board.Import{Source: "state.yaml", Log: []board.PastEntry{{Timestamp: "2026-01-01T08:00:00Z", Agent: "coder-1", Action: "claimed", Task: "alpha", Detail: "a: \"b\"\n#c"}}}
	paths := []string{board.GoalPath("goal-1"), board.SprintPath, board.ConfigPath, board.ControlPath, board.BreakerPath}
	for _, dir := range []string{board.TaskDir, board.AgentDir, board.DiscoveryDir, board.HandoffDir, board.NoteDir, board.AnomalyDir, board.SpecChangeDir} {
		for _, id := range all.List(dir) {
			paths = append(paths, board.RecordPath(dir, id))
		}
	}
	slices.Sort(paths)
	for _, path := range paths {
		r := testrun.Must(all.Record(path))(w.t)
		data := testrun.Must(codec.EncodeChecked(path, r))(w.t)
		p.Records = append(p.Records, board.Imported{Path: path, YAML: string(data)})
	}
	was := w.tip()
	move := func(ref string, old, to plumbing.OID) {
		check(w.t, w.store.UpdateRefs(w.ctx, []plumbing.RefUpdate{{Ref: ref, Old: old, New: to}}, ""))
	}
	move(plumbing.BoardRef, was, plumbing.ZeroOID)
	w.doSecret(ada, p)
	w.do(ada, &board.AddNote{Message: strings.Repeat("it goes on. ", 3)})
	move(importedRef, plumbing.ZeroOID, w.tip())
	w.rewind(was)
}
