// Package report derives what people and programs read from a board: the overview and its outlook on each task,
// the graph of dependencies, the figures and the review of a sprint, what wakes a planner, what a submission
// consists of. Below it, sprint and breaker write such reports as Markdown.
//
// It is pure: a state and a moment go in, values come out. No rule is here, and no operation depends on it.
//
// It may import gitboard/board, gitboard/plain and gitboard/roles.
package report
