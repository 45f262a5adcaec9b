package team

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// telemetry starts and stops an export to a collector, and returns its warnings. The exporter is a
// program next to this one, or missing if script is "".
func telemetry(t *testing.T, endpoint, script string) (dir, warned string) {
	t.Helper()
	dir = t.TempDir()
	t.Setenv("PATH", "/usr/bin:/bin")
	if script != "" {
		testrun.Check(t, testrun.WriteProgram(filepath.Join(dir, exporter), "#!/bin/sh\n"+script))
	}
	c := &call.Call{App: &call.App{
		Getenv:  func(name string) string { return map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint}[name] },
		Environ: append(os.Environ(), "FROM=the app"), Program: filepath.Join(dir, "git-liza"), Dir: dir,
	}}
	Telemetry(t.Context(), c, func(text string) { warned += text + "\n" })()
	return dir, warned
}

// TestTelemetry: the exporter gets this process's id, its directory and its environment, and ends
// with its input.
func TestTelemetry(t *testing.T) {
	dir, warned := telemetry(t, "http://localhost:4318", `echo following; echo "$* from $FROM" > "$(dirname "$0")/begun"; cat; echo 'liza-otel: it is too slow' >&2`)
	begun, err := os.ReadFile(filepath.Join(dir, "begun"))
	if want := fmt.Sprintf("--pid %d -C %s from the app\n", os.Getpid(), dir); err != nil || string(begun) != want {
		t.Errorf("%q, want %q (%v)", begun, want, err)
	}
	if warned != "OpenTelemetry: it is too slow\n" {
		t.Errorf("%q", warned)
	}
}

// TestNoTelemetry: without a collector no program is started; without the program a sentence names
// it.
func TestNoTelemetry(t *testing.T) {
	if dir, warned := telemetry(t, "", `touch "$(dirname "$0")/begun"`); warned != "" || exists(filepath.Join(dir, "begun")) {
		t.Errorf("started, or %q", warned)
	}
	if _, warned := telemetry(t, "http://localhost:4318", ""); strings.Count(warned, "\n") != 1 || !strings.Contains(warned, "liza-otel is not installed: go install") {
		t.Errorf("%q", warned)
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
