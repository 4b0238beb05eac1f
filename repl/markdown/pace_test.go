package markdown

import (
	"strings"
	"testing"

	"go.uber.org/goleak"
)

// TestMain sees to it that nothing waits for more of a text that was closed.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestPace looks at what is shown of a text that has not ended.
func TestPace(t *testing.T) {
	tests := []struct{ name, so, shown string }{
		{"a word that may go on", "Hello wor", "Hello"},
		{"a word that is over", "Hello world ", "Hello world"},
		{"an end that may not be one", "Version 1.", "Version"},
		{"letters without blanks", "日本語です", "日本語で"},
		{"open emphasis", "now *some wo", "now"},
		{"closed emphasis", "now *some words* fol", "now some words"},
		{"a star alone", "2 * 3 is ", "2 * 3 is"},
		{"a name with underscores", "in snake_case is ", "in snake_case is"},
		{"about", "in ~5 days, ", "in ~5 days,"},
		{"smaller", "a < b and a <= b is", "a < b and a <= b"},
		{"a backslash behind a word", `on C:\ there is `, `on C:\ there is`},
		{"what is no tag", "a Map<K, V> is ", "a Map<K, V> is"},
		{"a tag that may go on", "a <b c='>' d", "a"},
		{"open code", "run `go te", "run"},
		{"a bracket", "see [the", "see"},
		{"an index", "a[0] is ", "a[0] is"},
		{"a link's words", "see [the docs](http", "see"},
		{"a link", "see [the docs](http://x.y) and", "see the docs (http://x.y)"},
		{"a list item", "- one of", "- one"},
		{"an item in an item", "1. a\n   - b c", "1. a\n  - b"},
		{"an item in bold", "* **Bold**: te", "- Bold:"},
		{"a quote", "> some wo", "quote:\nsome"},
		{"a heading is a line", "# Title of", ""},
		{"the next line of a paragraph", "one\ntwo th", "one\ntwo"},
		{"a line that may be a table's", "| a | b |\n", ""},
		{"a line that was no table's", "| a | b |\nword ", "| a | b |\nword"},
		{"a row", "|a|\n|-|\n|1|\n", "table, 1 column: a\na: 1\n"},
		{"code line by line", "```\none\ntwo", "code:\none\n"},
		{"after an empty line", "one.\n\n", "one.\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := New(nil)
			defer r.Close()
			var b strings.Builder
			for _, c := range []byte(tt.so) {
				for _, s := range r.Write(string([]byte{c})) {
					b.WriteString(s.Text)
				}
			}
			if b.String() != tt.shown {
				t.Errorf("%q, want %q", b.String(), tt.shown)
			}
		})
	}
}

// TestHeld looks at how much is held back of what never closes.
func TestHeld(t *testing.T) {
	for _, open := range []string{"*", "`", "[", "<a ", "[a](", "\\", "[a](b \"", "**_`", "\n|", strings.Repeat("x", 50)} {
		r := New(nil)
		shown, given := 0, 0
		for i := range 20000 {
			s := "word "
			if i == 0 {
				s = "so " + open + "word "
			}
			given += len(s)
			for _, s := range r.Write(s) {
				shown += len(s.Text)
			}
			if given-shown > maxHeld+100 {
				t.Errorf("behind %q, %d of %d bytes are held back", open, given-shown, given)
				break
			}
		}
		for _, s := range r.Close() {
			shown += len(s.Text)
		}
		if shown != given && open != "\\" && open != "\n|" {
			t.Errorf("behind %q, %d of %d bytes were shown", open, shown, given)
		}
		if r.Close() != nil {
			t.Error("the end came twice")
		}
	}
}
