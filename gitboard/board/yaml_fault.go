package board

import (
	"errors"
	"regexp"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"
)

// wrongType matches the library's message about a value that does not fit its field.
var wrongType = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("(?s)^(line \\d+: )cannot unmarshal !!(\\w+)(?: `(.*)`)? into (\\S+)$")
})

// YAMLFault is an error of the YAML library in the words of somebody who wrote the text: the value
// and the kind of value needed in its place. The library names types of Go.
func YAMLFault(err error) error {
	var wrong *yaml.TypeError
	if !errors.As(err, &wrong) {
		return err
	}
	var faults []string
	for _, text := range wrong.Errors {
		if m := wrongType().FindStringSubmatch(text); m != nil {
			text = m[1] + yamlValue(m[2], m[3]) + " is not " + needed(m[4], m[2])
		}
		faults = append(faults, text)
	}
	return errors.New(strings.Join(faults, "; "))
}

func yamlValue(tag, text string) string {
	switch tag {
	case "seq":
		return "a list"
	case "map":
		return "a mapping"
	}
	return quote(text)
}

// needed names the values that a field of a type takes, unlike a value with this tag. Every single
// value would do as a text, and every mapping as a mapping of fields.
func needed(typ, tag string) string {
	switch {
	case strings.HasPrefix(typ, "int"):
		return "a whole number"
	case typ == "bool":
		return "true or false"
	case strings.HasPrefix(typ, "[]"):
		return "a list"
	case typ == "string" || tag == "map":
		return "a text"
	case tag == "seq":
		return "what belongs here"
	}
	return "a mapping of fields"
}
