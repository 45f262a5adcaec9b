package text

import (
	"strconv"
	"strings"
)

// Place writes a line of a file as FILE:LINE.
func Place(file string, line int) string { return file + ":" + strconv.Itoa(line) }

// ParsePlace reads what Place has written. A file's name may itself hold a colon.
func ParsePlace(text string) (file string, line int, ok bool) {
	at := strings.LastIndexByte(text, ':')
	if at < 1 {
		return "", 0, false
	}
	line, err := strconv.Atoi(text[at+1:])
	return text[:at], line, err == nil
}
