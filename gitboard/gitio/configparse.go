package gitio

import "strings"

// fileSetting is a setting of a config file: `[section "subsection"] key = value`. The section's
// and the key's names are in lower case.
type fileSetting struct{ section, subsection, key, value string }

// parseConfigFile parses a config file as git does. It returns false for a file that git refuses,
// and for what no program writes: `[section.subsection]`, a key above the first header, and a
// backslash at the end.
func parseConfigFile(text string) (all []fileSetting, ok bool) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	var s fileSetting
	for {
		text = strings.TrimLeft(text, " \t\r\n")
		switch {
		case text == "":
			return all, true
		case isComment(text[0]):
			_, text, _ = strings.Cut(text, "\n")
			continue
		case text[0] == '[':
			s.section, s.subsection, text, ok = cutConfigHeader(text[1:])
		default:
			s.key, s.value, text, ok = cutConfigSetting(text)
			all = append(all, s)
		}
		if !ok || s.section == "" {
			return nil, false
		}
	}
}

func isComment(c byte) bool { return c == '#' || c == ';' }

// cutConfigName splits a text after the name of a section or a key that it begins with.
func cutConfigName(text string) (name, rest string) {
	rest = strings.TrimLeft(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-")
	return strings.ToLower(text[:len(text)-len(rest)]), rest
}

// cutConfigHeader reads what follows the bracket that opens a header.
func cutConfigHeader(text string) (section, subsection, rest string, ok bool) {
	section, text = cutConfigName(text)
	if rest, ok = strings.CutPrefix(text, "]"); ok {
		return section, "", rest, true
	}
	quoted, ok := strings.CutPrefix(strings.TrimLeft(text, " \t"), `"`)
	for i := 0; ok && i < len(quoted) && quoted[i] != '\n'; i++ {
		switch {
		case quoted[i] == '"':
			rest, ok = strings.CutPrefix(quoted[i+1:], "]")
			return section, subsection, rest, ok
		case quoted[i] == '\\' && i+1 < len(quoted) && quoted[i+1] != '\n':
			i++
		}
		subsection += quoted[i : i+1]
	}
	return "", "", "", false
}

// cutConfigSetting reads a key and its value. A key without a value is true.
func cutConfigSetting(text string) (key, value, rest string, ok bool) {
	if key, text = cutConfigName(text); key == "" || key[0] < 'a' {
		return "", "", "", false
	}
	text = strings.TrimLeft(text, " \t")
	if text == "" || text[0] == '\n' {
		return key, "true", text, true
	}
	if text, ok = strings.CutPrefix(text, "="); !ok {
		return "", "", "", false
	}
	value, rest, ok = cutConfigValue(text)
	return key, value, rest, ok
}

// cutConfigValue reads what follows the sign of equality, up to the line's end.
func cutConfigValue(text string) (value, rest string, ok bool) {
	var b strings.Builder
	quoted, spaces := false, 0
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\n':
			return b.String(), text[i+1:], !quoted
		case !quoted && isComment(c):
			_, rest, _ = strings.Cut(text[i:], "\n")
			return b.String(), rest, true
		case !quoted && strings.IndexByte(" \t\r", c) >= 0:
			spaces++
			continue
		}
		if b.Len() > 0 {
			b.WriteString(strings.Repeat(" ", spaces))
		}
		spaces = 0
		switch {
		case c == '"':
			quoted = !quoted
		case c == '\\':
			escaped, known := "", false
			if i++; i < len(text) {
				escaped, known = unescapeConfig(text[i])
			}
			if !known {
				return "", "", false
			}
			b.WriteString(escaped)
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), "", !quoted
}

// unescapeConfig returns what a character of a value stands for that follows a backslash.
func unescapeConfig(c byte) (text string, known bool) {
	switch c {
	case 'n':
		return "\n", true
	case 't':
		return "\t", true
	case 'b':
		return "\b", true
	case '\\', '"':
		return string(c), true
	case '\n':
		return "", true // the value continues on the next line
	}
	return "", false
}
