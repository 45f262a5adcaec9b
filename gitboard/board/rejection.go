package board

import (
	"fmt"
	"strconv"
	"strings"
)

// Finding is one blocker or concern of a rejection.
type Finding struct {
	Where      string // file:line
	Issue      string
	Why        string
	Suggestion string
}

// Rejection is a reviewer's feedback in the required form.
type Rejection struct {
	Blockers    []Finding
	Concerns    []Finding
	Overall     string
	Spec        string   // a reference, or n/a
	Anomaly     string   // an id, or none
	PriorStatus []string // from iteration 2 on: RESOLVED, STILL PRESENT, PARTIAL lines
}

// Text returns the rejection in the form that ParseRejection parses.
func (r Rejection) Text() string {
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
	fmt.Fprintf(&b, "Overall: %s\nSpec: %s\nAnomaly: %s\n", oneLine(r.Overall), oneLine(r.Spec), oneLine(r.Anomaly))
	if len(r.PriorStatus) > 0 {
		b.WriteString("\nPrior Feedback Status:\n")
		for _, p := range r.PriorStatus {
			fmt.Fprintf(&b, "- %s\n", oneLine(p))
		}
	}
	return b.String()
}

// oneLine joins the lines of a text, so that none of them can be taken for a line of the form.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

var (
	countLine   = formOf(`^(Blockers|Concerns): *([0-9]{1,3})$`)
	findingLine = formOf(`^- \[(blocker|concern)\] (\S.*?:[0-9]+(?:-[0-9]+)?)\s+(?:\x{2014}|\x{2013}|--|-)\s+(\S.*)$`)
	taggedLine  = formOf(`^- \[(blocker|concern)\]`)
	fieldLine   = formOf(`^(Why it matters|Suggestion|Overall|Spec|Anomaly|Prior Feedback Status):\s*(.*)$`)
	priorLine   = formOf(`^- (RESOLVED|STILL PRESENT|PARTIAL)\b`)
)

// ParseRejection parses a rejection, and refuses one that isn't in the required form: counts that
// match, at least one blocker, each with file:line and a suggestion; Overall, Spec and Anomaly; and
// the status of the prior feedback, if there was a prior iteration. Line breaks and indentation
// don't matter.
func ParseRejection(text string, prior bool) (Rejection, error) {
	p := rejectionParser{counts: map[string]int{}}
	for n, line := range strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		if err := p.line(strings.TrimSpace(line)); err != nil {
			return Rejection{}, invalid("the rejection's line %d: %v", n+1, err).hint(rejectionHint)
		}
	}
	if err := p.complete(prior); err != nil {
		return Rejection{}, invalid("the rejection %v", err).hint(rejectionHint)
	}
	return p.r, nil
}

const rejectionHint = `give it as --blocker "file:line|issue|why|suggestion" --overall TEXT (from iteration 2 also --prior "STILL PRESENT: ..."), or see: git liza docs roles`

type rejectionParser struct {
	r       Rejection
	counts  map[string]int
	finding *Finding
	field   *string // the field that a line without a field name continues
	prior   bool
}

func (p *rejectionParser) line(line string) error {
	if line == "" {
		p.field = nil
		return nil
	}
	if m := countLine.FindStringSubmatch(line); m != nil {
		if _, twice := p.counts[m[1]]; twice {
			return fmt.Errorf("%s stands twice", m[1])
		}
		p.counts[m[1]], _ = strconv.Atoi(m[2])
		p.finding, p.field = nil, nil
		return nil
	}
	if m := findingLine.FindStringSubmatch(line); m != nil {
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
		return fmt.Errorf("a finding needs file:line and what is wrong there, like `- [blocker] api.go:12 - returns 500`")
	}
	if m := fieldLine.FindStringSubmatch(line); m != nil {
		return p.named(m[1], m[2])
	}
	if p.prior && strings.HasPrefix(line, "- ") {
		if !priorLine.MatchString(line) {
			return fmt.Errorf("prior feedback is RESOLVED, STILL PRESENT or PARTIAL")
		}
		p.r.PriorStatus = append(p.r.PriorStatus, strings.TrimPrefix(line, "- "))
		p.field = &p.r.PriorStatus[len(p.r.PriorStatus)-1]
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
		return fmt.Errorf("%s stands twice", name)
	}
	*field, p.field = value, field
	return nil
}

func (p *rejectionParser) complete(prior bool) error {
	for _, c := range []struct {
		name string
		n    int
	}{{"Blockers", len(p.r.Blockers)}, {"Concerns", len(p.r.Concerns)}} {
		said, ok := p.counts[c.name]
		if !ok {
			return fmt.Errorf("has no line `%s: N`", c.name)
		}
		if said != c.n {
			return fmt.Errorf("says `%s: %d` and lists %d", c.name, said, c.n)
		}
	}
	if len(p.r.Blockers) == 0 {
		return fmt.Errorf("has no blocker: without one the work is approved")
	}
	for _, f := range p.r.Blockers {
		if f.Why == "" {
			return fmt.Errorf("says of %s no `Why it matters: ...`", f.Where)
		}
		if f.Suggestion == "" {
			return fmt.Errorf("says of %s no `Suggestion: ...`", f.Where)
		}
	}
	for _, f := range []struct{ name, value string }{{"Overall", p.r.Overall}, {"Spec", p.r.Spec}, {"Anomaly", p.r.Anomaly}} {
		if strings.TrimSpace(f.value) == "" {
			return fmt.Errorf("has no line `%s: ...`", f.name)
		}
	}
	if prior && len(p.r.PriorStatus) == 0 {
		return fmt.Errorf("has no `Prior Feedback Status:` though this is not the first iteration")
	}
	return nil
}
