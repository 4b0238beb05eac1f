package export

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/yuin/goldmark/ast"
	"golang.org/x/net/html"
	"google.golang.org/genai"

	"gemline/engine/journal"
)

func same(s string) string { return s }

// said makes a history of texts, the user's and the model's in turn.
func said(texts ...string) (history []*genai.Content) {
	for i, text := range texts {
		role := genai.Role(genai.RoleUser)
		if i%2 == 1 {
			role = genai.RoleModel
		}
		history = append(history, genai.NewContentFromText(text, role))
	}
	return history
}

func call(name string, args map[string]any, response map[string]any) []*genai.Content {
	c := []*genai.Content{{Role: genai.RoleModel, Parts: []*genai.Part{{FunctionCall: &genai.FunctionCall{ID: "1", Name: name, Args: args}}}}}
	if response != nil {
		c = append(c, &genai.Content{Role: genai.RoleUser, Parts: []*genai.Part{{FunctionResponse: &genai.FunctionResponse{ID: "1", Name: name, Response: response}}}})
	}
	return c
}

var session = journal.Session{ID: "51c623e0", Title: "Parser work", ForkOf: "aaa",
	Start: time.Date(2026, 11, 20, 21, 46, 0, 0, time.UTC), Updated: time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)}

func document1(t *testing.T, f Format, history []*genai.Content) string {
	t.Helper()
	b, err := History(session, history, f, same)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestMarkdown(t *testing.T) {
	history := slices.Concat(said("What is in `a.txt`?"), call("read_file", map[string]any{"file_path": "a.txt"}, map[string]any{"output": "one\n```\ntwo"}),
		said("", "It has **two** lines.\n\n# Really\n\n- one\n- two"), said("Thanks"))
	const want = "# Parser work\n\n- Session: 51c623e0\n- Copy of: aaa\n- Begun: 2026-11-20 21:46 UTC\n- Last worked with: 2026-11-21 08:00 UTC\n- Turns: 2\n" +
		"\n## Turn 1: What is in \\`a.txt\\`?\n\n**You:**\n\n```text\nWhat is in `a.txt`?\n```\n" +
		"\nTool read\\_file: ok\n\n```json\n{\n  \"file_path\": \"a.txt\"\n}\n```\n\nResult:\n\n````text\none\n```\ntwo\n````\n" +
		"\n**Gemini:**\n\nIt has **two** lines.\n\n### Really\n\n- one\n- two\n" +
		"\n## Turn 2: Thanks\n\n**You:**\n\n```text\nThanks\n```\n"
	if got := document1(t, Markdown, history); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestHTML(t *testing.T) {
	history := slices.Concat(said("What is in <a.txt>?\nSay."), call("ls", map[string]any{"dir": "."}, map[string]any{"error": "no <b>such</b>"}),
		said("", "It has **two** lines:\n\n# Really\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n[page](https://go.dev/?a=1&b=2) ![i](https://x.y/z.png)"), said("Thanks"))
	got := document1(t, HTML, history)
	for _, want := range []string{
		`<html lang="en">`, "<title>Parser work</title>", "<dt>Copy of</dt><dd>aaa</dd>", `<nav aria-label="Turns">`,
		`<li><a href="#turn-1">What is in &lt;a.txt&gt;? Say.</a></li>`, `<h2 id="turn-2">Turn 2: Thanks</h2>`,
		"<p class=\"said\">What is in &lt;a.txt&gt;?\nSay.</p>", "<summary>Tool ls: failed</summary>", "<pre>no &lt;b&gt;such&lt;/b&gt;</pre>",
		"<strong>two</strong>", "<h3>Really</h3>", "<th>a</th>", `<a href="https://go.dev/?a=1&amp;b=2">page</a>`, "[image: i, https://x.y/z.png]",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("there is no %s in\n%s", want, got)
		}
	}
	hold(t, got, 2)
}

// What is hostile in a session is text in a document of it.
func TestHostile(t *testing.T) {
	for _, s := range []string{
		"<script>alert(1)</script>", "<b onclick=x>y</b> z", "a <img src=https://x/y> b", "![x](https://x/y)", "![x][r]\n\n[r]: https://x/y",
		"[a](javascript:alert(1))", "[a](JaVaScript:alert(1))", "[a](javascript&#58;alert(1))", "[a](<java\tscript:alert(1)>)", "<javascript:alert(1)>",
		"[a](data:text/html,x)", "[a](//x/y)", "[a](file:///etc/passwd)", "</div></main></body>", "</pre>", "<!-- x", "<?php", "<![CDATA[x", "```\nnever closed", "~~~\n</pre>",
		"# high\n## higher\n###### deep\n", "high\n====\n", "higher\n---\n", "> # quoted", "- # listed", "- > 1. ## nested", "#", "```\n# code\n```\n# not",
		"[r]: javascript:alert(1)\n[r]", "\x1b[31mred\x00\u202e", "\xff\xfe", "<a\nhref='x'>", "\\<b>", "\\![x](y)", "\\\\![x](https://x/y)", "`<b>` <b>", "<https://go.dev> <a@b.c>",
		strings.Repeat(">", 5000) + " x", strings.Repeat("[", 5000), strings.Repeat("| a ", 2000) + "\n" + strings.Repeat("|---", 2000) + "\n",
		strings.Repeat("*a **b ", 20000), strings.Repeat("x", mostBytes+1), "$x$ & &lt; &amp;", `"'`, "a\u2028b",
	} {
		if len(s) < 200 {
			t.Run(s, func(t *testing.T) { attack(t, s) })
			continue
		}
		t.Run(s[:20], func(t *testing.T) { attack(t, s) })
	}
}

func FuzzDocument(f *testing.F) {
	for _, s := range []string{"<b>x</b>", "![x](y)", "# a\n===", "```\nx", "[a](javascript:x)", "[r]: x\n\n![r]", "> - # x\n<!--"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) < 2000 {
			attack(t, s)
		}
	})
}

// attack has s be everything that a session says.
func attack(t *testing.T, s string) {
	t.Helper()
	hostile := session
	hostile.Title, hostile.ForkOf = s, s
	history := slices.Concat(said("a "+s, s), call(s, map[string]any{s: s}, map[string]any{"output": s}), said("b"+s, "x"+s), said("c", s))
	turns := len(journal.Turns(history))
	b, err := History(hostile, history, HTML, same)
	if err != nil {
		t.Fatal(err)
	}
	hold(t, string(b), turns)
	if b, err = History(hostile, history, Markdown, same); err != nil {
		t.Fatal(err)
	}
	if len(s) > 5000 {
		return // which is read letter by letter, and takes long here
	}
	heads, links := 0, map[string]bool{}
	ast.Walk(parse(b), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Heading:
			if entering && n.Level <= deepest {
				heads++
			}
		case *ast.HTMLBlock, *ast.RawHTML, *ast.Image:
			t.Fatalf("%T in\n%s", n, b)
		case *ast.Link:
			links[string(n.Destination)] = true
		}
		return ast.WalkContinue, nil
	})
	if heads != turns+1 {
		t.Errorf("%d headings of %d turns in\n%s", heads, turns, b)
	}
	for to := range links {
		if _, ok := address([]byte(to)); !ok {
			t.Errorf("a link to %q in\n%s", to, b)
		}
	}
}

// hold checks that a document has nothing in it but what documents have.
func hold(t *testing.T, doc string, turns int) {
	t.Helper()
	allowed := map[string]string{"a": "href", "h2": "id", "section": "aria-labelledby", "nav": "aria-label", "html": "lang", "p": "class", "code": "class",
		"meta": "charset http-equiv content name", "ol": "start", "th": "style align", "td": "style align"}
	plain := strings.Fields("head title style body header h1 h3 h4 h5 h6 dl dt dd ul li main div pre details summary strong em del br hr blockquote table thead tbody tr")
	seen := map[string]int{}
	z := html.NewTokenizer(strings.NewReader(doc))
	var open []string
	for {
		switch z.Next() {
		case html.ErrorToken:
			if len(open) > 0 {
				t.Errorf("%v is not closed", open)
			}
			if seen["h2"] != turns || seen["script"] > 0 {
				t.Errorf("%d headings of %d turns in\n%s", seen["h2"], turns, doc)
			}
			return
		case html.StartTagToken, html.SelfClosingTagToken:
			tok := z.Token()
			seen[tok.Data]++
			names, known := allowed[tok.Data]
			if !known && !slices.Contains(plain, tok.Data) {
				t.Fatalf("an element %s in\n%s", tok, doc)
			}
			for _, a := range tok.Attr {
				if !slices.Contains(strings.Fields(names), a.Key) {
					t.Fatalf("an attribute of %s in\n%s", tok, doc)
				}
				if _, ok := address([]byte(a.Val)); a.Key == "href" && !ok && !strings.HasPrefix(a.Val, "#turn-") {
					t.Fatalf("a link %s in\n%s", tok, doc)
				}
			}
			if !slices.Contains([]string{"meta", "br", "hr"}, tok.Data) {
				open = append(open, tok.Data)
			}
		case html.EndTagToken:
			name := z.Token().Data
			if len(open) == 0 || open[len(open)-1] != name {
				t.Fatalf("%v ends with %s in\n%s", open, name, doc)
			}
			open = open[:len(open)-1]
		case html.CommentToken:
			t.Fatalf("a comment in\n%s", doc)
		}
	}
}

// JSON is the record as the Gemini CLI has it, with what is secret taken out.
func TestJSON(t *testing.T) {
	lines := []string{
		`{"sessionId":"51c623e0-0000","projectHash":"25a6","startTime":"2026-11-20T21:46:38.092Z","lastUpdated":"2026-11-20T21:46:38.092Z","kind":"main"}`,
		`{"id":"1","timestamp":"2026-11-20T21:46:39.000Z","type":"user","content":[{"text":"the key is s3cret"}]}`,
		`{"id":"2","timestamp":"2026-11-20T21:46:40.000Z","type":"gemini","content":"OK","later":{"b":1,"a":2},"model":"m"}`,
		`{"$set":{"summary":"About s3cret","lastUpdated":"2026-11-20T21:46:41.000Z","remoteAgents":{"a":{"contextId":"s3cret"}}}}`,
	}
	path := filepath.Join(t.TempDir(), "session-x.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, messages, err := journal.LoadMessages(path)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Session(c, messages, JSON, func(s string) string { return strings.ReplaceAll(s, "s3cret", "[gone]") })
	if err != nil {
		t.Fatal(err)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, b); err != nil {
		t.Fatal(err)
	}
	want := `{"sessionId":"51c623e0-0000","projectHash":"25a6","startTime":"2026-11-20T21:46:38.092Z","lastUpdated":"2026-11-20T21:46:41.000Z","kind":"main","summary":"About [gone]","messages":[` +
		`{"content":[{"text":"the key is [gone]"}],"id":"1","timestamp":"2026-11-20T21:46:39.000Z","type":"user"},` + lines[2] + `]}`
	if compact.String() != want {
		t.Errorf("%s, want %s", &compact, want)
	}
	if _, err := Session(c, messages, Markdown, same); err != nil {
		t.Error(err)
	}
}

func ExampleFormatOf() {
	f, err := FormatOf("talk.html")
	fmt.Println(f, err)
	_, err = FormatOf("talk.txt")
	fmt.Println(err)
	// Output:
	// HTML <nil>
	// talk.txt: the name says the format, so it has to end with .md, .html or .json
}
