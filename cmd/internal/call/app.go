package call

import (
	"context"
	"io"
	"os"
	"time"

	"github.com/git-liza/git-liza/gitboard/git/gitenv"
)

// App is a process's input from outside. A test gives it other values.
type App struct {
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	Getenv func(string) string
	// Environ is the environment of git and of the project's commands; nil for that of this process.
	Environ []string
	Program string // this program's file, which hooks call; "" for the file of this process
	Dir     string // where commands run; "" for the working directory
	Now     func() time.Time
	Random  io.Reader // nil for the system's
}

// Context is ctx with the App's environment.
func (a *App) Context(ctx context.Context) context.Context {
	if a.Environ == nil {
		return ctx
	}
	return gitenv.With(ctx, a.Environ)
}

// Executable is the file of this program.
func (a *App) Executable() (string, error) {
	if a.Program != "" {
		return a.Program, nil
	}
	return os.Executable()
}

// OS is the App of a real process.
func OS() *App {
	return &App{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, Now: time.Now}
}
