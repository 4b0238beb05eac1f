package export

import (
	"bytes"
	"fmt"
	"html"
	"strings"
)

// style is the whole style sheet: typed text keeps its lines, and long lines are broken.
const style = `body{font-family:sans-serif;line-height:1.5;max-width:50em;margin:1em auto;padding:0 1em}
pre,.said{white-space:pre-wrap;overflow-wrap:anywhere}
pre{border:1px solid;padding:.5em}
table{border-collapse:collapse}th,td{border:1px solid;padding:.2em .5em}
.who{font-weight:bold;margin-bottom:0}`

// html returns the document as HTML.
func (d *document) html() []byte {
	var b bytes.Buffer
	p := func(format string, args ...string) {
		safe := make([]any, len(args))
		for i, a := range args {
			safe[i] = escape(a)
		}
		fmt.Fprintf(&b, format+"\n", safe...)
	}
	p(`<!DOCTYPE html>`)
	p(`<html lang="en">`)
	p(`<head>`)
	p(`<meta charset="utf-8">`)
	p(`<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">`)
	p(`<meta name="viewport" content="width=device-width, initial-scale=1">`)
	p(`<title>%s</title>`, d.Title)
	b.WriteString("<style>\n" + style + "\n</style>\n")
	p(`</head>`)
	p(`<body>`)
	p(`<header>`)
	p(`<h1>%s</h1>`, d.Title)
	p(`<dl>`)
	for _, f := range d.facts() {
		p(`<dt>%s</dt><dd>%s</dd>`, f[0], f[1])
	}
	p(`</dl>`)
	p(`</header>`)
	if len(d.turns) > 1 {
		p(`<nav aria-label="Turns">`)
		p(`<ol>`)
		for n, t := range d.turns {
			p(`<li><a href="#turn-%s">%s</a></li>`, fmt.Sprint(n+1), t.title)
		}
		p(`</ol>`)
		p(`</nav>`)
	}
	p(`<main>`)
	for n, t := range d.turns {
		id := fmt.Sprint(n + 1)
		p(`<section aria-labelledby="turn-%s">`, id)
		p(`<h2 id="turn-%s">Turn %s: %s</h2>`, id, id, t.title)
		for _, it := range t.items {
			it.html(&b, p)
		}
		p(`</section>`)
	}
	p(`</main>`)
	p(`</body>`)
	p(`</html>`)
	return b.Bytes()
}

// html writes an item.
func (it *item) html(b *bytes.Buffer, p func(format string, args ...string)) {
	switch {
	case it.call:
		p(`<details>`)
		p(`<summary>Tool %s: %s</summary>`, it.who, it.state)
		p(`<p>Arguments:</p>`)
		p(`<pre>%s</pre>`, it.args)
		if it.result != "" {
			p(`<p>Result:</p>`)
			p(`<pre>%s</pre>`, it.result)
		}
		p(`</details>`)
	case it.who == "Gemini":
		p(`<p class="who">%s:</p>`, it.who)
		p(`<div>`)
		if answer, ok := answerHTML(it.said); ok {
			b.Write(answer)
		} else {
			p(`<p class="said">%s</p>`, it.said)
		}
		p(`</div>`)
	default:
		p(`<p class="who">%s:</p>`, it.who)
		p(`<p class="said">%s</p>`, it.said)
	}
}

// escape escapes s for an HTML document. Characters that are not allowed in documents are shown
// as Go's escapes.
func escape(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if strings.ContainsFunc(s, unfit) {
		var b strings.Builder
		for _, r := range s {
			if unfit(r) {
				fmt.Fprintf(&b, `\x%02x`, r)
				continue
			}
			b.WriteRune(r)
		}
		s = b.String()
	}
	return html.EscapeString(s)
}

// unfit reports whether r is a control character, or changes the direction of text.
func unfit(r rune) bool {
	return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || r >= 0x202a &&
		r <= 0x202e || r >= 0x2066 && r <= 0x2069
}
