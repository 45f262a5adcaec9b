// Package rig runs teams of real coding-agent CLIs against a fake model, for tests.
//
// It owns the fake model (Model), which speaks the CLIs' streaming APIs on the loopback interface
// and answers with the tool calls of a Script; the installation of the CLIs in a cache outside the
// repository (Install); and the scratch place in which a team runs (Place), with an unprivileged
// user, its own home directory and an environment built from scratch. It promises that no request
// leaves the machine: keys are fake, and a CLI's requests to other hosts are refused and recorded
// (Model.Leaks).
//
// It may import nothing of ours.
package rig
