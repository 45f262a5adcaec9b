package tty

import "unicode/utf8"

// Key is a pressed key: a character, or one of the constants.
type Key rune

// The keys that are not characters.
const (
	Up Key = -1 - iota
	Down
	Right
	Left
	PageUp
	PageDown
	Home
	End
	Enter
	Escape
	Interrupt // Ctrl-C, Ctrl-D
	Stop      // Ctrl-Z
	Backspace
	Delete
	EraseWord  // Ctrl-W
	EraseLine  // Ctrl-U
	PasteBegin // the following keys were pasted,
	PasteEnd   // until here
)

var sequences = map[string]Key{
	"\x1b[A": Up, "\x1b[B": Down, "\x1b[C": Right, "\x1b[D": Left,
	"\x1bOA": Up, "\x1bOB": Down, "\x1bOC": Right, "\x1bOD": Left,
	"\x1b[5~": PageUp, "\x1b[6~": PageDown, "\x1b[H": Home, "\x1b[F": End, "\x1b[1~": Home, "\x1b[4~": End, "\x1bOH": Home, "\x1bOF": End,
	"\x1b[3~": Delete, "\x1b[200~": PasteBegin, "\x1b[201~": PasteEnd,
}

var controls = map[byte]Key{
	'\r': Enter, '\n': Enter, 1: Home, 3: Interrupt, 4: Interrupt, 5: End, 8: Backspace, 127: Backspace, 21: EraseLine, 23: EraseWord, 26: Stop,
}

// parse reads keys from a terminal's input. It leaves what may be an incomplete sequence; a lone
// escape is the key.
func parse(data []byte) (keys []Key, left []byte) {
	for len(data) > 0 {
		if data[0] == 0x1b {
			if len(data) == 1 {
				return append(keys, Escape), nil
			}
			n := sequence(data)
			if n == 0 {
				return keys, data
			}
			if k, ok := sequences[string(data[:n])]; ok {
				keys = append(keys, k)
			}
			data = data[n:]
			continue
		}
		if k, ok := controls[data[0]]; ok {
			keys, data = append(keys, k), data[1:]
			continue
		}
		if !utf8.FullRune(data) {
			return keys, data
		}
		r, n := utf8.DecodeRune(data)
		if r >= ' ' && r != utf8.RuneError {
			keys = append(keys, Key(r))
		}
		data = data[n:]
	}
	return keys, nil
}

// sequence is the length of the escape sequence that data begins with, 0 if it is incomplete.
func sequence(data []byte) int {
	switch data[1] {
	case 'O':
		if len(data) < 3 {
			return 0
		}
		return 3
	case '[':
		for i, b := range data[2:] {
			if b >= 0x40 && b <= 0x7e {
				return i + 3
			}
		}
		return 0
	}
	return 1 // the escape key, followed by others
}
