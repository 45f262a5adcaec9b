// Package watch reports what needs a human as it happens, each alarm once: on the caller's screen,
// in the clone's alerts log, on the desktop and to the webhook in the board's configuration. It
// also carries out the consequences of alarms: a broken board pauses the clone; a passed deadline
// or a pattern of the circuit breaker halts the board.
//
// It does not depend on a command line: a Config sets the repository, the actor, and the display of
// the findings. Only one watch runs in a clone at a time.
//
// It may import gitboard, gitboard/alarm, gitboard/audit, gitboard/board, gitboard/cmdline,
// gitboard/git, gitboard/git/plumbing, gitboard/log, gitboard/notify, gitboard/queue,
// gitboard/report, gitboard/report/breaker, gitboard/report/sprint and gitboard/text.
package watch
