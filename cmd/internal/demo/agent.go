package demo

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
)

// agent is the process that plays an agent, as seen by the story.
type agent struct {
	id     string
	cmd    *exec.Cmd
	orders io.WriteCloser
	answer *json.Decoder
	stderr bytes.Buffer
}

// start starts the process of an agent.
func (s *story) start(id string) error {
	a := &agent{id: id, cmd: s.human.command(s.ctx, []string{"git", "liza", "demo", "--play", id})}
	a.cmd.Stderr = &a.stderr
	orders, err := a.cmd.StdinPipe()
	if err != nil {
		return err
	}
	answers, err := a.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := a.cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", id, err)
	}
	a.orders, a.answer = orders, json.NewDecoder(answers)
	s.agents[id] = a
	return nil
}

// do gives an agent an order, waits for the answer and narrates it.
func (s *story) do(id string, o Order) (*Answer, error) {
	a := s.agents[id]
	var answer Answer
	err := json.NewEncoder(a.orders).Encode(o)
	if err == nil {
		err = a.answer.Decode(&answer)
	}
	if err != nil {
		return nil, fmt.Errorf("%s (%s): %w\n%s", id, o.Do, err, a.stderr.String())
	}
	s.say.ran(id, answer.Ran)
	if answer.Error != "" {
		return nil, fmt.Errorf("%s (%s): %s", id, o.Do, answer.Error)
	}
	return &answer, nil
}

// ended waits for an agent's process to end, and checks its exit code.
func (s *story) ended(id string, exit int) error {
	a := s.agents[id]
	delete(s.agents, id)
	a.orders.Close()
	if err := a.cmd.Wait(); a.cmd.ProcessState == nil || a.cmd.ProcessState.ExitCode() != exit {
		return fmt.Errorf("the process of %s did not end with %d: %v\n%s", id, exit, err, a.stderr.String())
	}
	return nil
}

// dismiss ends the remaining agents: they leave when no more orders come.
func (s *story) dismiss() {
	for _, a := range s.agents {
		a.orders.Close()
	}
	for _, a := range s.agents {
		_ = a.cmd.Wait()
	}
}

// together runs functions concurrently.
func together(all ...func() error) error {
	errs := make(chan error)
	for _, f := range all {
		go func() { errs <- f() }()
	}
	var failed error
	for range all {
		failed = errors.Join(failed, <-errs)
	}
	return failed
}
