package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestNewOperation builds the program with one more operation: a file of the board, a file of the
// commands and a row of the table of operations. Everything else derives from these.
func TestNewOperation(t *testing.T) {
	testrun.LongOnly(t)
	t.Parallel()
	full(t)
	root := testrun.Must(filepath.Abs("../.."))(t)
	scratch := t.TempDir()
	table := filepath.Join(root, "gitboard/board/operations.go")
	text := testrun.Must(os.ReadFile(table))(t)
	const row = `{payload: &Wave{}, noun: "a wave", who: human, born: NoteDir, offline: true},`
	const before = "\t{payload: &Land{},"
	withRow := strings.Replace(string(text), before, "\t"+row+"\n"+before, 1)
	if withRow == string(text) {
		t.Fatal("the table of operations has no row of land")
	}
	changed := filepath.Join(scratch, "operations.go")
	overlay, _ := json.Marshal(map[string]any{"Replace": map[string]string{
		table: changed,
		filepath.Join(root, "gitboard/board/op_wave.go"): filepath.Join(root, "cmd/git-liza/testdata/toy/op_wave.go"),
		filepath.Join(root, "cmd/internal/cli/wave.go"):  filepath.Join(root, "cmd/git-liza/testdata/toy/cmd_wave.go"),
	}})
	for file, data := range map[string]string{changed: withRow, filepath.Join(scratch, "overlay.json"): string(overlay)} {
		testrun.Check(t, os.WriteFile(file, []byte(data), 0o644))
	}
	program, project := filepath.Join(scratch, "git-liza"), filepath.Join(scratch, "project")
	run := func(dir, name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", filepath.Base(name), strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	says := func(what, part string) {
		t.Helper()
		if !strings.Contains(what, part) {
			t.Errorf("%q does not hold %q", what, part)
		}
	}
	// Most of this test's time goes into compiling, which is faster when nothing is optimized.
	run(root, "go", "build", "-gcflags=github.com/git-liza/...=-N -l -dwarf=false", "-ldflags=-w",
		"-overlay", filepath.Join(scratch, "overlay.json"), "-o", program, "./cmd/git-liza")
	run(scratch, "git", "init", "-q", project)
	run(project, "git", "-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit", "-q", "--allow-empty", "-m", "first")
	run(project, "git", "config", "user.name", "Ada")
	run(project, "git", "config", "user.email", "ada@example.org")
	run(project, program, "init", "--unattended", "Ship it")

	says(run(project, program, "help"), "greet everybody")
	says(run(project, program, "wave", "-h"), "--offline")
	done := run(project, program, "wave", "hello", "--json")
	says(done, `"op":"wave"`)
	says(done, `"id":"note-1"`)
	says(run(project, program, "read", "human_notes"), "hello")
	says(run(project, program, "log"), "wave: hello")
	says(run(project, program, "completion", "--for", "--", "wa"), "wave")
	run(project, program, "verify")

	cmd := exec.Command(program, "wave", "hello", "--json")
	cmd.Dir, cmd.Env = project, append(os.Environ(), "LIZA_AGENT_ID=coder-1")
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Errorf("a coder waves: %s", out)
	}
	says(string(out), `"permission"`)
}
