package receipt

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"unicode/utf16"
)

// canonical is JSON in the form of RFC 8785. Of numbers it takes whole ones.
func canonical(data []byte) ([]byte, error) {
	var v any
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err := write(&b, v)
	return b.Bytes(), err
}

func write(b *bytes.Buffer, v any) error {
	switch v := v.(type) {
	case string:
		quote(b, v)
	case json.Number:
		n, err := strconv.ParseInt(string(v), 10, 64)
		if most := int64(1) << 53; err != nil || n <= -most || n >= most {
			return fmt.Errorf("%s is no whole number below 2^53", v)
		}
		b.WriteString(strconv.FormatInt(n, 10))
	case []any:
		for i, e := range v {
			b.WriteByte("[,"[min(i, 1)])
			if err := write(b, e); err != nil {
				return err
			}
		}
		b.WriteString("[]"[min(len(v), 1):])
	case map[string]any:
		keys := slices.SortedFunc(maps.Keys(v), func(x, y string) int {
			return slices.Compare(utf16.Encode([]rune(x)), utf16.Encode([]rune(y)))
		})
		for i, key := range keys {
			b.WriteByte("{,"[min(i, 1)])
			quote(b, key)
			b.WriteByte(':')
			if err := write(b, v[key]); err != nil {
				return err
			}
		}
		b.WriteString("{}"[min(len(v), 1):])
	default: // true, false and null
		fmt.Fprint(b, map[any]string{true: "true", false: "false", nil: "null"}[v])
	}
	return nil
}

func quote(b *bytes.Buffer, s string) {
	b.WriteByte('"')
	for _, r := range s {
		switch at := bytes.IndexRune([]byte("\"\\\b\t\n\f\r"), r); {
		case at >= 0:
			b.WriteByte('\\')
			b.WriteByte(`"\btnfr`[at])
		case r < ' ':
			fmt.Fprintf(b, "\\u%04x", r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
}
