package memory

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func imported(name, text string) string {
	return fmt.Sprintf("<!-- Imported from: %s -->\n%s\n<!-- End of import from: %s -->", name, text, name)
}

func TestImports(t *testing.T) {
	top := plant(t, map[string]string{
		"secret.md":        "secret",
		"repo/.git/config": "token",
		"repo/.env":        "KEY=1",
		"repo/a.md":        " A\n",
		"repo/plain":       "plain",
		"repo/w/b.md":      "B @./c.md",
		"repo/w/c.md":      "C @../a.md",
		"repo/w/loop.md":   "L @./loop2.md",
		"repo/w/loop2.md":  "L2 @loop.md @./GEMINI.md",
		"repo/w/my doc.md": "M",
		"repo/w/odd(1).md": "O",
		"repo/w/dir/d.md":  "D @e.md",
		"repo/w/dir/e.md":  "E",
		"repo/w/empty.md":  "",
		"repo/w/n1.md":     "1 @./n2.md",
		"repo/w/n2.md":     "2 @./n3.md",
		"repo/w/n3.md":     "3 @./n4.md",
		"repo/w/n4.md":     "4 @./n5.md",
		"repo/w/n5.md":     "5 @./n6.md @/etc/passwd",
		"repo/w/n6.md":     "6",
		"repo/w/near.md":   "near @./dir/e.md",
		"repo/w/out.md":    "->../../secret.md",
		"repo/w/outdir":    "->../..",
		"repo/w/in.md":     "->../a.md",
		"repo/w/hidden.md": "->../.env",
		"repo/w/self.md":   "->self.md",
		"repo/w/binary.md": "\xff\x00\xfe",
		"repo/w/\u00fc.md": "umlaut",

		"repo/w/re\u0301sume\u0301/\u00e9.md": "accents",
		"repo/w/GEMINI.md/":                   "",
	})
	if err := os.RemoveAll(filepath.Join(top, "repo/w/GEMINI.md")); err != nil {
		t.Fatal(err)
	}
	w := filepath.Join(top, "repo", "w")
	failed := func(name, why string) string { return "<!-- Import failed: " + name + " - " + why + " -->" }
	missing := func(name string) string {
		return failed(name, fmt.Sprintf("ENOENT: no such file or directory, open '%s'", filepath.Join(w, name)))
	}
	const traversal = "Path traversal attempt"
	for _, c := range []struct{ name, text, want string }{
		{"alone", "@../a.md", imported("../a.md", "A")},
		{"in a line", "see @../a.md here", "see " + imported("../a.md", "A") + " here"},
		{"after a tab, before a carriage return", "x\t@../a.md\r\ny", "x\t" + imported("../a.md", "A") + "\r\ny"},
		{"without dots", "@dir/e.md", imported("dir/e.md", "E")},
		{"a word that is a file", "@empty.md", imported("empty.md", "")},
		{"absolute inside", "@" + filepath.ToSlash(w) + "/dir/e.md", imported(filepath.ToSlash(w)+"/dir/e.md", "E")},
		{"relative to a file named in full", "@" + filepath.ToSlash(w) + "/near.md", imported(filepath.ToSlash(w)+"/near.md", "near "+imported("./dir/e.md", "E"))},
		{"relative to the importing file", "@dir/d.md", imported("dir/d.md", "D "+imported("e.md", "E"))},
		{"nested", "@b.md", imported("b.md", "B "+imported("./c.md", "C "+imported("../a.md", "A")))},
		{"twice", "@../a.md @../a.md", imported("../a.md", "A") + " " + imported("../a.md", "A")},
		{"a link inside", "@./in.md", imported("./in.md", "A")},
		{"not ASCII", "@./\u00fc.md", imported("./\u00fc.md", "umlaut")},

		{"address", "a@b.c and foo@../a.md", "a@b.c and foo@../a.md"},
		{"in parentheses", "(@../a.md)", "(" + imported("../a.md", "A") + ")"},
		{"in a sentence", "See @empty.md, and (@../a.md). Or @../a.md!", "See " + imported("empty.md", "") + ", and (" + imported("../a.md", "A") + "). Or " + imported("../a.md", "A") + "!"},
		{"in bold", "**@../a.md** _@../a.md_ \"@../a.md\" <@../a.md>", "**" + imported("../a.md", "A") + "** _" + imported("../a.md", "A") + "_ \"" + imported("../a.md", "A") + "\" <" + imported("../a.md", "A") + ">"},
		{"in a list and a table", "- @../a.md; |@../a.md|", "- " + imported("../a.md", "A") + "; |" + imported("../a.md", "A") + "|"},
		{"with a blank", `@my\ doc.md and @./my\ doc.md.`, imported("my doc.md", "M") + " and " + imported("./my doc.md", "M") + "."},
		{"marks of other scripts", "“@../a.md” （@../a.md），@../a.md。", "“" + imported("../a.md", "A") + "” （" + imported("../a.md", "A") + "），" + imported("../a.md", "A") + "。"},
		{"marks behind and in the word", "~~@../a.md~~ @../a.md’s @../a.md#part", "~~" + imported("../a.md", "A") + "~~ " + imported("../a.md", "A") + "’s " + imported("../a.md", "A") + "#part"},
		{"in quotes", `@"../a.md"x`, imported("../a.md", "A") + "x"},
		{"closing marks that belong to the name", "@odd(1).md) @odd(1)", imported("odd(1).md", "O") + ") @odd(1)"},
		{"missing in a sentence", "(see @./none.md), @none.md.", "(see " + missing("./none.md") + "), " + missing("none.md") + "."},
		{"home", "@~/x.md.", failed("~/x.md", traversal) + "."},
		{"in a comment", "<!-- @../a.md --> @../a.md <!-- x\n@../a.md\n-->", "<!-- @../a.md --> " + imported("../a.md", "A") + " <!-- x\n@../a.md\n-->"},
		{"an open comment is none", "<!-- @../a.md", "<!-- " + imported("../a.md", "A")},
		{"a name that begins with no ASCII", "@\u00fc.md", imported("\u00fc.md", "umlaut")},
		{"lone", "@ @@ @1.md @-x @", "@ @@ @1.md @-x @"},
		{"in code", "`@../a.md` ``x ` @../a.md`` @../a.md", "`@../a.md` ``x ` @../a.md`` " + imported("../a.md", "A")},
		{"in a fence", "```\n@../a.md\n```\n@../a.md", "```\n@../a.md\n```\n" + imported("../a.md", "A")},
		{"an open fence is none", "``` @../a.md `", "``` " + imported("../a.md", "A") + " `"},

		{"a person", "@alice please review, @alice. @bob, @first.last", "@alice please review, @alice. @bob, @first.last"},
		{"a package", "use @types/node and @angular/core.", "use @types/node and @angular/core."},
		{"a directory that is a word", "ask @dir", "ask @dir"},
		{"missing", "@./missing.md @missing.txt", missing("./missing.md") + " " + missing("missing.txt")},
		{"directory", "@./dir", failed("./dir", "EISDIR: illegal operation on a directory, read")},
		{"below a file", "@./b.md/x", missing("./b.md/x")},

		{"above", "@../../secret.md", failed("../../secret.md", traversal)},
		{"above, missing", "@../../nothing.md", failed("../../nothing.md", traversal)},
		{"above by a word", "@dir/../../../secret.md", failed("dir/../../../secret.md", traversal)},
		{"absolute outside", "@/etc/passwd", failed("/etc/passwd", traversal)},
		{"link outside", "@./out.md", failed("./out.md", traversal)},
		{"directory linked outside", "@./outdir/secret.md", failed("./outdir/secret.md", traversal)},
		{"URLs", "@https://x/a.md @HTTP://x @file:///etc/passwd", failed("https://x/a.md", "URLs are not imported") + " " +
			failed("HTTP://x", "URLs are not imported") + " " + failed("file:///etc/passwd", "URLs are not imported")},
		{"withheld", "@../.git/config @../.env", failed("../.git/config", "files of this name are not imported") + " " +
			failed("../.env", "files of this name are not imported")},
		{"withheld, missing", "@../.git/none @.git", failed("../.git/none", "files of this name are not imported") + " " +
			failed(".git", "files of this name are not imported")},
		{"composed", "@./r\u00e9sum\u00e9/e\u0301.md", imported("./r\u00e9sum\u00e9/e\u0301.md", "accents")},
		{"taken apart", "@re\u0301sume\u0301/\u00e9.md", imported("re\u0301sume\u0301/\u00e9.md", "accents")},
		{"composed, missing", "@./r\u00e9sum\u00e9/none.md", missing("./r\u00e9sum\u00e9/none.md")},
		{"composed, outside by a link", "@./outdir/\u00e9/x.md", failed("./outdir/\u00e9/x.md", "ENOENT: no such file or directory, open '"+filepath.Join(w, "outdir/\u00e9/x.md")+"'")},
		{"withheld, by a link", "@./hidden.md", failed("./hidden.md", "files of this name are not imported")},
		{"zero byte", "@./a\x00.md", missing("./a\ufffd.md")},
		{"too long for a path", "@./" + strings.Repeat("x", 5000), "@./" + strings.Repeat("x", 5000)},
		{"link to itself", "@./self.md", failed("./self.md", "too many links")},
		{"not text", "@./binary.md", imported("./binary.md", "\ufffd\ufffd\ufffd")},

		{"circle", "@loop.md", imported("loop.md", "L "+imported("./loop2.md", "L2 <!-- File already processed: loop.md --> <!-- File already processed: ./GEMINI.md -->"))},
		{"itself", "@./GEMINI.md", "<!-- File already processed: ./GEMINI.md -->"},
		{"five deep", "@n1.md", imported("n1.md", "1 "+imported("./n2.md", "2 "+imported("./n3.md", "3 "+imported("./n4.md", "4 "+imported("./n5.md", "5 @./n6.md @/etc/passwd")))))},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := os.WriteFile(filepath.Join(w, "GEMINI.md"), []byte("x "+c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			cfg := in(top, "repo/w")
			cfg.Withheld = func(name string) bool { return name == ".git" }
			_, got, warnings := read(cfg)
			if d := cmp.Diff("x "+c.want, strings.Join(texts(got), "|")); d != "" {
				t.Error(d)
			}
			if n := strings.Count(c.want, "Import failed"); strings.Count(warnings, ": import of ") != n {
				t.Errorf("%d imports failed; warnings %q", n, warnings)
			}
		})
	}
}

// TestFlat shows the format in which imported files follow the one that
// imports them.
func TestFlat(t *testing.T) {
	files := map[string]string{
		"secret.md":       "secret",
		"repo/.git/":      "",
		"repo/a.md":       "A",
		"repo/w/b.md":     "B @./dir/c.md @../a.md",
		"repo/w/dir/c.md": "C @../b.md @d.md",
		"repo/w/dir/d.md": "D @../GEMINI.md",
		"repo/w/link.md":  "->../a.md",
		"repo/w/out.md":   "->../../secret.md",
	}
	for i := range 40 { // deeper than files in each other may be
		files[fmt.Sprintf("repo/w/n%d.md", i)] = fmt.Sprintf("n @./n%d.md", i+1)
	}
	top := plant(t, files)
	w := filepath.Join(top, "repo", "w")
	file := func(name, text string) string {
		path := filepath.Join(w, name)
		return "--- File: " + path + " ---\n" + text + "\n--- End of File: " + path + " ---"
	}
	for _, c := range []struct {
		name, text string
		more       []string // after the block of the text itself
		warnings   int
	}{
		{"nothing", "no import", nil, 0},
		{"one", "see @../a.md there", []string{file("../a.md", "A")}, 0},
		{"nested, once each, in order", "@b.md @../a.md @dir/d.md", []string{file("b.md", "B @./dir/c.md @../a.md"), file("dir/c.md", "C @../b.md @d.md"),
			file("dir/d.md", "D @../GEMINI.md"), file("../a.md", "A")}, 0},
		{"once by whatever name", "@link.md @../a.md @" + filepath.ToSlash(top) + "/repo/a.md", []string{file("link.md", "A")}, 0},
		{"itself", "@./GEMINI.md", nil, 0},
		{"in code", "`@../a.md`", nil, 0},
		{"words", "@alice @types/node", nil, 0},
		{"refused", "@./none.md @out.md @/etc/passwd @https://x @../a.md", []string{file("../a.md", "A")}, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := os.WriteFile(filepath.Join(w, "GEMINI.md"), []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			cfg := in(top, "repo/w")
			cfg.Flat = true
			_, got, warnings := read(cfg)
			want := strings.Join(append([]string{file("GEMINI.md", c.text)}, c.more...), "\n\n")
			if d := cmp.Diff([]string{want}, texts(got)); d != "" {
				t.Error(d)
			}
			if n := strings.Count(warnings, ": import of "); n != c.warnings {
				t.Errorf("warnings %q", warnings)
			}
		})
	}
	t.Run("deep", func(t *testing.T) {
		if err := os.WriteFile(filepath.Join(w, "GEMINI.md"), []byte("@n0.md"), 0o600); err != nil {
			t.Fatal(err)
		}
		cfg := in(top, "repo/w")
		cfg.Flat = true
		if _, got, warnings := read(cfg); strings.Count(got.Project, "--- File: ") != 41 || strings.Count(warnings, "\n") != 1 {
			t.Errorf("%s\n%s", got.Project, warnings)
		}
	})
}

// TestImportsOfTheUser shows that the user's own file may import what is
// beside it.
func TestImportsOfTheUser(t *testing.T) {
	top := plant(t, map[string]string{"secret.md": "s", "home/GEMINI.md": "@./style.md @../secret.md", "home/style.md": "plain words"})
	_, got, _ := read(in(top))
	want := imported("./style.md", "plain words") + " <!-- Import failed: ../secret.md - Path traversal attempt -->"
	if d := cmp.Diff([]string{want}, texts(got)); d != "" {
		t.Error(d)
	}
}

// TestImportBombs shows that what imports multiply is limited in all.
func TestImportBombs(t *testing.T) {
	many := func(s string, n int) string { return strings.TrimSpace(strings.Repeat(s+" ", n)) }
	large := strings.Repeat("x", defaultLimit)
	files := func(text string, n int) map[string]string {
		all := map[string]string{}
		var root strings.Builder
		for i := range n {
			all[fmt.Sprintf("w/%d.md", i)] = text
			fmt.Fprintf(&root, "@./%d.md\n", i)
		}
		all["w/GEMINI.md"] = root.String()
		return all
	}
	chain := func(n int) map[string]string {
		all := map[string]string{"w/GEMINI.md": "@./0.md"}
		for i := range n {
			all[fmt.Sprintf("w/%d.md", i)] = fmt.Sprintf("@./%d.md", i+1)
		}
		return all
	}
	for _, c := range []struct {
		name    string
		files   map[string]string
		warning string
		tree    bool // it is one only where each import is replaced
	}{
		{"doubling", map[string]string{"w/GEMINI.md": many("@a.md", 30), "w/a.md": many("@b.md", 30), "w/b.md": many("@c.md", 30), "w/c.md": strings.Repeat("x", 10_000)}, "limit in all", true},
		{"a circle of three", map[string]string{"w/GEMINI.md": many("@a.md", 40), "w/a.md": many("@b.md @a.md", 40), "w/b.md": many("@a.md @GEMINI.md @./none.md", 40)}, "import of ./none.md", false},
		{"many small ones", map[string]string{"w/GEMINI.md": many("@a.md", 5000), "w/a.md": "a"}, "more than 1000", false},
		{"many missing ones", map[string]string{"w/GEMINI.md": many("@./none.md", 5000)}, "more than 1000", false},
		{"many words", map[string]string{"w/GEMINI.md": many("@a", 50_000)}, "more than 1000", false},
		{"many that are missing", files("@./none.md", 60), "more warnings", false},
		{"long names", map[string]string{"w/GEMINI.md": many("@./"+strings.Repeat("y", 4000), 60)}, "file name too long", false},
		{"one file too many", files("a", maxImports+1), "more than 1000", false},
		{"a chain of too many", chain(maxImports + 2), "", false},
		{"large ones", map[string]string{"w/GEMINI.md": "@a.md @b.md @c.md @d.md @e.md", "w/a.md": large, "w/b.md": large, "w/c.md": large, "w/d.md": large, "w/e.md": large}, "limit in all", false},
	} {
		top := plant(t, c.files)
		for _, flat := range []bool{false, true} {
			if flat && c.tree {
				continue
			}
			t.Run(fmt.Sprintf("%s, flat %v", c.name, flat), func(t *testing.T) {
				cfg := in(top, "w")
				cfg.Flat = flat
				_, got, warnings := read(cfg)
				if n := len(got.Project); n > 2*defaultTotal {
					t.Errorf("%d bytes", n)
				}
				if !strings.Contains(warnings, c.warning) || strings.Count(warnings, "\n") > maxWarnings+1 {
					t.Errorf("warnings %q", warnings)
				}
			})
		}
	}
}

func FuzzImports(f *testing.F) {
	for _, s := range []string{"@a.md", "`@a.md` @./b.md", "``` @a.md ``", "@../../etc/passwd @/etc/passwd", "@b.md\x00 @\xff", "x@a.md\n@a.md\t@a.md", "@https://x @out.md"} {
		f.Add(s)
	}
	top := plant(f, map[string]string{"secret": "CANARY", "w/a.md": "inside @b.md", "w/b.md": "@a.md @./b.md", "w/out.md": "->../secret"})
	dir := filepath.Join(top, "w")
	f.Fuzz(func(t *testing.T, text string) {
		l := New(Config{Total: 1 << 16}).loader()
		from := importer{dir: dir, within: boundaryAt(dir), chain: []string{filepath.Join(dir, "GEMINI.md")}}
		got := l.expand(text, from)
		listed := New(Config{Total: 1 << 16}).loader().followed(from.chain[0], text, from)
		for _, got := range []string{got, listed} {
			if strings.Contains(got, "CANARY") && !strings.Contains(text, "CANARY") {
				t.Errorf("%q becomes %q: from outside", text, got)
			}
			if utf8.ValidString(text) && !utf8.ValidString(got) {
				t.Errorf("%q becomes %q: torn", text, got)
			}
			if len(got) > len(text)+1<<18 {
				t.Errorf("%q becomes %d bytes", text, len(got))
			}
		}
		if !strings.Contains(listed, text) {
			t.Errorf("%q becomes %q: changed", text, listed)
		}
		code := codeIn(text)
		for r := range references(text) {
			for _, c := range code {
				if c.start <= r.at && r.at < c.end {
					t.Errorf("references(%q): %+v is code", text, r)
				}
			}
			for i, name := range r.names {
				is := strings.ReplaceAll(text[r.at:r.ends[i]], `\ `, " ")
				if is != "@"+name || strings.ContainsAny(name, "\t\r\n") {
					t.Errorf("references(%q): %q is %q", text, is, name)
				}
			}
		}
		if !strings.Contains(text, "@") && got != text {
			t.Errorf("expand(%q) = %q", text, got)
		}
	})
}
