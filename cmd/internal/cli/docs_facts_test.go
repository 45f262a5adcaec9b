package cli

import (
	"cmp"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/alarm"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/testrun"
	"github.com/git-liza/git-liza/specs"
)

// TestTablesThatRepeatCode: tables that say more than code does name exactly what the code has.
func TestTablesThatRepeatCode(t *testing.T) {
	states := cells(t, "task-lifecycle", "states")
	names := column(states, 0)
	same(t, "states", names, texts(board.Statuses))
	for _, row := range states {
		if want := nextStates(board.Status(row[0])); row[2] != want {
			t.Errorf("task-lifecycle: after %s comes %q, the table of transitions says %q", row[0], row[2], want)
		}
	}
	same(t, "exit codes", column(cells(t, "exit-codes", "exit-codes"), 0), strings.Fields("0 1 2 3 4 5"))
	same(t, "states of agents", column(cells(t, "agents-guide", "agent-states"), 0), texts(board.AgentStatuses))
	same(t, "metrics", column(cells(t, "operators-guide", "metrics"), 0), codeEach(yamlKeys(reflect.TypeFor[report.Metrics]())))
	same(t, "decisions", column(cells(t, "operators-guide", "decisions"), 0), codeEach(board.Decisions))
	same(t, "wake-up triggers", column(cells(t, "agents-guide", "triggers"), 0), codeEach(texts(report.Triggers)))
	answers := strings.Join(column(cells(t, "operators-guide", "alarm-answers"), 0), "; ")
	for _, rule := range alarm.Rules {
		if line, _, _ := strings.Cut(rule.Steps[0].Line, ":"); !strings.Contains(answers, line) {
			t.Errorf("the operator's guide does not say what to do about the alarm %s", line)
		}
	}
	for role, name := range map[roles.Role]string{roles.Planner: "planner-logs", roles.Coder: "coder-logs", roles.CodeReviewer: "reviewer-logs"} {
		var types []string
		for _, a := range board.AnomalyTypes {
			if slices.Contains(a.Who, role) && a.Type != "system_ambiguity" {
				types = append(types, a.Type)
			}
		}
		var said []string
		for _, row := range cells(t, "agents-guide", name) {
			said = append(said, spans(row[1])...)
		}
		same(t, "anomalies of a "+string(role), said, types)
	}
}

// nextStates lists the states that a task can enter from another according to the table of
// transitions.
func nextStates(from board.Status) string {
	var next []string
	for _, to := range board.Statuses {
		if to != from && slices.ContainsFunc(board.Transitions(), func(r board.Transition) bool { return r.To == to && slices.Contains(r.From, from) }) {
			next = append(next, string(to))
		}
	}
	return strings.Join(next, ", ")
}

// TestFieldsAndEventsInBoardFormat: the document of the format describes every field of a record
// and every event of a history.
func TestFieldsAndEventsInBoardFormat(t *testing.T) {
	text, _ := specs.Text("board-format")
	words := map[string]bool{}
	for _, span := range spans(text) {
		for _, w := range regexp.MustCompile(`[a-z_]+`).FindAllString(span, -1) {
			words[w] = true
		}
	}
	for _, record := range []any{board.Task{}, board.Agent{}, board.Goal{}, board.Sprint{}, board.Control{}, board.Breaker{}, board.Discovery{},
		board.Handoff{}, board.Note{}, board.Anomaly{}, board.SpecChange{}, board.Checkpoint{}} {
		for _, key := range yamlKeys(reflect.TypeOf(record)) {
			if !words[key] {
				t.Errorf("board-format does not name the field %s of %T", key, record)
			}
		}
	}
	source := testrun.Must(os.ReadFile("../../../gitboard/board/task.go"))(t)
	events := regexp.MustCompile(`(?m)^\tEvent\w+ += "([a-z_]+)"$`).FindAllStringSubmatch(string(source), -1)
	if len(events) < 30 {
		t.Errorf("only %d events were found: the search is wrong", len(events))
	}
	for _, e := range events {
		if !words[e[1]] {
			t.Errorf("board-format does not name the event %s", e[1])
		}
	}
	var listed []string
	for _, row := range cells(t, "board-format", "task-fields") {
		listed = append(listed, spans(row[0])...)
	}
	keys := slices.Sorted(slices.Values(yamlKeys(reflect.TypeFor[board.Task]())))
	same(t, "fields of a task", listed, slices.Compact(keys)) // blockers and concerns have the same fields
}

// TestOlderScriptsAreAnswered: users of the older scripts find a replacement for each under its
// name.
func TestOlderScriptsAreAnswered(t *testing.T) {
	same(t, "scripts", column(cells(t, "tooling", "older-scripts"), 0), codeEach(strings.Fields(`liza-init.sh liza-lock.sh liza-validate.sh
		liza-add-task.sh liza-claim-task.sh liza-submit-for-review.sh liza-submit-verdict.sh liza-watch.sh liza-analyze.sh liza-checkpoint.sh
		liza-agent.sh wt-create.sh wt-merge.sh wt-delete.sh update-sprint-metrics.sh clear-stale-review-claims.sh release-claim.sh`)))
}

// TestDocumentsAreFoundAndLinked: the list of documents describes each in a line, and links between
// documents lead to a file and a section of it.
func TestDocumentsAreFoundAndLinked(t *testing.T) {
	link := regexp.MustCompile(`\]\((?:([a-z-]+)\.md)?(?:#([a-z0-9-]+))?\)`)
	named := regexp.MustCompile(`git liza docs ([a-z-]+)`)
	for _, d := range specs.All() {
		if d.About == "" || len(d.About) > 120 {
			t.Errorf("%s.md begins without a short sentence on its readers: %q", d.Name, d.About)
		}
		text, _ := specs.Text(d.Name)
		for _, m := range named.FindAllStringSubmatch(text, -1) {
			if _, ok := specs.Text(m[1]); !ok {
				t.Errorf("%s.md names the document %s, which does not exist", d.Name, m[1])
			}
		}
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			to := cmp.Or(m[1], d.In, d.Name)
			_, err := os.Stat("../../../specs/" + to + ".md")
			_, _, found := specs.Section(to, m[2])
			if err != nil || m[2] != "" && !found {
				t.Errorf("%s.md has the link %s, which leads to no section", d.Name, m[0])
			}
		}
	}
}

// same compares two lists as sets.
func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	got, want = slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))
	if !slices.Equal(got, want) {
		t.Errorf("%s: the documents have %q, the code has %q", what, got, want)
	}
}

// cells returns the rows of a document's table, without its head.
func cells(t *testing.T, document, name string) [][]string {
	t.Helper()
	text, _ := specs.Text(document)
	var rows [][]string
	for _, line := range strings.Split(strings.TrimSpace(section(t, text, name)), "\n")[2:] {
		parts := strings.Split(strings.Trim(strings.ReplaceAll(line, `\|`, "\x00"), "|"), "|")
		for i := range parts {
			parts[i] = strings.ReplaceAll(strings.TrimSpace(parts[i]), "\x00", "|")
		}
		rows = append(rows, parts)
	}
	return rows
}

func column(rows [][]string, i int) []string {
	var words []string
	for _, r := range rows {
		words = append(words, r[i])
	}
	return words
}

// spans returns the texts between backquotes.
func spans(text string) []string {
	var words []string
	for _, m := range regexp.MustCompile("`([^`\n]+)`").FindAllStringSubmatch(text, -1) {
		words = append(words, m[1])
	}
	return words
}

func texts[T ~string](words []T) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = string(w)
	}
	return out
}

func codeEach(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = code(w)
	}
	return out
}

// yamlKeys returns the keys of a record and of its parts, except the field that keeps unknown keys,
// and the events, which share their keys with each other.
func yamlKeys(typ reflect.Type) []string {
	var keys []string
	for i := range typ.NumField() {
		f := typ.Field(i)
		key, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if key == "extra" {
			continue
		}
		keys = append(keys, key)
		inner := f.Type
		for inner.Kind() == reflect.Pointer || inner.Kind() == reflect.Slice {
			inner = inner.Elem()
		}
		if inner.Kind() == reflect.Struct && inner != reflect.TypeFor[board.Event]() {
			keys = append(keys, yamlKeys(inner)...)
		}
	}
	return keys
}
