// Package dispatch runs the command of a command line: it parses, calls, and prints errors. Help
// pages, man pages and completion come from the same table of commands. It knows no command by
// name; each command adds itself.
//
// It may import cmd/internal/call, cmd/internal/records, cmd/internal/signing, gitboard,
// gitboard/board, gitboard/roles, gitboard/sshsig, gitboard/text, roles/clis and specs.
package dispatch
