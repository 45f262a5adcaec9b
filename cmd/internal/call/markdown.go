package call

import (
	"io"
	"strings"

	"github.com/git-liza/git-liza/gitboard/text"
)

// Markdown prints a rendered text; as JSON, under name.
func Markdown(c *Call, name, line string, err error) error {
	if err != nil {
		return err
	}
	if c.JSON {
		return c.PrintJSON(map[string]string{name: line})
	}
	if c.App.ToTerminal() {
		line = text.Visible(line)
	}
	_, err = io.WriteString(c.App.Stdout, c.Legible(strings.TrimSuffix(line, "\n")+"\n"))
	return err
}
