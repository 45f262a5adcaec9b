package web

import "testing"

func TestChangedWordsAreMarked(t *testing.T) {
	for _, test := range []struct{ name, old, new, wantOld, wantNew string }{
		{"a word", `greet("Ann")`, `greet("Bob")`, `greet(<i class="s">&#34;</i><b>Ann</b><i class="s">&#34;</i>)`, `greet(<i class="s">&#34;</i><b>Bob</b><i class="s">&#34;</i>)`},
		{"an added word", "a := b", "a := b + c", "a := b", "a := b<b> + </b><b>c</b>"},
		{"no ASCII", "über größe", "über Größe", "über <b>größe</b>", "über <b>Größe</b>"},
		{"hardly anything in common", "return nil", "x := read(path)", `<i class="k">return</i> <i class="k">nil</i>`, "x := read(path)"},
		{"a product", "a\t* 1", "b\t* 1", "<b>a</b>\t* <i class=\"n\">1</i>", "<b>b</b>\t* <i class=\"n\">1</i>"},
	} {
		t.Run(test.name, func(t *testing.T) {
			files := parseDiff("diff --git a/f.go b/f.go\n--- a/f.go\n+++ b/f.go\n@@ -1 +1 @@\n-"+test.old+"\n+"+test.new+"\n", nil)
			lines := files[0].Lines
			if old, new := string(lines[1].HTML), string(lines[2].HTML); old != test.wantOld || new != test.wantNew {
				t.Errorf("got\n%s\n%s\nwant\n%s\n%s", old, new, test.wantOld, test.wantNew)
			}
		})
	}
}
