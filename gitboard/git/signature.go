package git

import (
	"strconv"
	"strings"
	"time"
)

// Signature is a person and a time. Git keeps whole seconds and the time zone.
type Signature struct {
	Name  string
	Email string
	When  time.Time
}

var unsigned = strings.NewReplacer("<", "", ">", "", "\n", "", "\x00", "")

// appendTo appends the signature as git writes it in a commit.
func (s Signature) appendTo(data []byte) []byte {
	data = append(append(data, unsigned.Replace(s.Name)...), " <"...)
	data = append(append(data, unsigned.Replace(s.Email)...), "> "...)
	data = strconv.AppendInt(data, max(s.When.Unix(), 0), 10)
	return s.When.AppendFormat(data, " -0700")
}

// ParseSignature parses a signature as git writes it in a commit: "Name <email> seconds zone". What
// it can't read is missing from the result.
func ParseSignature(line string) (s Signature) {
	open, end := strings.LastIndexByte(line, '<'), strings.LastIndexByte(line, '>')
	if open < 0 || end < open {
		return s
	}
	s.Name, s.Email = strings.Trim(line[:open], " "), line[open+1:end]
	seconds, zone, _ := strings.Cut(strings.TrimPrefix(line[end+1:], " "), " ")
	if unix, err := strconv.ParseInt(seconds, 10, 64); err == nil {
		s.When = time.Unix(unix, 0).In(parseZone(zone))
	}
	return s
}

// parseZone parses a time zone, such as "-0730". Without one it is UTC.
func parseZone(text string) *time.Location {
	if len(text) != len("+0000") || text[0] != '+' && text[0] != '-' {
		return time.UTC
	}
	n, err := strconv.ParseUint(text[1:], 10, 16)
	if err != nil {
		return time.UTC
	}
	offset := int(n/100*60+n%100) * 60
	if text[0] == '-' {
		offset = -offset
	}
	return time.FixedZone("", offset)
}
