package front

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// A start fits into what it may take, whatever the folder is called.
func TestGreeting(t *testing.T) {
	const model = "gemini-3.1-pro-preview-customtools"
	for _, c := range []struct {
		folder string
		room   int
		want   string
	}{
		{"~/src/shop", 186, "gemline, " + model + ", in ~/src/shop; type /help"},
		{"/a/very/long/path/to/some/project/of/mine", 85, "gemline, " + model + ", in .../some/project/of/mine; type /help"},
		{"/" + strings.Repeat("x", 100), 85, "gemline, " + model + ", in ..." + strings.Repeat("x", 22) + "; type /help"},
		{"/\x1b[2J", 186, `gemline, ` + model + `, in /\x1b[2J; type /help`},
		{"/" + strings.Repeat("é", 100), 86, "gemline, " + model + ", in ..." + strings.Repeat("é", 11) + "; type /help"},
	} {
		got := greeting("gemline", model, c.folder, c.room)
		if got != c.want || len(got) > c.room || !utf8.ValidString(got) {
			t.Errorf("%q (%d bytes), want %q (%d)", got, len(got), c.want, len(c.want))
		}
	}
}
