package demo

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// files are the project's files, as each stage of the work writes them. The suffix .txt keeps them
// out of this module's build.
//
//go:embed all:files
var files embed.FS

//go:embed steps.txt
var list string

// step is a title and the lines below it. Those of several people run together if the title ends
// with an ampersand.
type step struct {
	title    string
	together bool
	lines    []line
}

// line is a command line, who types it, how many lines of its output are shown, and its exit code.
type line struct {
	who        string
	show, exit int
	text       string
}

// steps parses the list: a title begins with a hash, a continuation with a space.
func steps() (all []step) {
	for _, text := range strings.Split(strings.TrimSpace(list), "\n") {
		if title, is := strings.CutPrefix(text, "# "); is {
			title, together := strings.CutSuffix(title, " &")
			all = append(all, step{title: title, together: together})
			continue
		}
		if text == "" {
			continue
		}
		s := &all[len(all)-1]
		if strings.HasPrefix(text, " ") {
			s.lines[len(s.lines)-1].text += "\n" + strings.TrimSpace(text)
			continue
		}
		words := strings.SplitN(text, " ", 3) // who, how many lines and which exit code, the command
		lines, code, _ := strings.Cut(words[1], "!")
		show, _ := strconv.Atoi(lines)
		exit, _ := strconv.Atoi(code)
		s.lines = append(s.lines, line{words[0], show, exit, words[2]})
	}
	return all
}

// play is a run in progress.
type play struct {
	ctx      context.Context
	dir, bin string
	out      io.Writer
	colour   bool

	mu      sync.Mutex
	shells  map[string]*shell
	owner   map[string]string // who claimed a task in the race
	printed map[string]string // by the command
}

// step runs the lines of a step.
func (p *play) step(s step) error {
	if !s.together {
		return p.run(s.lines)
	}
	by := map[string][]line{}
	for _, l := range s.lines {
		by[l.who] = append(by[l.who], l)
	}
	errs := make(chan error)
	for _, lines := range by {
		go func() { errs <- p.run(lines) }()
	}
	var failed error
	for range by {
		failed = errors.Join(failed, <-errs)
	}
	return failed
}

// run runs lines one after the other, and then prints them as a block.
func (p *play) run(lines []line) (err error) {
	var block []string
	defer func() { p.print(block...) }()
	for _, l := range lines {
		who := l.who
		if task, is := strings.CutPrefix(who, "@"); is { // the coder that claimed it
			who = p.owner[task]
		}
		out, exit, err := p.types(who, &l)
		block = append(block, p.told(who, l, out, exit)...)
		if err == nil && exit != l.exit {
			err = fmt.Errorf("%s: %s ended with %d, not %d:\n%s", who, l.text, exit, l.exit, out)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// types has somebody type a line: it starts a shell for a newcomer, and carries out
// `edit STAGE` itself. After exit and kill the next line starts a new shell.
func (p *play) types(who string, l *line) (out string, exit int, err error) {
	p.mu.Lock()
	s := p.shells[who]
	if s == nil {
		if s, err = p.newShell(who); err != nil {
			p.mu.Unlock()
			return "", 0, err
		}
		p.shells[who] = s
	}
	p.mu.Unlock()
	if stage, is := strings.CutPrefix(l.text, "edit "); is {
		l.text, err = s.edit(stage)
		return "", 0, err
	}
	if strings.HasPrefix(l.text, "exit ") || strings.HasPrefix(l.text, "kill ") {
		p.mu.Lock()
		delete(p.shells, who)
		p.mu.Unlock()
		return "", max(0, s.last(l.text)), nil
	}
	out, exit, err = s.run(l.text)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.printed[l.text] = out
	if l.text == "git liza claim" && exit == 0 && err == nil {
		var me struct{ Task string }
		if text, _, err := s.run("git liza prime --json"); err == nil && json.Unmarshal([]byte(text), &me) == nil {
			p.owner[me.Task] = who
		}
	}
	return out, exit, err
}

// edit writes the files of a stage into the shell's directory, and returns the line that shows it.
func (s *shell) edit(stage string) (shown string, err error) {
	dir, _, err := s.run("pwd")
	if err != nil {
		return "", err
	}
	root := "files/" + stage
	shown = "$EDITOR"
	return shown, fs.WalkDir(files, root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name := strings.TrimSuffix(strings.TrimPrefix(path, root+"/"), ".txt")
		data, err := files.ReadFile(path)
		if err != nil {
			return err
		}
		shown += " " + name
		to := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		mode := fs.FileMode(0o644)
		if strings.HasSuffix(name, ".sh") {
			mode = 0o755
		}
		return os.WriteFile(to, data, mode)
	})
}

const (
	labelWidth = 17
	lineWidth  = 110
)

// colours are the agents' colours; a human has none.
var colours = map[string]string{"planner-1": "35", "coder-1": "36", "coder-2": "34", "code-reviewer-1": "33"}

func (p *play) paint(code, text string) string {
	if !p.colour || code == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (p *play) print(lines ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range lines {
		fmt.Fprintln(p.out, strings.TrimRight(l, " "))
	}
}

// told formats a line with the part of its output that is worth showing.
func (p *play) told(who string, l line, out string, exit int) (all []string) {
	margin := strings.Repeat(" ", 4+labelWidth)
	for i, text := range strings.Split(l.text, "\n") {
		if i == 0 {
			all = append(all, "    "+p.paint(colours[who], fmt.Sprintf("%-*s", labelWidth, who))+"$ "+text)
		} else {
			all = append(all, margin+"      "+text)
		}
	}
	var shown []string
	for _, text := range strings.Split(out, "\n") {
		if text = strings.ReplaceAll(strings.TrimRight(text, " \t\r"), "\t", "    "); text != "" {
			if runes := []rune(text); len(runes) > lineWidth {
				text = string(runes[:lineWidth-3]) + "..."
			}
			shown = append(shown, text)
		}
	}
	if more := len(shown) - l.show; more > 0 {
		shown = shown[:l.show]
		if more > 2 && l.show > 0 {
			shown = append(shown, fmt.Sprintf("(and %d lines)", more))
		}
	}
	if exit != 0 {
		shown = append(shown, fmt.Sprintf("(exit code %d)", exit))
	}
	for _, text := range shown {
		all = append(all, margin+"  "+p.paint("2", text))
	}
	return all
}
