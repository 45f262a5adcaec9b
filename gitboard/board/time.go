package board

import (
	"fmt"
	"time"

	"gopkg.in/yaml.v3"
)

const timeLayout = "2006-01-02T15:04:05Z"

// Time is a time in UTC to the second, written YYYY-MM-DDTHH:MM:SSZ. The empty Time means "none".
// Times compare as strings do.
type Time string

// At converts a time, dropping fractions of a second.
func At(t time.Time) Time { return Time(t.UTC().Format(timeLayout)) }

// ParseTime parses the only form that a board contains.
func ParseTime(s string) (Time, error) {
	t, err := time.Parse(timeLayout, s)
	if err != nil || t.Format(timeLayout) != s {
		return "", fmt.Errorf("%q is not a time of the form 2026-01-31T14:05:00Z", s)
	}
	return Time(s), nil
}

// Std returns the time as a time.Time; its zero value for none.
func (t Time) Std() time.Time {
	std, _ := time.Parse(timeLayout, string(t))
	return std
}

// Add returns the time t+d.
func (t Time) Add(d time.Duration) Time { return At(t.Std().Add(d)) }

// Sub returns the duration t-u.
func (t Time) Sub(u Time) time.Duration { return t.Std().Sub(u.Std()) }

// Span formats a duration in one or two units: 45s, 12m, 3h05m, 4d.
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

// UnmarshalYAML accepts only the form of Time.
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

// ClockSlack is how far the clocks of machines may differ. A time further ahead is in the future
// for everybody. It is shorter than a lease (lease_duration), so that no clock within it takes a
// lease that was just renewed.
const ClockSlack = 2 * time.Minute
