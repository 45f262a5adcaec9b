package board

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Finding is one blocker or concern of a rejection.
type Finding struct {
	Where      string `yaml:"where" json:"where"` // file:line; of a blocker also "file:line (missing)"
	Issue      string `yaml:"issue" json:"issue"`
	Why        string `yaml:"why,omitempty" json:"why,omitempty"`
	Suggestion string `yaml:"suggestion,omitempty" json:"suggestion,omitempty"`
}

// Rejection is a reviewer's feedback. Together with comments on lines it may be an assessment
// alone.
type Rejection struct {
	Blockers []Finding `yaml:"blockers,omitempty" json:"blockers,omitempty"`
	Concerns []Finding `yaml:"concerns,omitempty" json:"concerns,omitempty"`
	Overall  string    `yaml:"overall,omitempty" json:"overall,omitempty"`
	Spec     string    `yaml:"spec,omitempty" json:"spec,omitempty"`       // the part of the spec that it is about, or noSpec
	Anomaly  string    `yaml:"anomaly,omitempty" json:"anomaly,omitempty"` // the id of a logged one, or noAnomaly
	// Prior has the state of earlier findings, from the second rejection on: RESOLVED, STILL PRESENT or
	// PARTIAL, with details.
	Prior []string `yaml:"prior,omitempty" json:"prior,omitempty"`
}

// Flag returns the finding as the value of a flag that ParseFinding parses.
func (f Finding) Flag() string {
	parts := []string{f.Where, f.Issue, f.Why, f.Suggestion}
	for i := range parts[:3] {
		parts[i] = strings.ReplaceAll(parts[i], "|", "/")
	}
	return strings.Join(parts, "|")
}

// ParseFinding parses "file:line|issue|why|suggestion", of which the last two may be missing.
func ParseFinding(flag string) Finding {
	parts := strings.SplitN(flag, "|", 4)
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	parts = append(parts, "", "", "")
	return Finding{Where: parts[0], Issue: parts[1], Why: parts[2], Suggestion: parts[3]}
}

// Text returns the rejection in the form that ParseRejection parses, "" for none.
func (r *Rejection) Text() string {
	if r == nil {
		return ""
	}
	if len(r.Blockers)+len(r.Concerns)+len(r.Prior) == 0 && r.Spec+r.Anomaly == "" {
		return r.Overall
	}
	var b strings.Builder
	findings := func(title, tag string, fs []Finding) {
		fmt.Fprintf(&b, "%s: %d\n", title, len(fs))
		for _, f := range fs {
			fmt.Fprintf(&b, "- [%s] %s \u2014 %s\n", tag, oneLine(f.Where), oneLine(f.Issue))
			if f.Why != "" {
				fmt.Fprintf(&b, "  Why it matters: %s\n", oneLine(f.Why))
			}
			if f.Suggestion != "" {
				fmt.Fprintf(&b, "  Suggestion: %s\n", oneLine(f.Suggestion))
			}
		}
		b.WriteByte('\n')
	}
	findings("Blockers", "blocker", r.Blockers)
	findings("Concerns", "concern", r.Concerns)
	for _, l := range [][2]string{{"Overall", r.Overall}, {"Spec", r.Spec}, {"Anomaly", r.Anomaly}} {
		if value := oneLine(l[1]); value != "" {
			fmt.Fprintf(&b, "%s: %s\n", l[0], value)
		}
	}
	if len(r.Prior) > 0 {
		b.WriteString("\nPrior Feedback Status:\n")
		for _, p := range r.Prior {
			fmt.Fprintf(&b, "- %s\n", oneLine(p))
		}
	}
	return b.String()
}

// Prose returns the rejection for a human to read: the assessment, then a line for each finding, ""
// for none.
func (r *Rejection) Prose() string {
	if r == nil {
		return ""
	}
	var lines []string
	add := func(name, text string) {
		if text = oneLine(text); text != "" {
			lines = append(lines, name+text)
		}
	}
	findings := func(name string, fs []Finding) {
		for _, f := range fs {
			add(name, f.Where+": "+f.Issue)
			add("  why it matters: ", f.Why)
			add("  suggestion: ", f.Suggestion)
		}
	}
	add("", r.Overall)
	findings("", r.Blockers)
	findings("minor: ", r.Concerns)
	for _, p := range r.Prior {
		add("earlier: ", p)
	}
	if r.Spec != noSpec {
		add("spec: ", r.Spec)
	}
	if r.Anomaly != noAnomaly {
		add("anomaly: ", r.Anomaly)
	}
	return strings.Join(lines, "\n")
}

// Brief returns what the rejection asks for, without the form, "" for none.
func (r *Rejection) Brief() string {
	if r == nil {
		return ""
	}
	var parts []string
	for _, b := range r.Blockers {
		parts = append(parts, strings.TrimSuffix(b.Where+" "+b.Issue+": "+b.Suggestion, ": "))
	}
	if r.Overall != "" {
		parts = append(parts, r.Overall)
	}
	return strings.Join(parts, "; ")
}

// What a reviewer writes who names no part of the spec, or no anomaly; and what follows the place of
// a blocker if the submission lacks it.
const (
	noSpec    = "n/a"
	noAnomaly = "none"
	isMissing = " (missing)"
)

// place splits the place of a finding into file:line and whether the submission is claimed to lack it.
func (f Finding) place() (place string, missing bool) { return strings.CutSuffix(f.Where, isMissing) }

// Lacking lists the places of blockers that a submission lacks. lines counts the lines of one of its
// files, or of a file that it deletes; it returns -1 for any other.
func (r *Rejection) Lacking(lines func(file string) int) []string {
	var lacking []string
	for _, f := range r.Blockers {
		place, _ := f.place()
		at := strings.LastIndexByte(place, ':')
		first, last, several := strings.Cut(place[at+1:], "-")
		if !several {
			last = first
		}
		n, err := strconv.Atoi(last)
		if file := place[:max(at, 0)]; err != nil || n < 1 || !IsFilePath(file) || n > lines(file) {
			lacking = append(lacking, place)
		}
	}
	return lacking
}

// oneLine joins the lines of a text, so that they can't be taken for lines of the form.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

var (
	countLine   = formOf(`^(Blockers|Concerns): *([0-9]{1,3})$`)
	findingLine = formOf(`^- \[(blocker|concern)\] (\S.*?:[0-9]+(?:-[0-9]+)?(?: \(missing\))?)\s+(?:\x{2014}|\x{2013}|--|-)\s+(\S.*)$`)
	taggedLine  = formOf(`^- \[(blocker|concern)\]`)
	fieldLine   = formOf(`^(Why it matters|Suggestion|Overall|Spec|Anomaly|Prior Feedback Status):\s*(.*)$`)
	priorForm   = formOf(`^(RESOLVED|STILL PRESENT|PARTIAL)\b`)
	placeForm   = formOf(`^\S.*?:[0-9]+(-[0-9]+)?( \(missing\))?$`)
)

// ParseRejection parses a rejection. It refuses one in a form that is not the required one; a text
// in no form is an assessment. Line breaks and indentation don't matter.
func ParseRejection(text string) (Rejection, error) {
	p := rejectionParser{counts: map[string]int{}}
	for n, line := range strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		if err := p.line(strings.TrimSpace(line)); err != nil {
			return Rejection{}, invalid("the rejection's line %d: %v", n+1, err).formed()
		}
	}
	if !p.formed {
		return Rejection{Overall: strings.TrimSpace(text)}, nil
	}
	if err := p.counted(); err != nil {
		return Rejection{}, invalid("the rejection %v", err).formed()
	}
	return p.r, nil
}

// checkRejection refuses an incomplete rejection. It needs at least one blocker, or else comments
// on lines; an assessment; each blocker with file:line, why it matters and a suggestion; and the
// status of earlier findings, if there are any.
func checkRejection(s *State, t *Task, r *Rejection) error {
	if r == nil {
		r = &Rejection{}
	}
	incomplete := func(format string, args ...any) error {
		return invalid("the rejection "+format, args...).formed()
	}
	commented := len(t.OpenComments()) > 0
	switch {
	case len(r.Blockers) == 0 && !commented:
		return incomplete("has no blocker: without one the work is approved")
	case strings.TrimSpace(r.Overall) == "":
		return incomplete("has no assessment (`Overall: ...`)")
	case len(r.Prior) == 0 && t.HasPriorFeedback() && !commented:
		return incomplete("has no `Prior Feedback Status:` though the task was rejected before")
	case len(r.Blockers) > 0 && oneLine(r.Spec) == "":
		return incomplete("names no part of the spec (`Spec: REF`, or %s)", noSpec)
	case len(r.Blockers) > 0 && oneLine(r.Anomaly) == "":
		return incomplete("names no anomaly (`Anomaly: ID`, or %s)", noAnomaly)
	}
	for _, f := range slices.Concat(r.Blockers, r.Concerns) {
		if !placeForm.MatchString(f.Where) || oneLine(f.Issue) == "" {
			return incomplete("has a finding at %s: each needs file:line and the fault at that line", quote(f.Where))
		}
	}
	for _, f := range r.Blockers {
		if oneLine(f.Why) == "" {
			return incomplete("does not explain why %s matters (`Why it matters: ...`)", f.Where)
		}
		if oneLine(f.Suggestion) == "" {
			return incomplete("suggests nothing for %s (`Suggestion: ...`)", f.Where)
		}
	}
	for _, p := range r.Prior {
		if !priorForm.MatchString(p) {
			return incomplete("says %s of prior feedback: RESOLVED, STILL PRESENT or PARTIAL is needed", quote(p))
		}
	}
	if r.Anomaly == "" || r.Anomaly == noAnomaly || s.Anomaly(r.Anomaly) != nil {
		return nil
	}
	return invalid("the rejection names %s, and there is no such anomaly", quote(r.Anomaly)).
		Advise("log it first (%s), or write: Anomaly: none", ActOn("anomaly").With("type", "TYPE", "task", t.ID, "details", "KEY=VALUE"))
}

// formed adds the form of a rejection.
func (r *Refusal) formed() *Refusal {
	form := ActOn("").With("blocker", "file:line|issue|why|suggestion", "overall", exampleText, "spec", "REF|n/a", "anomaly", "ID|none")
	return r.Advise("give it as %s (from the second rejection on also %s), or see: %s", form, ActOn("").With("prior", "STILL PRESENT: ..."), ActOn("docs", "roles"))
}

type rejectionParser struct {
	r       Rejection
	counts  map[string]int
	finding *Finding
	field   *string // the field that a line without a field name continues
	prior   bool
	formed  bool // it has a line of the form
}

func (p *rejectionParser) line(line string) error {
	if line == "" {
		p.field = nil
		return nil
	}
	if m := countLine.FindStringSubmatch(line); m != nil {
		if _, twice := p.counts[m[1]]; twice {
			return fmt.Errorf("%s appears twice", m[1])
		}
		p.formed = true
		p.counts[m[1]], _ = strconv.Atoi(m[2])
		p.finding, p.field = nil, nil
		return nil
	}
	if m := findingLine.FindStringSubmatch(line); m != nil {
		p.formed = true
		fs := &p.r.Blockers
		if m[1] == "concern" {
			fs = &p.r.Concerns
		}
		*fs = append(*fs, Finding{Where: m[2], Issue: m[3]})
		p.finding = &(*fs)[len(*fs)-1]
		p.field = &p.finding.Issue
		return nil
	}
	if taggedLine.MatchString(line) {
		return fmt.Errorf("a finding needs file:line and the fault at that line, like `- [blocker] api.go:12 - returns 500`")
	}
	if m := fieldLine.FindStringSubmatch(line); m != nil {
		return p.named(m[1], m[2])
	}
	if p.prior && strings.HasPrefix(line, "- ") {
		p.r.Prior = append(p.r.Prior, strings.TrimPrefix(line, "- "))
		p.field = &p.r.Prior[len(p.r.Prior)-1]
		return nil
	}
	if p.field != nil {
		*p.field = strings.TrimSpace(*p.field + " " + line)
	}
	return nil
}

func (p *rejectionParser) named(name, value string) error {
	field := map[string]*string{"Overall": &p.r.Overall, "Spec": &p.r.Spec, "Anomaly": &p.r.Anomaly}[name]
	switch name {
	case "Prior Feedback Status":
		p.prior, p.field = true, nil
		return nil
	case "Why it matters", "Suggestion":
		if p.finding == nil {
			return fmt.Errorf("%s belongs to a finding", name)
		}
		field = &p.finding.Why
		if name == "Suggestion" {
			field = &p.finding.Suggestion
		}
	}
	if *field != "" {
		return fmt.Errorf("%s appears twice", name)
	}
	*field, p.field = value, field
	return nil
}

// counted checks the counts of findings.
func (p *rejectionParser) counted() error {
	for _, c := range []struct {
		name string
		n    int
	}{{"Blockers", len(p.r.Blockers)}, {"Concerns", len(p.r.Concerns)}} {
		said, ok := p.counts[c.name]
		if !ok {
			return fmt.Errorf("has no line `%s: N`", c.name)
		}
		if said != c.n {
			return fmt.Errorf("has `%s: %d` and lists %d", c.name, said, c.n)
		}
	}
	return nil
}
