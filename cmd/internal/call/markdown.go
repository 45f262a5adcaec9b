package call

import (
	"io"
	"strings"

	"github.com/git-liza/git-liza/gitboard/plain"
)

// Markdown prints a rendered text; as JSON, under name.
func Markdown(c *Call, name, text string, err error) error {
	if err != nil {
		return err
	}
	if c.JSON {
		return c.PrintJSON(map[string]string{name: text})
	}
	if c.ToTerminal() {
		text = plain.Visible(text)
	}
	_, err = io.WriteString(c.App.Stdout, c.Legible(strings.TrimSuffix(text, "\n")+"\n"))
	return err
}
