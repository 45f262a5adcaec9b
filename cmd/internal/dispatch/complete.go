package dispatch

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/records"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/text"
	"github.com/git-liza/git-liza/roles/clis"
	"github.com/git-liza/git-liza/specs"
)

// Candidate is a word that may be inserted at the cursor, and its description.
type Candidate struct{ Word, About string }

// Complete returns completions of the last word after `git liza`. If the board can't be read, it
// offers nothing from it. Shells put a word in as it is, so no word is offered that would be more
// than a word in a shell, as an id on a forged board may be.
func Complete(ctx context.Context, c *call.Call, words []string) []Candidate {
	last := words[len(words)-1]
	before := words[:len(words)-1]
	var all []Candidate
	if cmd := Find(before); cmd != nil {
		all = completeFor(ctx, c, cmd, before[len(strings.Fields(cmd.Name)):], last)
	} else {
		all = commandWords(before)
	}
	return slices.DeleteFunc(all, func(w Candidate) bool { return !strings.HasPrefix(w.Word, last) || text.Quote(w.Word) != w.Word })
}

// commandWords are the first words of commands, or the second ones after a first.
func commandWords(before []string) []Candidate {
	var all []Candidate
	for _, cmd := range Commands() {
		first, second, two := strings.Cut(cmd.Name, " ")
		switch {
		case len(before) == 0 && two:
			if !slices.ContainsFunc(all, func(w Candidate) bool { return w.Word == first }) {
				all = append(all, Candidate{first, "git liza " + first + " ..."})
			}
		case len(before) == 0:
			all = append(all, Candidate{first, cmd.Short})
		case len(before) == 1 && two && first == before[0]:
			all = append(all, Candidate{second, cmd.Short})
		}
	}
	return all
}

func completeFor(ctx context.Context, c *call.Call, cmd *call.Command, before []string, last string) []Candidate {
	flags := (&call.Call{App: c.App, Cmd: cmd}).FlagSet()
	if strings.HasPrefix(last, "-") {
		var all []Candidate
		flags.VisitAll(func(f *pflag.Flag) {
			_, about := pflag.UnquoteUsage(f)
			all = append(all, Candidate{"--" + f.Name, about})
		})
		return all
	}
	n := 0 // arguments before the cursor
	for i := 0; i < len(before); i++ {
		name, isFlag := strings.CutPrefix(before[i], "--")
		if !isFlag {
			n++
			continue
		}
		f := flags.Lookup(name)
		if f == nil || f.NoOptDefVal != "" || strings.Contains(name, "=") {
			continue
		}
		if i++; i == len(before) {
			return values(ctx, c, cmd, name)
		}
	}
	args := strings.Fields(cmd.Args)
	if len(args) == 0 || n >= len(args) && !strings.HasSuffix(cmd.Args, "...") {
		return nil
	}
	return values(ctx, c, cmd, strings.Trim(args[min(n, len(args)-1)], "[]."))
}

// values are the words that a flag or an argument with that name accepts.
func values(ctx context.Context, c *call.Call, cmd *call.Command, name string) []Candidate {
	if strings.Contains(name, "|") {
		return bare(strings.Split(name, "|")...)
	}
	if name == "ID" {
		return onBoard(ctx, c, ids(cmd.Name)...)
	}
	switch name {
	case "TASK", "task", "depends", "by", "during", "planned", "stretch":
		return onBoard(ctx, c, tasks)
	case "RECORD":
		return slices.Concat(onBoard(ctx, c, tasks), bare(slices.Sorted(maps.Keys(records.Singles))...))
	case "GOAL", "goal", "after":
		return onBoard(ctx, c, goals)
	case "AGENT", "agent", "to":
		return onBoard(ctx, c, agents)
	case "for":
		return slices.Concat(bare(string(roles.Planner), roles.HumanID), onBoard(ctx, c, agents, tasks))
	case "ROLE":
		return bare(team(ctx, c).RoleNames()...)
	case "template":
		return bare(specs.TeamNames()...)
	case "stage":
		return bare(team(ctx, c).StageNames()...)
	case "role":
		return bare("coder", "reviewer", "both")
	case "KEY":
		var all []Candidate
		for _, k := range board.ConfigKeys {
			all = append(all, Candidate{k.Name, k.Meaning})
		}
		return all
	case "TYPE":
		var all []Candidate
		for _, t := range board.AnomalyTypes {
			all = append(all, Candidate{t.Type, strings.Join(t.Details, ", ")})
		}
		return all
	case "NAME[#SECTION": // of [NAME[#SECTION]]
		var all []Candidate
		for _, d := range specs.All() {
			all = append(all, Candidate{d.Name, d.About})
		}
		return all
	case "SHELL":
		return bare(Shells...)
	case "cli":
		var all []Candidate
		for _, k := range clis.Known {
			all = append(all, Candidate{k.Name, k.Program})
		}
		return all
	case "op":
		return bare(board.Ops()...)
	case "kind":
		var kinds []string
		for _, k := range board.Kinds {
			kinds = append(kinds, string(k))
		}
		return bare(kinds...)
	case "severity":
		return bare(board.Severities...)
	case "urgency":
		return bare(board.Urgencies...)
	case "decision":
		return bare(board.Decisions...)
	}
	return nil
}

func bare(words ...string) []Candidate {
	all := make([]Candidate, len(words))
	for i, w := range words {
		all[i].Word = w
	}
	return all
}

// boardOrNone is the board for completion, nil if it can't be read.
func boardOrNone(ctx context.Context, c *call.Call) *gitboard.View {
	if c.Board == nil && c.Open(ctx) != nil {
		return nil
	}
	v, err := c.View(ctx)
	if err != nil {
		return nil
	}
	return v
}

// list makes candidates of a board's records.
type list func(*board.State) []Candidate

// onBoard are the candidates of some lists, none if the board can't be read.
func onBoard(ctx context.Context, c *call.Call, lists ...list) (all []Candidate) {
	v := boardOrNone(ctx, c)
	if v == nil {
		return nil
	}
	for _, of := range lists {
		all = append(all, of(v.State)...)
	}
	return all
}

// ids are what an argument called ID may be: the ids of tasks, unless the command is about other
// records. What has been dealt with is left out.
func ids(command string) []list {
	switch command {
	case "ack":
		return []list{notes(func(n *board.Note) bool { return n.AcknowledgedBy == "" }), unseen}
	case "answer":
		asks := func(n *board.Note) bool { return n.For == roles.HumanID && n.Answer == "" && n.AcknowledgedBy == "" }
		return []list{notes(asks), tasks}
	case "settle-discovery", "convert-discovery":
		return []list{discoveries}
	case "recover-agent":
		return []list{agents}
	}
	return []list{tasks}
}

// notes are the ids of some notes with their texts.
func notes(some func(*board.Note) bool) list {
	return func(s *board.State) (all []Candidate) {
		for _, id := range s.List(board.NoteDir) {
			if n := s.Note(id); n != nil && some(n) {
				all = append(all, Candidate{id, n.By + ": " + text.Line(n.Message, 60)})
			}
		}
		return all
	}
}

// unseen are the ids of the unacknowledged anomalies and spec changes.
func unseen(s *board.State) (all []Candidate) {
	for _, id := range s.List(board.AnomalyDir) {
		if a := s.Anomaly(id); a != nil && a.AcknowledgedBy == "" {
			all = append(all, Candidate{id, a.Reporter + ": " + a.Type})
		}
	}
	for _, id := range s.List(board.SpecChangeDir) {
		if change := s.SpecChange(id); change != nil && change.AcknowledgedBy == "" {
			all = append(all, Candidate{id, change.By + ": " + text.Line(change.Change, 60)})
		}
	}
	return all
}

// discoveries are the ids of the open discoveries with their descriptions.
func discoveries(s *board.State) (all []Candidate) {
	for _, id := range s.List(board.DiscoveryDir) {
		if d := s.Discovery(id); d != nil && d.Open() {
			all = append(all, Candidate{id, d.Severity + ", " + text.Line(d.Description, 60)})
		}
	}
	return all
}

// tasks are the task ids with their statuses.
func tasks(s *board.State) (all []Candidate) {
	for _, t := range s.Tasks() {
		all = append(all, Candidate{t.ID, strings.TrimSpace(string(t.Status) + " " + t.AssignedTo)})
	}
	return all
}

// goals are the goals' ids with their states.
func goals(s *board.State) (all []Candidate) {
	for _, g := range s.Goals() {
		all = append(all, Candidate{g.ID, string(g.Status) + " " + text.Line(g.Description, 60)})
	}
	return all
}

// team is the board's team, the built-in one if there is no board.
func team(ctx context.Context, c *call.Call) *board.Team {
	if v := boardOrNone(ctx, c); v != nil {
		return v.State.Team()
	}
	return board.BuiltinTeam()
}

// agents are the agents' ids with their statuses.
func agents(s *board.State) (all []Candidate) {
	for _, id := range s.List(board.AgentDir) {
		if a := s.Agent(id); a != nil {
			all = append(all, Candidate{id, strings.TrimSpace(string(a.Status) + " " + a.CurrentTask)})
		}
	}
	return all
}

// Shells are the shells that have a completion.
var Shells = []string{"bash", "zsh", "fish"}
