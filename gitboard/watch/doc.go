// Package watch reports what needs a human as it happens, each alarm once: to the caller's screen, to
// the clone's alerts log, to the desktop and to the webhook of the board's configuration. It also does
// what alarms bring about: a board that is broken pauses the clone, a passed deadline and a pattern of
// the circuit breaker halt the board.
//
// It knows no command line: a Config says where it watches, as whom, and what shows its findings. One
// watch runs in a clone at a time.
//
// It may import gitboard, gitboard/alarm, gitboard/audit, gitboard/board, gitboard/git,
// gitboard/gitio, gitboard/notify, gitboard/oplog, gitboard/plain, gitboard/report,
// gitboard/report/breaker and gitboard/report/sprint.
package watch
