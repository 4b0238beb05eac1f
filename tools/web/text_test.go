package web

import (
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"
)

func page(kind, body string) *Page {
	return &Page{URL: &url.URL{Scheme: "https", Host: "example.com", Path: "/dir/page"}, Status: 200, Type: kind, Body: []byte(body)}
}

func TestText(t *testing.T) {
	for _, test := range []struct{ name, kind, body, want string }{
		{"plain", "text/plain", "a <b> c\n", "a <b> c\n"},
		{"json", "application/json", `{"a":1}`, `{"a":1}`},
		{"json of a kind", "application/ld+json; charset=utf-8", `{"é":1}`, `{"é":1}`},
		{"markdown", "text/markdown", "# Title", "# Title"},
		{"html", "text/html; charset=utf-8", "<title>T</title><h1>Head &amp; er</h1><p>A <b>bold</b> <a href='/rel'>link</a>.</p><ul><li>one</li></ul>",
			"# Head & er\n\nA **bold** [link](https://example.com/rel).\n\n- one"},
		{"html of no type", "", "<!doctype html><p>hello</p>", "hello"},
		{"a table", "text/html", "<table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2</td></tr></table>", "| A | B |"},
		{"code", "text/html", "<pre><code>x := 1\n  y</code></pre>", "```\nx := 1\n  y\n```"},
		{"what nobody sees", "text/html", `<p>seen</p><p hidden>one</p><div style="x:y; DISPLAY : none">two</div><script>three</script><style>four</style><!-- five --><img src="https://evil.example/?six" alt="seven"><template>eight</template><svg><text>nine</text></svg><p style="font-size:0px">ten</p>`, "seen"},
		{"latin1 by header", "text/plain; charset=iso-8859-1", "caf\xe9", "café"},
		{"shift_jis by meta", "text/html", "<meta charset=shift_jis><p>\x93\xfa\x96{</p>", "日本"},
		{"utf-8 unsaid", "text/plain", "日本", "日本"},
		{"not what it says", "text/plain; charset=utf-8", "a\xffb", "a\uFFFDb"},
		{"utf-16", "text/plain", "\xff\xfeh\x00i\x00", "hi"},
		{"text of unknown type", "application/octet-stream", "plain words", "plain words"},
		{"nested deeply", "text/html", strings.Repeat("<div>", 5000) + "deep<script>no</script>", "deep"},
	} {
		got, err := page(test.kind, test.body).Text()
		if err != nil || !strings.Contains(got, test.want) || test.want == "seen" && got != test.want {
			t.Errorf("%s: %q, %v; want %q", test.name, got, err, test.want)
		}
	}
	for kind, body := range map[string]string{
		"image/png": "\x89PNG\r\n\x1a\n", "application/pdf": "%PDF-1.7", "application/zip": "PK\x03\x04", "application/octet-stream": "\x7fELF\x02\x01\x00\x00",
		"text/plain": "a\x00b", "audio/json": "x", "application/json": " \n",
		"text/html": "<!doctype html><title></title><div id=root></div><script>draw()</script><noscript>JavaScript!</noscript>",
	} {
		if got, err := page(kind, body).Text(); err == nil {
			t.Errorf("%s is text: %q", kind, got)
		}
	}
}

// Whatever a page is, its text is UTF-8, and what scripts say is not in it.
func FuzzText(f *testing.F) {
	f.Add("text/html", "<p>a<table><td>b<p hidden>c", "")
	f.Add("text/html; charset=utf-16", "\xff\xfe<\x00b\x00>\x00", "type=text/x-y")
	f.Add("application/json", "{}", "/")
	f.Add("", "<a href='javascript:x'>y</a>", " defer /")
	f.Add("", strings.Repeat("<b>", mostOpen+1)+"tangled", "/")
	f.Fuzz(func(t *testing.T, kind, body, attributes string) {
		if len(body) > 64<<10 {
			t.Skip()
		}
		if text, err := page(kind, body).Text(); err == nil && !utf8.ValidString(text) {
			t.Errorf("%q", text)
		}
		if strings.ContainsAny(attributes, "<>\"'\x00") || strings.Contains(attributes+body, "CANARY") {
			return
		}
		unread := strings.ReplaceAll("<script @>x<CANARY</script ><style @>CANARY</style><!-- CANARY --><template @><p>CANARY<template @>x</template>CANARY</template>", "@", attributes)
		unseen := ""
		if len(body) < 1000 { // else nothing may be known but the words
			unseen = "<div hidden " + attributes + "><p>CANARY</p></div>"
		}
		if _, _, tangled := tamed(body); tangled {
			unseen = ""
		}
		if text, err := page("text/html; charset=utf-8", unread+unseen+body).Text(); strings.Contains(text, "CANARY") {
			t.Errorf("%q with %q: %q, %v", body, attributes, text, err)
		}
	})
}
