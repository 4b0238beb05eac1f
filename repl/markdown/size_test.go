package markdown

import (
	"strings"
	"testing"
	"time"

	"gemline/engine/enginetest"
)

// TestSize reads long texts, most of them made to take long: what a text is
// cut into has to stay small, and nothing may be read over and over.
func TestSize(t *testing.T) {
	size := 1 << 16
	if enginetest.Raced {
		size = 1 << 13 // there is nothing to race
	}
	for name, unit := range map[string]string{
		"words":              "A few words of an answer, with `code` and *more*. ",
		"paragraphs":         "Some **text** here.\nAnd more.\n\n",
		"one word":           "a",
		"brackets":           "[",
		"brackets and ends":  "[a](",
		"images":             "![",
		"links":              "[a](<b",
		"emphasis":           "*a ",
		"runs":               "*a_ ",
		"ends in brackets":   "[a*b*",
		"code":               "`a``",
		"tags":               "<a ",
		"comments":           "<!--",
		"instructions":       "<?",
		"quotes":             ">",
		"quotes and lines":   "> > > > a\nb\n",
		"lists":              "- ",
		"blank lines":        "\n",
		"nested then blank":  strings.Repeat("- ", 100) + "a\n" + strings.Repeat("\n", 200),
		"rows":               "| a | b |\n",
		"table":              "|a|b|\n|-|-|\n" + strings.Repeat("|1|*2*|\n", 1000) + "\n",
		"wide table":         strings.Repeat("|a", 60) + "|\n" + strings.Repeat("|-", 60) + "|\n" + strings.Repeat("x\n", 1000) + "\n",
		"bars":               "|",
		"dashes":             "-",
		"rules":              "---\n",
		"code block":         "```\n" + strings.Repeat("x\n", 100) + "```\n",
		"long code":          "```\n" + strings.Repeat("x", 1000),
		"indentation":        "    x\n",
		"blanks":             " ",
		"html":               "<div>\n",
		"entities":           "&amp;",
		"backslashes":        "\\",
		"headings":           "# a\n",
		"tildes":             "~~a ",
		"wide characters":    "日本",
		"invalid characters": "\x80\xe6",
	} {
		t.Run(name, func(t *testing.T) {
			src := strings.Repeat(unit, size/len(unit))
			for _, piece := range []int{size, 7} {
				r := New(nil)
				begin, shown := time.Now(), 0
				for s := src; s != ""; s = s[min(piece, len(s)):] {
					for _, span := range r.Write(s[:min(piece, len(s))]) {
						shown += len(span.Text)
					}
				}
				for _, span := range r.Close() {
					shown += len(span.Text)
				}
				took := time.Since(begin)
				t.Logf("in pieces of %d: %v, %d bytes shown", piece, took.Round(time.Millisecond), shown)
				if took > 2*time.Minute {
					t.Error("too slow")
				}
				if shown > 70*size {
					t.Errorf("%d bytes became %d", size, shown)
				}
			}
		})
	}
}
