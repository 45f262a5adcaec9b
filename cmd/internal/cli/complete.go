package cli

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/cmd/internal/records"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/roles/clis"
	"github.com/git-liza/git-liza/specs"
)

// candidate is a word that may stand where the cursor is, and what it is.
type candidate struct{ word, about string }

// complete returns what the last of the words after `git liza` may become. Where the board can't be read there
// is nothing of it to offer.
func complete(c *edge.Call, words []string) []candidate {
	last := words[len(words)-1]
	before := words[:len(words)-1]
	var all []candidate
	if cmd := findCommand(before); cmd != nil {
		all = completeFor(c, cmd, before[len(strings.Fields(cmd.Name)):], last)
	} else {
		all = commandWords(before)
	}
	return slices.DeleteFunc(all, func(w candidate) bool { return !strings.HasPrefix(w.word, last) })
}

// commandWords are the first words of commands, or the second ones after a first.
func commandWords(before []string) []candidate {
	var all []candidate
	for _, cmd := range commands() {
		first, second, two := strings.Cut(cmd.Name, " ")
		switch {
		case len(before) == 0 && two:
			if !slices.ContainsFunc(all, func(w candidate) bool { return w.word == first }) {
				all = append(all, candidate{first, "git liza " + first + " ..."})
			}
		case len(before) == 0:
			all = append(all, candidate{first, cmd.Short})
		case len(before) == 1 && two && first == before[0]:
			all = append(all, candidate{second, cmd.Short})
		}
	}
	return all
}

func completeFor(c *edge.Call, cmd *edge.Command, before []string, last string) []candidate {
	flags := (&edge.Call{App: c.App, Cmd: cmd}).FlagSet()
	if strings.HasPrefix(last, "-") {
		var all []candidate
		flags.VisitAll(func(f *pflag.Flag) { all = append(all, candidate{"--" + f.Name, f.Usage}) })
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
			return values(c, cmd, name)
		}
	}
	args := strings.Fields(cmd.Args)
	if len(args) == 0 || n >= len(args) && !strings.HasSuffix(cmd.Args, "...") {
		return nil
	}
	return values(c, cmd, strings.Trim(args[min(n, len(args)-1)], "[]."))
}

// values are the words that a flag or an argument of that name takes.
func values(c *edge.Call, cmd *edge.Command, name string) []candidate {
	if strings.Contains(name, "|") {
		return bare(strings.Split(name, "|")...)
	}
	switch name {
	case "ID", "TASK", "task", "depends", "by", "during", "planned", "stretch":
		return tasks(c)
	case "RECORD":
		return slices.Concat(tasks(c), bare(slices.Sorted(maps.Keys(records.Singles))...))
	case "AGENT", "agent", "to":
		return agents(c)
	case "for":
		return slices.Concat(bare(string(roles.Planner), roles.HumanID), agents(c), tasks(c))
	case "ROLE":
		return bare(roles.Planner.Prefix(), roles.Coder.Prefix(), roles.CodeReviewer.Prefix())
	case "role":
		return bare("coder", "reviewer", "both")
	case "KEY":
		var all []candidate
		for _, k := range board.ConfigKeys {
			all = append(all, candidate{k.Name, k.Meaning})
		}
		return all
	case "TYPE":
		var all []candidate
		for _, t := range board.AnomalyTypes {
			all = append(all, candidate{t.Type, strings.Join(t.Details, ", ")})
		}
		return all
	case "NAME[#SECTION": // of [NAME[#SECTION]]
		var all []candidate
		for _, d := range specs.All() {
			all = append(all, candidate{d.Name, d.About})
		}
		return all
	case "SHELL":
		return bare(shells...)
	case "cli":
		var all []candidate
		for _, k := range clis.Known {
			all = append(all, candidate{k.Name, k.Program})
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

func bare(words ...string) []candidate {
	all := make([]candidate, len(words))
	for i, w := range words {
		all[i].word = w
	}
	return all
}

// boardOrNone is the board for completion, nil where there is none to read.
func boardOrNone(c *edge.Call) *gitboard.View {
	v, err := c.View()
	if err != nil {
		return nil
	}
	return v
}

// tasks are the task ids with their states.
func tasks(c *edge.Call) []candidate {
	v := boardOrNone(c)
	if v == nil {
		return nil
	}
	var all []candidate
	for _, t := range v.State.Tasks() {
		all = append(all, candidate{t.ID, strings.TrimSpace(string(t.Status) + " " + t.AssignedTo)})
	}
	return all
}

// agents are the agents' ids with their states.
func agents(c *edge.Call) []candidate {
	v := boardOrNone(c)
	if v == nil {
		return nil
	}
	var all []candidate
	for _, id := range v.State.List(board.AgentDir) {
		if a := v.State.Agent(id); a != nil {
			all = append(all, candidate{id, strings.TrimSpace(string(a.Status) + " " + a.CurrentTask)})
		}
	}
	return all
}

// shells are those that have a completion.
var shells = []string{"bash", "zsh", "fish"}
