// Package otel sends what happens on a board to an OpenTelemetry collector: spans for the goal, its
// tasks, agents' runs and their operations, and counters of tokens.
//
// It owns the shape of these spans, their encoding (OTLP over HTTP, as JSON) and the connection. It
// promises that nothing waits for the collector: what it does not take in time is dropped, and
// reported once. Identifiers are derived from the board, so sending the same thing again sends the
// same span. Texts of the board (descriptions, reasons, notes) are not sent. Without an endpoint
// the package does nothing.
//
// It may import gitboard, gitboard/board, gitboard/git and gitboard/roles.
package otel
