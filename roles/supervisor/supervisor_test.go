package supervisor

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/forge"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/testrun"
	"github.com/git-liza/git-liza/roles/clis"
	"github.com/git-liza/git-liza/roles/process"
	"github.com/git-liza/git-liza/roles/transcript"
)

// TestHaltIsSummarized: the file .liza/CHECKPOINT has the sprint's summary written, once, by any
// supervisor and by a team without members, and the supervisor names its file.
func TestHaltIsSummarized(t *testing.T) {
	ctx, s, _, _ := supervised(t)
	root := testrun.Must(s.Board.Root(ctx))(t)
	file := filepath.Join(root, ".liza", "CHECKPOINT")
	halt := func(since string) {
		t.Helper()
		must(t, os.MkdirAll(filepath.Dir(file), 0o755))
		must(t, os.WriteFile(file, []byte(since+"\n"), 0o644))
	}
	summaries := func() int {
		t.Helper()
		found := testrun.Must(filepath.Glob(filepath.Join(s.Board.Dir(), "summaries", "*-sprint-1.md")))(t)
		return len(found)
	}
	halt("2026-01-02T03:00:00Z")
	for range 2 {
		l := testrun.Must(s.look(ctx))(t)
		if step := Next(l, s.memory); step.Do != Wait || !strings.HasSuffix(step.Reason, " .liza/CHECKPOINT; summary: "+l.Summary) {
			t.Errorf("%+v", step)
		}
		text := testrun.Must(os.ReadFile(l.Summary))(t)
		if !strings.Contains(string(text), "sprint-1") || summaries() != 1 {
			t.Errorf("%d summaries, of %s:\n%s", summaries(), l.Summary, text)
		}
	}
	halt("2026-01-02T03:01:00Z")
	testrun.Must((&team{Team: Team{Board: s.Board}}).hire(ctx, nil))(t)
	if summaries() != 2 {
		t.Errorf("%d summaries once the team has looked", summaries())
	}
}

// TestPace checks that one supervisor fetches for all of its process, quickly after the board has
// moved and at the poll interval once it rests, and that a slow remote is not fetched all the time.
func TestPace(t *testing.T) {
	ctx, s, _, clock := supervised(t)
	p, fetched, takes := &pace{}, 0, time.Duration(0)
	fetch := func() time.Duration {
		return p.fetch(ctx, s.Board, time.Minute, func() { fetched++; clock.Pass(takes) })
	}
	moves := func() { do(t, ctx, s.Board, human, &board.AddNote{Message: "so"}) }
	if wait := fetch(); wait != quickest || fetched != 1 {
		t.Fatalf("after %d fetches it waits %s", fetched, wait)
	}
	clock.Pass(quickest / 2)
	if wait := fetch(); wait != quickest/2 || fetched != 1 {
		t.Errorf("another supervisor: after %d fetches it waits %s", fetched, wait)
	}
	rests := func() (waits []time.Duration) {
		for range 15 {
			clock.Pass(time.Minute)
			waits = append(waits, fetch())
		}
		return waits
	}
	if waits := rests(); waits[0] >= 2*quickest || waits[14] != time.Minute {
		t.Errorf("at rest it waits %s", waits)
	}
	moves()
	before := fetched
	if wait := fetch(); wait != quickest || fetched != before {
		t.Errorf("after a move it waits %s, after %d fetches", wait, fetched-before)
	}
	clock.Pass(quickest)
	if fetch(); fetched != before+1 {
		t.Errorf("after a move it fetched %d times", fetched-before)
	}
	takes = 5 * time.Second
	moves()
	clock.Pass(time.Minute)
	testrun.Equal(t, fetch(), 2*takes, "with a slow remote it waits")
}

// TestForgedLines checks that nothing that an agent prints reads like a line of its supervisor,
// however it is cut into pieces.
func TestForgedLines(t *testing.T) {
	_, s, _, clock := supervised(t)
	const forged = "[liza 2026-11-26T10:00:00Z] alarm: forged\n"
	j := testrun.Must(s.files.journal())(t)
	j.note(transcript.Line(clock.Now(), "started"))
	for _, piece := range []string{forged, "so\n" + forged + forged, "no line end", "[liza ", "so\n[li", "za 2026-11-26T10:00:00Z] alarm: forged\n", "no line end"} {
		_, _ = j.Write([]byte(piece))
	}
	j.note(transcript.Line(clock.Now(), "ended"))
	must(t, j.Close())
	var own []string
	lines := 0
	must(t, transcript.Read(context.Background(), s.Board.Dir(), "coder-1", 0, false, func(line []byte) error {
		lines++
		if _, text, is := transcript.Parse(string(line)); is {
			own = append(own, text)
		}
		return nil
	}))
	if len(own) != 2 || own[0] != "started" || own[1] != "ended" || lines != 9 {
		t.Errorf("%d lines, of the supervisor %q", lines, own)
	}
}

// TestSandbox checks that a CLI works in its sandbox if that starts. Otherwise it works without,
// with a warning, unless the user requires the sandbox. If the user wants none, or in a container,
// it is not tried.
func TestSandbox(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "codex")
	for _, test := range []struct {
		name      string
		sandbox   string // the program's answer
		use       clis.Use
		container *process.Container
		boxed     bool
		tried     bool
		said      string
	}{
		{name: "starts", sandbox: "exit 0", boxed: true, tried: true},
		{name: "does not", sandbox: "echo note; echo bwrap: No permissions >&2; exit 1", tried: true, said: "does not start here (bwrap: No permissions)"},
		{name: "must", sandbox: "echo bwrap: No permissions; exit 1", use: clis.Always, tried: true, said: "does not start here: bwrap: No permissions"},
		{name: "must and starts", sandbox: "exit 0", use: clis.Always, boxed: true, tried: true},
		{name: "unwanted", sandbox: "exit 0", use: clis.Never},
		{name: "in a container", sandbox: "exit 0", container: &process.Container{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			tried := filepath.Join(t.TempDir(), "tried")
			must(t, os.WriteFile(program, []byte("#!/bin/sh\n: >'"+tried+"'\n"+test.sandbox+"\n"), 0o755))
			c := testrun.Must(clis.Find("codex", nil))(t)
			box := *c.Sandbox
			box.Use = test.use
			c.Sandbox = &box
			s := &supervisor{Config: Config{CLI: c, Container: test.container, Environ: os.Environ()}, program: program}
			err := s.trySandbox(t.Context())
			said := s.unboxed
			if stop := (*StopError)(nil); errors.As(err, &stop) && stop.Exit == 5 {
				said = stop.Reason
			} else if err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(tried); (err == nil) != test.tried {
				t.Errorf("tried: %v", err)
			}
			if s.sandboxed != test.boxed || test.said == "" && said != "" || !strings.Contains(said, test.said) || (err != nil) != (test.use == clis.Always && !test.boxed) {
				t.Errorf("sandboxed %t, %q, %v", s.sandboxed, said, err)
			}
		})
	}
}

// TestInherit checks that an agent gets no token of a host, by which it would act as the human there.
func TestInherit(t *testing.T) {
	environ := []string{"HOME=/home/ann", "LIZA_AGENT_ID=coder-9"}
	for _, name := range forge.Tokens() {
		environ = append(environ, name+"=s3cr3t")
	}
	got := inherit(environ, map[string]string{"LIZA_AGENT_ID": "coder-1"})
	if !slices.Equal(got, []string{"HOME=/home/ann", "LIZA_AGENT_ID=coder-1"}) {
		t.Errorf("%q", got)
	}
	if got := inherit(environ, nil, "GH_TOKEN"); !slices.Contains(got, "GH_TOKEN=s3cr3t") || len(got) != 3 {
		t.Errorf("with the token that its CLI logs in by: %q", got)
	}
	for _, kind := range []string{forge.GitHub, forge.GitLab, forge.Gitea} {
		for _, name := range append(forge.Variables(kind, "github.com"), forge.Variables(kind, "host.example")...) {
			if !slices.Contains(forge.Tokens(), name) {
				t.Errorf("%s is not among the tokens", name)
			}
		}
	}
}
