package text

import "strings"

// maxLine is how many bytes of a line without an end LineWriter keeps.
const maxLine = 64 << 10

// LineWriter passes on its input by whole lines with their line ends, since others
// write to the same place. A line of more than 64 KiB is passed on in parts. It never fails.
type LineWriter struct {
	To   func(line string)
	rest string
}

func (w *LineWriter) Write(p []byte) (int, error) {
	lines := strings.SplitAfter(w.rest+string(p), "\n")
	w.rest = lines[len(lines)-1]
	for _, line := range lines[:len(lines)-1] {
		w.To(line)
	}
	if len(w.rest) > maxLine {
		_ = w.Close()
	}
	return len(p), nil
}

// Close passes on a last line without a line end.
func (w *LineWriter) Close() error {
	if w.rest != "" {
		w.To(w.rest)
		w.rest = ""
	}
	return nil
}
