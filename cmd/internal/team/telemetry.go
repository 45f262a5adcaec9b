package team

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/gitboard/proc"
)

// exporter is the program that sends operations to a collector.
const exporter = "liza-otel"

// partingTime is how long the exporter may send the rest.
const partingTime = 10 * time.Second

// Telemetry exports what this process's agents do to the OpenTelemetry collector that the
// environment names, if any, until stop is called: it starts liza-otel, which is next to this
// program or in PATH. Failures are reported by warn, and stop nothing.
func Telemetry(ctx context.Context, c *call.Call, warn func(text string)) (stop func()) {
	if c.App.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") == "" {
		return func() {}
	}
	stop, err := startExporter(ctx, c, warn)
	if err != nil {
		warn("OpenTelemetry: " + err.Error())
		return func() {}
	}
	return sync.OnceFunc(stop)
}

func startExporter(ctx context.Context, c *call.Call, warn func(text string)) (stop func(), err error) {
	program := c.App.Program
	if program == "" {
		if program, err = os.Executable(); err != nil {
			return nil, err
		}
	}
	path := filepath.Join(filepath.Dir(program), exporter)
	if _, err := exec.LookPath(path); err != nil {
		if path, err = exec.LookPath(exporter); err != nil {
			return nil, errors.New("the program liza-otel is not installed: go install github.com/git-liza/git-liza/cmd/liza-otel@latest")
		}
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), path, "--pid", fmt.Sprint(os.Getpid()), "-C", c.Directory())
	cmd.Env = c.App.Environ
	proc.OwnGroup(cmd) // an interrupt from the terminal is for this process
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	errs, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		for lines := bufio.NewScanner(errs); lines.Scan(); {
			warn("OpenTelemetry: " + strings.TrimPrefix(lines.Text(), exporter+": "))
		}
	}()
	_, _ = bufio.NewReader(out).ReadString('\n') // it follows the board from now on, or failed and printed why
	return func() {
		_ = in.Close()
		kill := time.AfterFunc(partingTime, func() { proc.EndGroup(cmd) })
		<-heard
		_ = cmd.Wait()
		kill.Stop()
	}, nil
}
