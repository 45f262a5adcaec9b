package board

import (
	"fmt"
	"time"

	"gopkg.in/yaml.v3"
)

const timeLayout = "2006-01-02T15:04:05Z"

// Time is a moment in UTC to the second, written YYYY-MM-DDTHH:MM:SSZ. The empty Time is "none".
// Times compare as strings do.
type Time string

// At converts a clock reading, dropping what is finer than a second.
func At(t time.Time) Time { return Time(t.UTC().Format(timeLayout)) }

// ParseTime reads the one form that a board holds.
func ParseTime(s string) (Time, error) {
	t, err := time.Parse(timeLayout, s)
	if err != nil || t.Format(timeLayout) != s {
		return "", fmt.Errorf("%q is not a time of the form 2026-01-31T14:05:00Z", s)
	}
	return Time(s), nil
}

// Std is the moment as the standard library has it; the zero time for none.
func (t Time) Std() time.Time {
	std, _ := time.Parse(timeLayout, string(t))
	return std
}

// Add shifts a time.
func (t Time) Add(d time.Duration) Time { return At(t.Std().Add(d)) }

// Sub is the distance from u to t.
func (t Time) Sub(u Time) time.Duration { return t.Std().Sub(u.Std()) }

// Span says a duration in one unit or two: 45s, 12m, 3h05m, 4d.
func Span(d time.Duration) string {
	switch {
	case d < 0:
		return "0s"
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}

// IsZero reports whether there is no time.
func (t Time) IsZero() bool { return t == "" }

// MarshalYAML writes a time without quotes.
func (t Time) MarshalYAML() (any, error) {
	if t == "" {
		return nil, nil
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!timestamp", Value: string(t)}, nil
}

// UnmarshalYAML takes the one form only.
func (t *Time) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind != yaml.ScalarNode {
		return fmt.Errorf("line %d: a time is needed", n.Line)
	}
	parsed, err := ParseTime(n.Value)
	if err != nil {
		return fmt.Errorf("line %d: %w", n.Line, err)
	}
	*t = parsed
	return nil
}

// ClockSlack is how far the clocks of machines may be apart. A time further ahead than that is nobody's present.
// It is shorter than a lease (lease_duration), so that no clock within it takes a lease that was just renewed.
const ClockSlack = 2 * time.Minute
