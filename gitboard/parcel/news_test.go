package parcel_test

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/parcel"
)

var (
	one = plumbing.OID(strings.Repeat("1", 40))
	two = plumbing.OID(strings.Repeat("2", 40))
)

// TestNews checks that news are read as they were written, in an answer that git takes for the name
// of a ref.
func TestNews(t *testing.T) {
	for _, n := range []parcel.News{
		{Since: one, Operations: []parcel.Operation{{Commit: "tree\n\nnöte\n", Payload: "a: \"b\"\n"}}, Refs: map[string]plumbing.OID{plumbing.LeaseRef("coder-1"): two}, Leases: []string{"a lease\n"}},
		{},
	} {
		text, short := n.Text()
		if !short || !regexp.MustCompile(`^[A-Za-z0-9_-]+$`).MatchString(text) {
			t.Errorf("%v %q", short, text)
		}
		answer, said := parcel.ReadAnswer(parcel.Ref, parcel.AnswerRef(parcel.Ref, parcel.Rewritten, text))
		got, err := parcel.ParseNews(said)
		if err != nil || answer != parcel.Rewritten || !reflect.DeepEqual(*got, n) {
			t.Errorf("%v read as %s %v: %v", n, answer, got, err)
		}
	}
}

// TestNewsTooLong checks that news too long for an answer is not shortened.
func TestNewsTooLong(t *testing.T) {
	noise := func(n int) string {
		var b strings.Builder
		for i := range n / sha256.Size {
			sum := sha256.Sum256(fmt.Append(nil, i))
			b.Write(sum[:])
		}
		return base64.StdEncoding.EncodeToString([]byte(b.String()))
	}
	for _, c := range []struct {
		name       string
		operations int
		lease      string
		short      bool
	}{
		{"as many operations as it may have", parcel.MaxNews, "", true},
		{"one more", parcel.MaxNews + 1, "", false},
		{"as long as it may be", 1, noise(43_000), true},
		{"longer", 1, noise(46_000), false},
		{"much that is easily compressed", 1, strings.Repeat("a", 4<<20), false},
	} {
		n := parcel.News{Operations: make([]parcel.Operation, c.operations), Leases: []string{c.lease}}
		if text, short := n.Text(); short != c.short {
			t.Errorf("%s: %v, with %d characters", c.name, short, len(text))
		}
	}
}

// TestForgedNews checks that news with other names than git's are refused, and damaged ones.
func TestForgedNews(t *testing.T) {
	pack := func(text string) string {
		var b bytes.Buffer
		w, _ := flate.NewWriter(&b, flate.BestSpeed)
		_, _ = w.Write([]byte(text))
		w.Close()
		return base64.RawURLEncoding.EncodeToString(b.Bytes())
	}
	for name, text := range map[string]string{
		"an option":          pack(`{"refs":{"--all":"` + string(one) + `"}}`),
		"no object":          pack(`{"refs":{"refs/heads/x":"--all"}}`),
		"a deleted ref":      pack(`{"refs":{"refs/heads/x":"` + string(plumbing.ZeroOID) + `"}}`),
		"not JSON":           pack(`{"refs":`),
		"more than is read":  pack(`"` + strings.Repeat("a", 8<<20) + `"`),
		"not compressed":     base64.RawURLEncoding.EncodeToString([]byte(`{}`)),
		"not encoded":        "{}",
		"cut off":            pack(`{"since":"` + string(one) + `"}`)[:20],
		"an answer of a ref": "x/" + pack(`{}`),
	} {
		if n, err := parcel.ParseNews(text); err == nil {
			t.Errorf("%s is read as %v", name, n)
		}
	}
}

// TestAnswers checks what is taken for an answer of a server.
func TestAnswers(t *testing.T) {
	for said, want := range map[string][2]string{
		parcel.Ref + "/as-pushed":                        {"as-pushed", ""},
		parcel.Ref + "/rewritten":                        {"rewritten", ""},
		parcel.Ref + "/rewritten/abc":                    {"rewritten", "abc"},
		parcel.Ref + "/rewritten-not":                    {"", ""},
		parcel.Ref:                                       {"", ""},
		"refs/heads/main/rewritten/abc":                  {"", ""},
		"[remote rejected] (liza: overtaken: )":          {"liza: overtaken", ""},
		"[remote rejected] (liza: not sequenced: a why)": {"liza: not sequenced", ""},
		"": {"", ""},
	} {
		if answer, news := parcel.ReadAnswer(parcel.Ref, said); string(answer) != want[0] || news != want[1] {
			t.Errorf("%q is read as %q, %q", said, answer, news)
		}
	}
}
