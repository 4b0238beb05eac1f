package workspace

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/text/encoding/htmlindex"

	"gemline/engine/charset"
	et "gemline/engine/enginetest"
)

func query(pattern string) Query {
	return Query{Pattern: regexp.MustCompile(pattern), Literal: Literals(pattern)}
}

// byLine is the search that can't be wrong.
func byLine(path, text, pattern string) []Match {
	re := regexp.MustCompile(pattern)
	var found []Match
	lines := strings.Split(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	for i, line := range lines {
		if line = strings.TrimSuffix(line, "\r"); re.MatchString(line) {
			found = append(found, Match{path, i + 1, line})
		}
	}
	return found
}

// inUTF8 returns text as it is searched.
func inUTF8(text string) string {
	if decoded, f, err := charset.Decode([]byte(text)); err == nil && f.Charset != "utf-8" {
		return decoded
	}
	return text
}

// Lines are found whatever a file is written in, as they are shown when it is read.
func TestSearchInOtherCharsets(t *testing.T) {
	chinese := "第一行是一些普通的文字\n没有别的意思\n这里多写几句话\r\nfoo中bar 10\n末尾"
	cyrillic := "Это обычный русский текст, в котором достаточно слов\nдальше\nещё строка foo\n"
	long := strings.Repeat("int main() { return 0; }\n", 45_000)
	for _, test := range []struct{ charset, text, config string }{
		{"gbk", chinese, ""}, {"gb18030", chinese, "[*]\ncharset=gb18030"}, {"big5", "第一行是一些普通的文字\n沒有別的意思\n這裡多寫幾句話foo\n", "[*]\ncharset=big5"},
		{"euc-jp", "これは日本語の文章です\n文字コードを正しく\nfooカタカナ10\n", ""}, {"shift_jis", "これは日本語の文章です\n文字コードを正しく\nfooカタカナ10\n", ""},
		{"euc-kr", "이것은 한국어 문장입니다\n문자 집합을 올바르게\n그래서 foo\n", ""}, {"windows-1251", cyrillic, ""}, {"koi8-r", cyrillic, ""},
		{"utf-16le", "\ufeff" + chinese, ""}, {"utf-16be", "\ufeff^foo\n" + chinese, ""},
		{"utf-16le", long + cyrillic, ""}, {"utf-16le", "\ufeff" + long + chinese, ""}, {"gbk", long + chinese + long, ""}, {"utf-16be", chinese, "[*]\ncharset=utf-16be"},
		{"windows-1252", "L'été dernier, nous avons mangé\ndes crêpes à la crème\nfoo\n", ""}, {"utf-8", "\ufefffoo\n" + cyrillic, ""},
	} {
		dir := tree(t, map[string]string{".editorconfig": test.config})
		path := filepath.Join(dir, "f.txt")
		if err := os.WriteFile(path, encoded(t, test.charset, test.text), 0o666); err != nil {
			t.Fatal(err)
		}
		w := open(t, Config{Roots: []string{dir}})
		for _, p := range []string{"foo", "(?i)FOO", "^foo", "文字", "(?i)СТРОКА", "别的|русский", "[^\\x00-\\x7f]{4}", "\\p{Han}", "한국어", "foo.bar", "crêpes|カタカナ", "10$", "没有", "int", "文字$"} {
			q := query(p)
			q.PerFile = 3
			got, err := w.Search(t.Context(), path, q)
			if err != nil {
				t.Fatal(err)
			}
			want := byLine(path, strings.TrimPrefix(test.text, "\ufeff"), p)
			if diff := cmp.Diff(want[:min(3, len(want))], got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%q in %s, %.60q: %s", p, test.charset, test.text, diff)
			}
		}
	}
}

func encoded(t *testing.T, label, text string) []byte {
	t.Helper()
	enc, err := htmlindex.Get(label)
	if err != nil {
		t.Fatal(err)
	}
	b, err := enc.NewEncoder().Bytes([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestSearchFindsTheLines(t *testing.T) {
	patterns := []string{"a", "foo", "(?i)foo", "(?i)K", "(?i)s", "^a", "a$", "^$", "x*", "(?i)foo|bar", "foo|ba+r|\\d", "[^a]", "\\s", "a\\sb", "\\Aa", "b\\z",
		"(?i)größe", "(?i)é", "(foo)+", "(?:ab){2}", "a.b", "\\bfoo\\b", "(?i)(todo|fixme)", "o o", "(?i)[a-c]x", "\\W", ".", "", "(?s).b", "a\nb", "foo\r", "(?i)sk"}
	words := []string{"a", "b", "foo", "FOO", "bar", "baar", "größe", "GRÖSSE", "é", "É", "\u212a", "\u017f", "sK", " ", "  ", "\n", "\n", "\n\n", "\r\n", "ab", "abab", "x", "TODO", "9", "\xff", "\t"}
	rng := rand.New(rand.NewPCG(2, 0))
	dir := tree(t, nil)
	w := open(t, Config{Roots: []string{dir}})
	path := filepath.Join(dir, "f")
	for range 50 {
		var text strings.Builder
		for range rng.IntN(40) {
			text.WriteString(words[rng.IntN(len(words))])
		}
		if err := os.WriteFile(path, []byte(text.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		for _, p := range patterns {
			got, err := w.Search(t.Context(), dir, query(p))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(byLine(path, inUTF8(text.String()), p), got); diff != "" {
				t.Fatalf("%q in %q: %s", p, text.String(), diff)
			}
		}
	}
}

func TestSearchInALongFile(t *testing.T) {
	var text strings.Builder
	lines := 60_000
	if et.Raced {
		lines = 12_000
	}
	for i := range lines {
		fmt.Fprintf(&text, "line %d of many\n", i+1)
		if i == lines/2 {
			text.WriteString(strings.Repeat("long ", 5*lines) + "\n")
		}
	}
	dir := tree(t, map[string]string{"f": text.String()})
	w := open(t, Config{Roots: []string{dir}})
	for _, p := range []string{"line 1?9999 ", "(?i)LINE .*77 OF", "long $", "[0-9]{6}"} {
		got, err := w.Search(t.Context(), dir, query(p))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(byLine(filepath.Join(dir, "f"), text.String(), p), got); diff != "" {
			t.Errorf("%s: %.300s", p, diff)
		}
	}
}

func TestSearchPassesOver(t *testing.T) {
	dir := tree(t, map[string]string{
		".gitignore": "*.out\n", "a.go": "needle", "b.out": "needle", "bin": "needle\x00", ".git/config": "needle", "sub/c.go": "hay\nneedle\nneedle",
		"node_modules/x": "needle", "u16": "\xff\xfen\x00e\x00e\x00d\x00l\x00e\x00", "latin": "n\xe9 needle",
	})
	link(t, "a.go", filepath.Join(dir, "link.go"))
	w := open(t, Config{Roots: []string{dir}, RespectGit: true})
	in := func(n string) string { return filepath.Join(dir, n) }
	q := query("needle")
	all := []Match{{in("a.go"), 1, "needle"}, {in("latin"), 1, "né needle"}, {in("u16"), 1, "needle"}, {in("sub/c.go"), 2, "needle"}, {in("sub/c.go"), 3, "needle"}}
	for _, test := range []struct {
		name string
		q    func(Query) Query
		want []Match
	}{
		{"everything", func(q Query) Query { return q }, all},
		{"a total", func(q Query) Query { q.Total = 2; return q }, all[:2]},
		{"some of each file", func(q Query) Query { q.PerFile = 1; return q }, all[:4]},
		{"chosen files", func(q Query) Query {
			q.Keep = func(p string) bool { return filepath.Ext(p) == ".go" }
			return q
		}, []Match{all[0], all[3], all[4]}},
		{"not a directory", func(q Query) Query {
			q.Skip = func(p string, d bool) bool { return d && filepath.Base(p) == "sub" }
			return q
		}, all[:3]},
		{"not some lines", func(q Query) Query { q.Exclude = regexp.MustCompile("n. "); return q }, append([]Match{all[0]}, all[2:]...)},
	} {
		t.Run(test.name, func(t *testing.T) {
			for range 5 { // the order does not depend on who is first
				got, err := w.Search(t.Context(), dir, test.q(q))
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Fatal(diff)
				}
			}
		})
	}
	t.Run("one file", func(t *testing.T) {
		got, err := w.Search(t.Context(), in("sub/c.go"), q)
		if err != nil || len(got) != 2 {
			t.Errorf("got %v, %v", got, err)
		}
	})
}

func BenchmarkSearch(b *testing.B) {
	dir := os.Getenv("GEMLINE_BENCH_TREE")
	if dir == "" {
		files := map[string]string{}
		for i := range 1000 {
			files[fmt.Sprintf("d%d/f%d.go", i%10, i)] = strings.Repeat("some words that fill a line of a file\n", 50)
		}
		files["d1/f1.go"] += "func HandlerNeedle()\n"
		dir = tree(b, files)
	}
	w := open(b, Config{Roots: []string{dir}, RespectGit: true})
	for _, p := range []string{"(?i)handlerneedle", `(?i)func\s+\w+needle\(`, "HandlerNeedle", `(?i)needle|handler`, `[A-Z]\w+N[a-z]+\(`} {
		b.Run(p, func(b *testing.B) {
			for b.Loop() {
				q := query(p)
				q.Total = 20000
				if _, err := w.Search(b.Context(), dir, q); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
