package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// Options are the settings of Run.
type Options struct {
	Dir    string    // the repository's directory; "" for a temporary one
	Out    io.Writer // gets the narration
	Colour bool
	Now    func() time.Time
}

// Result is the result of a run.
type Result struct {
	Dir        string  `json:"dir"`
	Operations int     `json:"operations"`
	Merged     int     `json:"tasks_merged"`
	Verified   bool    `json:"verified"`
	Output     string  `json:"output"` // what the finished program printed
	Seconds    float64 `json:"seconds"`
}

// StepError says at which step a run ended, and where its repository is.
type StepError struct {
	Step  int
	Title string
	Dir   string
	Err   error
}

func (e *StepError) Error() string { return fmt.Sprintf("step %d (%s): %v", e.Step, e.Title, e.Err) }

func (e *StepError) Unwrap() error { return e.Err }

var errInterrupted = errors.New("interrupted")

// Run plays the demo. Its errors are *DirError, *MissingError and *StepError; the repository is
// always kept.
func Run(ctx context.Context, o Options) (*Result, error) {
	began := o.Now()
	if err := programs(); err != nil {
		return nil, err
	}
	dir, err := place(o.Dir)
	if err != nil {
		return nil, err
	}
	s, err := newStory(ctx, dir, &narrator{out: o.Out, colour: o.Colour})
	if err != nil {
		return nil, err
	}
	defer s.dismiss()
	for i, step := range steps {
		s.say.step(i+1, step.title)
		if err := step.run(s); err != nil {
			if ctx.Err() != nil {
				err = errInterrupted
			}
			return nil, &StepError{i + 1, step.title, dir, err}
		}
	}
	s.result.Dir, s.result.Seconds = dir, o.Now().Sub(began).Round(10*time.Millisecond).Seconds()
	s.say.summary(s)
	return &s.result, nil
}
