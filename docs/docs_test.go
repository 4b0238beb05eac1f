package docs

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestPlain(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"title", "# The `page`", "THE PAGE\n"},
		{"paragraph", "One **two**\n*three* four five six", "One two three four\nfive six\n"},
		{"code in a line", "a `b*c` `` ` `` \\* d*e", "a b*c ` * de\n"},
		{"a star of its own", "a * b", "a * b\n"},
		{"links", "[usage](usage.md) [x](https://x.example/)", "usage x\n<https://x.example/>\n"},
		{"no link", "[a] b", "[a] b\n"},
		{"list", "Text:\n\n- one two three four five\n- six\n1. seven", "Text:\n\n- one two three four\n  five\n- six\n1. seven\n"},
		{"fence", "```sh\n  a *b*\n\nc\n```\nd", "      a *b*\n\n    c\n\nd\n"},
		{"a fence in code", "a:\n\n    ```go\n    *b*\n    ```\n\nd", "a:\n\n    ```go\n    *b*\n    ```\n\nd\n"},
		{"a fence in a fence", "````\n```\n*b*\n```\n````\nd", "    ```\n    *b*\n    ```\n\nd\n"},
		{"indented", "a:\n\n    b `c`\n\nd", "a:\n\n    b `c`\n\nd\n"},
		{"narrow table", "| a | |\n|---|---|\n| `x\\|y` | one two three four |\n| z | five |", "  x|y  one two three\n       four\n  z    five\n"},
		{"wide table", "| a | b | c |\n|---|---|---|\n| x | y | |\n| z | | five |", "  x\n      b: y\n  z\n      c: five\n"},
		{"a long word", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\nb\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.ReplaceAll(Plain(c.in, 20), "\n\n\n", "\n\n")
			want := strings.ReplaceAll(c.want, "  x\n", "  x\n")
			if text != want {
				t.Errorf("got\n%s\nwant\n%s", text, want)
			}
		})
	}
}

// No page loses a word, keeps a mark or is wider than the screen.
func TestPagesArePlain(t *testing.T) {
	pages := Pages()
	if pages[0].Name != "usage" || len(pages) < 10 {
		t.Fatalf("%d pages, first %s", len(pages), pages[0].Name)
	}
	for _, p := range slices.Concat(pages, Internals()) {
		if p.Title == "" || strings.HasPrefix(p.Title, "#") {
			t.Errorf("%s has the title %q", p.Name, p.Title)
		}
		for line := range strings.Lines(Plain(p.Text, 80)) {
			line = strings.TrimSuffix(line, "\n")
			if utf8.RuneCountInString(line) > 80 && !strings.HasPrefix(line, "    ") && strings.Contains(strings.TrimSpace(line), " ") {
				t.Errorf("%s: wider than 80 columns: %q", p.Name, line)
			}
			if !strings.HasPrefix(line, " ") && (strings.Contains(line, "](") || strings.HasPrefix(line, "|") || strings.HasPrefix(line, "#")) {
				t.Errorf("%s: a mark in %q", p.Name, line)
			}
		}
	}
}

func FuzzPlain(f *testing.F) {
	for _, s := range []string{"# a\n|", "| a\n|-\n| `", "```", "[a](b", "*", "    \n", "1. \\"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		text := Plain(s, 20)
		if utf8.ValidString(s) && !utf8.ValidString(text) {
			t.Errorf("%q becomes %q", s, text)
		}
	})
}

// A link leads to a page that is there, and to a heading of it.
func TestLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:]*)(?:#([^)]*))?\)`)
	code := regexp.MustCompile("(?ms)^```.*?^```|^    [^\\n]*")
	headings := func(text string) map[string]bool {
		all := map[string]bool{}
		for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(text, -1) {
			plain := regexp.MustCompile("[^a-z0-9 -]").ReplaceAllString(strings.ToLower(m[1]), "")
			all[strings.ReplaceAll(plain, " ", "-")] = true
		}
		return all
	}
	inside := map[string]bool{}
	for _, p := range Internals() {
		inside[p.Name] = true
	}
	pages := slices.Concat(Pages(), Internals())
	for _, name := range []string{"README.md", "CHANGELOG.md"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, Page{Name: name, Text: string(text)})
	}
	for _, p := range pages {
		dir := "docs"
		switch {
		case inside[p.Name]:
			dir = "docs/internals"
		case strings.HasSuffix(p.Name, ".md"):
			dir = "."
		}
		for _, m := range link.FindAllStringSubmatch(code.ReplaceAllString(p.Text, ""), -1) {
			to := p.Text
			if m[1] != "" {
				b, err := os.ReadFile(path.Join(dir, m[1]))
				if err != nil {
					t.Errorf("%s: %v", p.Name, err)
				}
				to = string(b)
			}
			if m[2] != "" && !headings(to)[m[2]] {
				t.Errorf("%s: %s has no heading for %s", p.Name, m[1], m[2])
			}
		}
	}
}

// What a soak is said to run is there: go test passes if a pattern names nothing.
func TestSoakNamesTests(t *testing.T) {
	line := regexp.MustCompile(`-run '?([A-Za-z|]+)'?((?: \./[a-z/.]+)+)$`)
	for _, file := range []string{"Makefile", "commands/program/release/soak-day"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for l := range strings.Lines(string(text)) {
			m := line.FindStringSubmatch(strings.TrimSpace(l))
			if m == nil {
				continue
			}
			found++
			var tests []byte
			for dir := range strings.FieldsSeq(m[2]) {
				err := filepath.WalkDir(strings.TrimSuffix(dir, "/..."), func(name string, d fs.DirEntry, err error) error {
					if err == nil && strings.HasSuffix(name, "_test.go") {
						var b []byte
						b, err = os.ReadFile(name)
						tests = append(tests, b...)
					}
					return err
				})
				if err != nil {
					t.Error(err)
				}
			}
			for want := range strings.SplitSeq(m[1], "|") {
				if !regexp.MustCompile(`(?m)^func (Test\w*)?` + want).Match(tests) {
					t.Errorf("%s: no test in%s is called %s", file, m[2], want)
				}
			}
		}
		if found == 0 {
			t.Errorf("%s: no pattern", file)
		}
	}
}
