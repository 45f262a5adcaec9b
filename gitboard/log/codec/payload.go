package codec

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/git-liza/git-liza/gitboard/board"
)

// MaxInline is the maximum size in bytes of a payload in the commit message. A longer one is stored
// as the file PayloadFile in the commit's tree, which the next operation removes.
const (
	MaxInline   = 4096
	PayloadFile = "payload.json"
)

// envelope is a payload as it is stored. V is the board's format.
type envelope struct {
	V           int             `json:"v"`
	Session     string          `json:"session,omitempty"`
	AllowSecret bool            `json:"allow_secret,omitempty"`
	Read        []string        `json:"read,omitempty"`
	File        string          `json:"file,omitempty"`
	Data        json.RawMessage `json:"data,omitempty"`
}

// EncodePayload encodes an operation's payload as one line of canonical JSON.
func EncodePayload(op board.Operation) (string, error) {
	data, err := canonical(op.Payload)
	if err != nil {
		return "", err
	}
	return canonical(envelope{V: board.Format, Session: op.Actor.Session, AllowSecret: op.AllowSecret, Read: op.Read, Data: json.RawMessage(data)})
}

// PayloadReference returns what the message carries instead of a payload that is too long for it.
func PayloadReference() string {
	text, _ := canonical(envelope{V: board.Format, File: PayloadFile})
	return text
}

// DecodePayload decodes only the output of EncodePayload: the bytes must be canonical.
func DecodePayload(name, text string) (op board.Operation, err error) {
	fail := func(err error) (board.Operation, error) {
		return board.Operation{}, fmt.Errorf("the payload of %s: %w", name, err)
	}
	var e envelope
	if err := strictJSON(text, &e); err != nil || e.V != board.Format {
		if newer(text) {
			return fail(ErrNewer)
		}
		if err != nil {
			return fail(err)
		}
		return fail(fmt.Errorf("version %d is not %d", e.V, board.Format))
	}
	op = board.Operation{Actor: board.Actor{Session: e.Session}, AllowSecret: e.AllowSecret, Read: e.Read}
	if op.Payload, err = board.NewPayload(name); err != nil {
		return fail(err)
	}
	if err := strictJSON(string(e.Data), op.Payload); err != nil {
		return fail(err)
	}
	again, err := EncodePayload(op)
	if err != nil {
		return fail(err)
	}
	if again != text {
		return fail(fmt.Errorf("is not in canonical form"))
	}
	return op, nil
}

// ErrNewer means that a later version of this program has encoded a payload. Exit code 5.
var ErrNewer = errors.New("a newer git-liza wrote it")

func newer(text string) bool {
	var only struct {
		V int `json:"v"`
	}
	return json.Unmarshal([]byte(text), &only) == nil && only.V > board.Format
}

func strictJSON(text string, into any) error {
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if d.More() {
		return fmt.Errorf("there is text after its end")
	}
	return nil
}

// canonical returns compact JSON in which every unprintable character is escaped.
func canonical(v any) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "", err
	}
	text := strings.TrimSuffix(b.String(), "\n")
	if strings.IndexFunc(text, hidden) < 0 {
		return text, nil
	}
	var out strings.Builder
	for _, r := range text {
		switch {
		case !hidden(r):
			out.WriteRune(r)
		case r > 0xFFFF:
			hi, lo := utf16.EncodeRune(r)
			fmt.Fprintf(&out, `\u%04x\u%04x`, hi, lo)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.String(), nil
}

func hidden(r rune) bool { return !unicode.IsPrint(r) }
