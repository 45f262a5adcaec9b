package cli

import (
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/gitio"
	"github.com/git-liza/git-liza/gitboard/onefile"
)

func exportCommand() *command {
	var log string
	return &command{
		name: "export", group: "setting up", max: 0, reads: true,
		short: "print the whole board as a state.yaml of the one-file version",
		long: `It is git liza read with archived tasks among the others, and without sessions: git liza import begins the same board
with it anywhere else.`,
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&log, "log", "", "write the operations as a log.yaml to a `FILE`, too; - for that alone, on standard output")
		},
		run: func(c *call) error {
			if c.json {
				return usage(c.cmd, "a state.yaml is YAML; as JSON: git liza read --json")
			}
			return c.runExport(log)
		},
	}
}

func (c *call) runExport(log string) error {
	v, err := c.view()
	if err != nil {
		return err
	}
	if log != "" {
		lines, err := c.logLines(logOptions{}, gitio.ZeroOID, v.Commit)
		if err != nil {
			return err
		}
		var all []board.PastEntry
		for i := len(lines) - 1; i >= 0; i-- {
			entries, err := c.entries(logFilter{}, lines[i])
			if err != nil {
				return err
			}
			all = append(all, entries...)
		}
		text, err := onefile.WriteLog(all)
		if err != nil {
			return err
		}
		if log == "-" {
			_, err = io.WriteString(c.app.Stdout, text)
			return err
		}
		if !filepath.IsAbs(log) {
			log = filepath.Join(c.directory(), log)
		}
		if err := os.WriteFile(log, []byte(text), 0o644); err != nil {
			return usage(c.cmd, "--log: %v", err)
		}
	}
	leases, err := c.leases(v)
	if err != nil {
		return err
	}
	text, err := onefile.Write(v.State, leases)
	if err != nil {
		return err
	}
	_, err = io.WriteString(c.app.Stdout, text)
	return err
}
