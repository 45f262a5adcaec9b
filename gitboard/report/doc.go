// Package report derives what humans and programs read from a board: the conditions for which
// work waits, the overview with an outlook on each task, the graph of dependencies, the metrics and
// review of a sprint, the planner's wake-ups, the parts of a submission. Its subpackages sprint and breaker write such reports as
// Markdown.
//
// It is pure: a state and a time go in, values come out. It contains no rules, and no operation
// depends on it.
//
// It may import gitboard/board, gitboard/roles and gitboard/text.
package report
