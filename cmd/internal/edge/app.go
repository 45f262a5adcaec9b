package edge

import (
	"io"
	"os"
	"time"
)

// App is the edge of the program: what a process has from outside. A test gives it other values.
type App struct {
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	Getenv func(string) string
	Dir    string // where commands run; "" is the working directory
	Now    func() time.Time
	Random io.Reader // nil: the system's
}

// OS is the edge of a real process.
func OS() *App {
	return &App{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, Now: time.Now}
}
