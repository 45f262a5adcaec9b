// Package rig runs teams of real coding-agent CLIs against a fake model, for tests.
//
// It owns the fake model (Model), which speaks the streaming APIs of the CLIs on the loopback interface and answers
// with the tool calls of a Script, the installation of the CLIs in a cache outside the repository (Install), and the
// scratch place in which a team runs: an unprivileged user, a home folder of its own, an environment made from
// nothing (Place). It promises that no request leaves the machine: keys are fakes, and whatever a CLI asks of another
// host is refused and recorded (Model.Leaks).
//
// It may import nothing of ours.
package rig
