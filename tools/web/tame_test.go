package web

import (
	"fmt"
	"strings"
	"testing"

	"gemline/engine/enginetest"
)

// Pages of which a parser or the library would make very much, or in a very long
// time, become text of about their own size. Without a bound some of these take
// minutes, others all memory there is.
func TestTamed(t *testing.T) {
	r := func(s string, n int) string {
		if n > 1000 && enginetest.Raced {
			n = max(1000, n/8) // the library is slow, and alone
		}
		return strings.Repeat(s, n)
	}
	var tags strings.Builder
	for i := range 400 {
		fmt.Fprintf(&tags, "<b id=%d>", i)
	}
	for name, body := range map[string]string{
		"spans":          "<table><tr><td colspan=100000 rowspan=60000>word</td></tr><tr><td>b</td></tr></table>",
		"a ragged table": "<table><tr>" + r("<td>word</td>", 20_000) + "</tr>" + r("<tr><td>a</td></tr>", 20_000) + "</table>",
		"a wide table":   "<table>" + r("<tr>"+r("<td>word</td>", 300)+"</tr>", 3_000) + "</table>",
		"long cells":     "<table><tr><td>word " + r("x", 500_000) + "</td></tr>" + r("<tr><td>a</td></tr>", 5_000) + "</table>",
		"nested tables":  "word" + r("<table><tr><td>", 160) + "x",
		"left open":      "word" + r("<a><b><p>", 100_000),
		"opened again":   "word<p>" + tags.String() + r("</p><p>", 500_000),
		"quotes":         "word" + r(r("<blockquote>", 100)+"x"+r("</blockquote>", 100), 500),
		"lists":          "word" + r(r("<ul><li>", 60)+"x"+r("</ul>", 60), 500),
		"many":           r("<p>A <b>word</b> with <a href='x'>link</a></p>", 150_000),
		"bold":           r("<b>word</b> ", 500_000),
		"breaks":         "word" + r("<br>", 1_000_000),
		"signs":          "word" + r("*_[]()#+-.!<>", 500_000),
		"fences":         "<pre>word" + r("```\n", 1_000_000) + "</pre>",
		"attributes":     "<p style='" + r("display ", 500_000) + "'>word</p>",
		"many attributes": "<p " + func() string {
			var b strings.Builder
			for i := range 500_000 {
				fmt.Fprintf(&b, "a%d ", i)
			}
			return b.String()
		}() + ">word</p>",
		"scripts first": "<script>" + r("x", 5<<20) + "</script><svg>" + r("<path d=x>", 50_000) + "</svg>word",
	} {
		text, err := page("text/html; charset=utf-8", body).Text()
		if err != nil || !strings.Contains(text, "word") || len(text) > 4*mostMarkup {
			t.Errorf("%s: %d bytes of %d, %v, %.60q", name, len(text), len(body), err, text)
		}
	}
	if text, _ := page("text/html", strings.Repeat("<p>x</p>", mostTags)).Text(); !strings.HasSuffix(text, "(the page goes on)") {
		t.Errorf("a page that was cut ends with %q", text[len(text)-40:])
	}
}
