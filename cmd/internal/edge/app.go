package edge

import (
	"io"
	"os"
	"time"
)

// App is what a process gets from outside. A test gives it other values.
type App struct {
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	Getenv func(string) string
	Dir    string // where commands run; "" for the working directory
	Now    func() time.Time
	Random io.Reader // nil for the system's
}

// OS is the App of a real process.
func OS() *App {
	return &App{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, Now: time.Now}
}
