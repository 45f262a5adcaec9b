// Command liza-otel sends what happens on a board to an OpenTelemetry collector: spans for the goal,
// its tasks, agents' runs and their operations, and counters of tokens. Supervisors start it where
// OTEL_EXPORTER_OTLP_ENDPOINT names a collector, and it ends with its input.
//
// It owns the shape of these spans. Identifiers are derived from the board, so sending the same
// operation again sends the same span. Texts of the board (descriptions, reasons, notes) are not
// sent. It is a program of its own because the libraries of OpenTelemetry cost every start of a
// program that links them.
//
// It may import gitboard, gitboard/board, gitboard/git/plumbing and gitboard/roles.
package main
