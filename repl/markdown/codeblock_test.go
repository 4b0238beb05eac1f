package markdown

import (
	"fmt"
	"strings"
	"testing"
)

func TestCodeBlocks(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"none", "no `code` here\n\n    indented is not fenced\n", ""},
		{"plain", "Here:\n```\na\n```\n", `"" "a\n"`},
		{"language", "```go\npackage x\n```", `"go" "package x\n"`},
		{"two", "```a\n1\n```\nand\n```b\n2\n```\n", `"a" "1\n" | "b" "2\n"`},
		{"tildes", "~~~sh\nls\n~~~\n", `"sh" "ls\n"`},
		{"longer outside", "````md\n```go\nx\n```\n````\n", `"md" "` + "```go\\nx\\n```" + `\n"`},
		{"tildes outside", "~~~\n```\nx\n```\n~~~\n", `"" "` + "```\\nx\\n```" + `\n"`},
		{"closed by a longer one", "```\na\n``````\nb", `"" "a\n"`},
		{"in a list", "1. do\n   ```sh\n   ls\n     -l\n   ```\n2. done\n", `"sh" "ls\n  -l\n"`},
		{"in a list of a list", "- a\n  - b\n\n    ~~~py\n    x\n    ~~~\n", `"py" "x\n"`},
		{"in a quote", "> ```\n> a\n>\n> b\n> ```\n", `"" "a\n\nb\n"`},
		{"indented", "  ```js\n  a\n    b\n  ```\n", `"js" "a\n  b\n"`},
		{"in the middle of a paragraph", "so\n```\na\n```\nand so", `"" "a\n"`},
		{"empty", "```\n```\n", `"" ""`},
		{"blank lines stay", "```\n\na\n\n\n```\n", `"" "\na\n\n\n"`},
		{"line ends stay", "```\r\na\r\n```\r\n", `"" "a\r\n"`},
		{"tabs", "```\n\ta\n```\n", `"" "\ta\n"`},
		{"back-ticks inside a line", "```\na ``` b\n```\n", `"" "a ` + "```" + ` b\n"`},
		{"info", "```go title=\"x.go\"\na\n```\n", `"go" "a\n"`},
		{"braces", "```{.python}\na\n```\n", `"python" "a\n"`},
		{"a file", "```ts:src/a.ts\na\n```\n", `"ts" "a\n"`},
		{"open", "```go\na\n", `"go" "a\n" open`},
		{"open without a line end", "```go\na", `"go" "a\n" open`},
		{"open and empty", "```go", `"go" "" open`},
		{"open and nameless", "```", `"" "" open`},
		{"open in a list", "- x\n  ```\n  a\n", `"" "a\n" open`},
		{"ended by its list", "- ```\n  a\n\nafter\n", `"" "a\n\n"`},
		{"closed at the end", "```\na\n```", `"" "a\n"`},
		{"a fence that is none", "``` a`b\nx\n", ""},
		{"inside HTML", "<pre>\n```\na\n```\n</pre>\n", ""},
	}
	for _, test := range tests {
		var got []string
		for _, b := range CodeBlocks(test.text) {
			s := fmt.Sprintf("%q %q", b.Language, b.Text)
			if b.Open {
				s += " open"
			}
			got = append(got, s)
		}
		if got := strings.Join(got, " | "); got != test.want {
			t.Errorf("%s: %s", test.name, got)
		}
	}
}

func TestLanguages(t *testing.T) {
	for _, same := range []string{"js JavaScript", "bash sh", "Shell sh", "py python", "C++ cpp", "yml YAML", "zig Zig", "go golang"} {
		a, b, _ := strings.Cut(same, " ")
		if !(CodeBlock{Language: a}).Is(b) || !(CodeBlock{Language: b}).Is(a) {
			t.Errorf("%s is not %s", a, b)
		}
	}
	for _, other := range []string{"js json", "java javascript", "c c++", "sh powershell", " go"} {
		a, b, _ := strings.Cut(other, " ")
		if (CodeBlock{Language: a}).Is(b) {
			t.Errorf("%q is %q", a, b)
		}
	}
	if b := (CodeBlock{Language: "anything"}); !b.Is("") || (CodeBlock{}).Is("go") {
		t.Error("no language is any, and nothing is no language's")
	}
	seen := map[string]bool{}
	for _, names := range languages {
		for name := range strings.FieldsSeq(names) {
			if seen[name] {
				t.Errorf("%s is in two rows", name)
			}
			seen[name] = true
		}
	}
}

// FuzzCodeBlocks: what is taken out of a text stood in it, line by line, and code
// put between fences that it can't close comes out as it was.
func FuzzCodeBlocks(f *testing.F) {
	for _, s := range []string{"```go\na\n```\n", "- x\n  ~~~\n  a\n", "> ```\n> a", "````\n```\n````", "\t```\n", "```\x00\xff\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, b := range CodeBlocks(s) {
			for line := range strings.Lines(b.Text) {
				if line = strings.Trim(line, " \t\r\n\x00\ufffd"); !strings.Contains(s, line) {
					t.Errorf("%q has no line %q", s, line)
				}
			}
		}
		if strings.ContainsAny(s, "\r\x00") {
			return // the first ends a line, the second is replaced
		}
		fence := strings.Repeat("`", 3+strings.Count(s, "`"))
		got := CodeBlocks("text\n\n" + fence + "x\n" + s + "\n" + fence + "\n\nmore\n")
		if len(got) == 0 || got[0].Text != s+"\n" || got[0].Language != "x" || got[0].Open {
			t.Errorf("%q came out as %+v", s, got)
		}
	})
}
