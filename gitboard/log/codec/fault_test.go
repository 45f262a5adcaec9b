package codec

import "testing"

// TestAFaultNamesTheValueAndWhatIsNeeded: an error about a value of the wrong type says so in plain
// words, for the human who typed it in an editor.
func TestAFaultNamesTheValueAndWhatIsNeeded(t *testing.T) {
	for _, c := range []struct{ path, text, want string }{
		{"tasks/x.yaml", "id: x\npriority: high\n", `tasks/x.yaml: line 2: "high" is not a whole number`},
		{"tasks/x.yaml", "id: x\npriority: 2.5\n", `tasks/x.yaml: line 2: "2.5" is not a whole number`},
		{"tasks/x.yaml", "id: x\nscope: [a, b]\n", `tasks/x.yaml: line 2: a list is not a text`},
		{"tasks/x.yaml", "id: x\nscope: {a: b}\n", `tasks/x.yaml: line 2: a mapping is not a text`},
		{"tasks/x.yaml", "id: x\ndepends_on: y\n", `tasks/x.yaml: line 2: "y" is not a list`},
		{"tasks/x.yaml", "id: x\nhandoff_pending: maybe\n", `tasks/x.yaml: line 2: "maybe" is not true or false`},
		{"tasks/x.yaml", "id: x\nrejection_reason: bad\n", `tasks/x.yaml: line 2: "bad" is not a mapping of fields`},
		{"tasks/x.yaml", "priority: a\niteration: b\n", `tasks/x.yaml: line 1: "a" is not a whole number; line 2: "b" is not a whole number`},
	} {
		if _, err := Decode(c.path, []byte(c.text)); err == nil || err.Error() != c.want {
			t.Errorf("%q: %v", c.text, err)
		}
	}
}
