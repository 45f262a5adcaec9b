package child

import "strings"

// Lines splits output in which each line ends with a line feed.
func Lines(out []byte) []string { return splitBy(out, "\n") }

// Fields splits the output of children that were run with -z.
func Fields(out []byte) []string { return splitBy(out, "\x00") }

func splitBy(out []byte, end string) []string {
	text := strings.TrimSuffix(string(out), end)
	if text == "" {
		return nil
	}
	return strings.Split(text, end)
}
