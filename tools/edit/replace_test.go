package edit

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestReplace(t *testing.T) {
	const fn = "func f() {\n\tif x {\n\t\ty()\n\t}\n}\n"
	for _, test := range []struct {
		name               string
		content, old, with string
		all                bool
		want               Result
	}{
		// Exact.
		{"one", "a b c\n", "b", "B", false, Result{"a B c\n", 1, Exact, []Range{{1, 1}}}},
		{"nothing to find", "a\n", "", "b", false, Result{Text: "a\n"}},
		{"in nothing", "", "a", "b", false, Result{}},
		{"twice", "a\na\n", "a", "b", false, Result{"a\na\n", 2, Exact, []Range{{1, 2}}}},
		{"all", "a\nx\na\n", "a", "b", true, Result{"b\nx\nb\n", 2, Exact, []Range{{1, 1}, {3, 3}}}},
		{"without overlap", "aaaa", "aa", "b", true, Result{"bb", 2, Exact, []Range{{1, 1}}}},
		{"dollar signs are literal", "price\n", "price", "$1 $& $$ ${x} \\1", false, Result{"$1 $& $$ ${x} \\1\n", 1, Exact, []Range{{1, 1}}}},
		{"metacharacters are literal", "a.*b(c)[d]\n", ".*b(c)[d]", "+", false, Result{"a+\n", 1, Exact, []Range{{1, 1}}}},
		{"not a pattern", "axxb\n", "a.*b", "+", false, Result{Text: "axxb\n"}},
		{"lines", fn, "\tif x {\n\t\ty()\n\t}\n", "\ty()\n", false, Result{"func f() {\n\ty()\n}\n", 1, Exact, []Range{{2, 4}}}},
		{"removed", fn, "\tif x {\n\t\ty()\n\t}\n", "", false, Result{"func f() {\n}\n", 1, Exact, []Range{{2, 4}}}},
		{"identical", "a\n", "a", "a", false, Result{"a\n", 1, Exact, []Range{{1, 1}}}},
		{"unicode", "grüße 世界 🙂\n", "世界", "welt", false, Result{"grüße welt 🙂\n", 1, Exact, []Range{{1, 1}}}},
		{"not the same after composing", "e\u0301\n", "\u00e9", "e", false, Result{Text: "e\u0301\n"}},
		{"invalid text", "a\xff\xfeb\n", "\xfe", "x", false, Result{"a\xffxb\n", 1, Exact, []Range{{1, 1}}}},

		// The final newline.
		{"kept", "a\nb\n", "b\n", "c", false, Result{"a\nc\n", 1, Exact, []Range{{2, 2}}}},
		{"not added", "a\nb", "b", "c\n", false, Result{"a\nc", 1, Exact, []Range{{2, 2}}}},
		{"last line removed", "a\nb", "b", "", false, Result{"a", 1, Exact, []Range{{2, 2}}}},
		{"all removed", "a\n", "a\n", "", false, Result{"", 1, Exact, []Range{{1, 1}}}},
		{"kept as CRLF", "a\r\nb\r\n", "b\r\n", "c", false, Result{"a\r\nc\r\n", 1, Exact, []Range{{2, 2}}}},

		// Line endings.
		{"CRLF", "a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz", false, Result{"x\r\ny\r\nz\r\nc\r\n", 1, Exact, []Range{{1, 2}}}},
		{"CRLF on both sides", "a\r\nb\r\n", "a\r\nb", "x\r\ny", false, Result{"x\r\ny\r\n", 1, Exact, []Range{{1, 2}}}},
		{"CRLF into LF", "a\nb\n", "a\r\nb", "x\r\ny", false, Result{"x\ny\n", 1, Exact, []Range{{1, 2}}}},
		{"lone CR is text", "a\rb\n", "a\rb", "c\rd", false, Result{"c\rd\n", 1, Exact, []Range{{1, 1}}}},
		{"mixed, elsewhere", "a\r\nb\nc\r\nd\n", "c", "C", false, Result{"a\r\nb\nC\r\nd\n", 1, Exact, []Range{{3, 3}}}},
		{"mixed, each as before", "a\r\nb\nc\r\nd\n", "a\nb\nc\n", "A\nB\nC\n", false, Result{"A\r\nB\nC\r\nd\n", 1, Exact, []Range{{1, 3}}}},
		{"mixed, unchanged line between", "a\r\nb\nc\r\nd\n", "a\nb\nc", "a\nX\nb\nc", false, Result{"a\r\nX\nb\nc\r\nd\n", 1, Exact, []Range{{1, 3}}}},
		{"mixed, line split", "a\r\nbb\r\nc\n", "bb", "b\nb", false, Result{"a\r\nb\r\nb\r\nc\n", 1, Exact, []Range{{2, 2}}}},
		{"mixed, last line split", "a\r\nb\r\nc\nd", "d", "d\ne", false, Result{"a\r\nb\r\nc\nd\r\ne", 1, Exact, []Range{{4, 4}}}},
		{"mixed, line joined", "a\r\nb\nc\r\n", "b\nc", "bc", false, Result{"a\r\nbc\r\n", 1, Exact, []Range{{2, 3}}}},
		{"mixed, all", "x\r\na\nx\n", "x", "y\nz", true, Result{"y\r\nz\r\na\ny\nz\n", 2, Exact, []Range{{1, 1}, {3, 3}}}},

		// Flexible.
		{"one depth that means two", "ifdef A\n  X = 1\nendif\nall:\n\tls\n", "  X = 1\nendif\nall:\n  ls",
			"  X = 2\n  Y = 2\nendif\nall:\n  ls -l\n  pwd", false, Result{
				"ifdef A\n  X = 2\n  Y = 2\nendif\nall:\n\tls -l\n\tpwd\n", 1, Flexible, []Range{{2, 5}}}},
		{"indentation missing", fn, "if x {\ny()\n}", "if z {\n\ty()\n}", false,
			Result{"func f() {\n\tif z {\n\t\ty()\n\t}\n}\n", 1, Flexible, []Range{{2, 4}}}},
		{"spaces for tabs", fn, "    if x {\n        y()\n    }\n", "    if x {\n        z()\n    }\n", false,
			Result{"func f() {\n\tif x {\n\t\tz()\n\t}\n}\n", 1, Flexible, []Range{{2, 4}}}},
		{"trailing space", "a \nb\t\nc\n", "a\nb\n", "x\n", false, Result{"x\nc\n", 1, Flexible, []Range{{1, 2}}}},
		{"further left than the first line", fn, "  if x {\n    y()\n  }", "  if x {\n  y()\nz()\n  }", false,
			Result{"func f() {\n\tif x {\n\ty()\n\tz()\n\t}\n}\n", 1, Flexible, []Range{{2, 4}}}},
		{"blank lines emptied", "\ta\n\tb\n", "  a\n  b", "  a\n   \n  b", false, Result{"\ta\n\n\tb\n", 1, Flexible, []Range{{1, 2}}}},
		{"blank line first", "\n\ta\n\tb\n", "\n  a\n  b", "\n  c", false, Result{"\n\tc\n", 1, Flexible, []Range{{1, 3}}}},
		{"lines removed", "\ta\n\tb\nc\n", "  a\n  b", "", false, Result{"c\n", 1, Flexible, []Range{{1, 2}}}},
		{"made blank", "\ta\n\tb\nc\n", "  a\n  b\n", "\n", false, Result{"\nc\n", 1, Flexible, []Range{{1, 2}}}},
		{"more than one", "\ta\n\tb\n\ta\n\tb\n", "  a\n  b", "c", false, Result{"\ta\n\tb\n\ta\n\tb\n", 2, Flexible, []Range{{1, 4}}}},
		{"all of them", "\ta\n\tb\n\t\ta\n\t\tb\n", "  a\n  b", "  c\n  d", true, Result{"\tc\n\td\n\t\tc\n\t\td\n", 2, Flexible, []Range{{1, 4}}}},
		{"overlapping windows", "\ta\n\ta\n\ta\n", "  a\n  a", "b", false, Result{"\tb\n\ta\n", 1, Flexible, []Range{{1, 2}}}},
		{"no final newline", "\ta\n\tb", "  a\n  b", "  c", false, Result{"\tc", 1, Flexible, []Range{{1, 2}}}},
		{"no final newline, quoted with one", "\ta\n\tb", "  a\n  b\n", "  c\n", false, Result{"\tc", 1, Flexible, []Range{{1, 2}}}},
		{"in CRLF", "\ta\r\n\tb\r\n", "  a\n  b", "  c\n  d", false, Result{"\tc\r\n\td\r\n", 1, Flexible, []Range{{1, 2}}}},
		{"in mixed", "\ta\r\n\tb\n", "  a\n  b", "  c\n  d", false, Result{"\tc\r\n\td\n", 1, Flexible, []Range{{1, 2}}}},
		{"nothing but space", "a\n\nb\n", "   ", "x", false, Result{Text: "a\n\nb\n"}},
		{"dollar signs in lines", "\ta\n\tb\n", "  a\n  b", "  $1\n  $&", false, Result{"\t$1\n\t$&\n", 1, Flexible, []Range{{1, 2}}}},

		// Regex.
		{"space within the line", "\tf(a,b)\n", "f( a, b )", "g(a, b)", false, Result{"\tg(a, b)\n", 1, Regex, []Range{{1, 1}}}},
		{"over line ends", "  f(\n    a,\n    b)\n", "f(a, b)", "g(a, b)", false, Result{"  g(a, b)\n", 1, Regex, []Range{{1, 3}}}},
		{"one line as more", "x = f(a, b)\n", "x = f(\n  a,\n  b\n)\n", "x = 1\n", false, Result{"x = 1\n", 1, Regex, []Range{{1, 1}}}},
		{"the rest of the line stays", "if(a==b){ c }\n", "if (a == b) {", "if (a != b) {", false, Result{"if (a != b) { c }\n", 1, Regex, []Range{{1, 1}}}},
		{"whole line removed", "a\nf( x )\nb\n", "f(x)\n", "", false, Result{"a\nb\n", 1, Regex, []Range{{2, 2}}}},
		{"whole line with space behind", "a\nf( x ) \t\nb\n", "f(x)\n", "g\n", false, Result{"a\ng\nb\n", 1, Regex, []Range{{2, 2}}}},
		{"counts all", "f(a)\nf(a)\n", "f( a )", "g", false, Result{"f(a)\nf(a)\n", 2, Regex, []Range{{1, 2}}}},
		{"replaces all", "f(a)\n\tf(a)\n", "f( a )\n", "g\n", true, Result{"g\n\tg\n", 2, Regex, []Range{{1, 2}}}},
		{"only from a line's beginning", "x f(a)\n", "f( a )", "g", false, Result{Text: "x f(a)\n"}},
		{"metacharacters in words", "a.b(*c)+d?\n", "a.b( *c )+d?", "e", false, Result{"e\n", 1, Regex, []Range{{1, 1}}}},
		{"dollar signs in words", "f(a)\n", "f( a )", "$1$2$`", false, Result{"$1$2$`\n", 1, Regex, []Range{{1, 1}}}},
		{"in a last line without end", "f(a)", "f( a )\n", "g(a)\n", false, Result{"g(a)", 1, Regex, []Range{{1, 1}}}},
		{"in lines with CRLF", "x\r\nf(a)\r\n", "f( a )\n", "g(\na)\n", false, Result{"x\r\ng(\r\na)\r\n", 1, Regex, []Range{{2, 2}}}},

		// Fuzzy.
		{"a letter", "\tcounter.increment(value)\n\tnext\n", "counter.incremant(value)\n", "counter.add(value)\n", false,
			Result{"\tcounter.add(value)\n\tnext\n", 1, Fuzzy, []Range{{1, 1}}}},
		{"too short", "a bcd ef\n", "ab cd ef", "y", false, Result{Text: "a bcd ef\n"}},
		{"just long enough", "a bcd efghi\n", "ab cd efghi", "y", false, Result{"y\n", 1, Fuzzy, []Range{{1, 1}}}},
		{"best of those that overlap", "the line number q\nthe line number x\nthe line number z\n", "the line number x\nthe line number y", "w", false,
			Result{"the line number q\nw\n", 1, Fuzzy, []Range{{2, 3}}}},
		{"too different", "counter.increment(value)\n", "counter.decrement(values)", "y", false, Result{Text: "counter.increment(value)\n"}},
		{"two places", "the first line here\nthe first line here!\n", "the first line herr!", "x", false,
			Result{"the first line here\nthe first line here!\n", 2, Fuzzy, []Range{{1, 2}}}},
		{"a word in two lines", "alpha beta gamma\ndelta epsilon\nzeta\n", "alpha beta gama\ndelta epsilon", "x\ny", false,
			Result{"x\ny\nzeta\n", 1, Fuzzy, []Range{{1, 2}}}},
		{"space weighs little", "one   two   three   four\tx five\n", "one two three four x fivee", "y", false,
			Result{"y\n", 1, Fuzzy, []Range{{1, 1}}}},
		{"fuzzy without a final newline", "alpha beta gamma", "alpha beta gama", "x\n", false, Result{"x", 1, Fuzzy, []Range{{1, 1}}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := Replace(test.content, test.old, test.with, test.all)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(test.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// What a forgiving edit writes is as the rest of the file: its unit of indentation, and its
// kinds of quotation marks, dashes and blanks.
func TestReplaceInTheFilesOwnWay(t *testing.T) {
	for _, test := range []struct {
		name, content, old, with, want string
		by                             Strategy
	}{
		{"tabs", "def f():\n\tif x:\n\t\treturn 1\n", "    if x:\n        return 1", "    if x:\n        return 2", "def f():\n\tif x:\n\t\treturn 2\n", Flexible},
		{"tabs, deeper", "def f():\n\tif x:\n\t\treturn 1\n", "    if x:\n        return 1", "    if x:\n        if y:\n            return 2", "def f():\n\tif x:\n\t\tif y:\n\t\t\treturn 2\n", Flexible},
		{"tabs, one line becomes more", "def f():\n\tif x:\n\t\treturn 1\n", "        return 1", "        if y:\n          return 1", "def f():\n\tif x:\n\t\tif y:\n\t\t\treturn 1\n", Flexible},
		{"tabs, two spaces a level", "a {\n\tb {\n\t\tc\n\t}\n}\n", "  b {\n    c\n  }", "  b {\n    d {\n      e\n    }\n  }", "a {\n\tb {\n\t\td {\n\t\t\te\n\t\t}\n\t}\n}\n", Flexible},
		{"makefile", "all: x\n\tgo build\n\tgo vet\n", "    go build\n    go vet", "    go build\n    go test\n    go vet", "all: x\n\tgo build\n\tgo test\n\tgo vet\n", Flexible},
		{"aligned behind tabs", "\tf(a,\n\t  b)\n\tg()\n", "    f(a,\n      b)\n    g()", "    f(a,\n      c)\n    g()", "\tf(a,\n\t  c)\n\tg()\n", Flexible},
		{"spaces for tabs from the model", "a:\n    b:\n        c\n", "\tb:\n\t\tc", "\tb:\n\t\td:\n\t\t\te", "a:\n    b:\n        d:\n            e\n", Flexible},
		{"two for four", "a:\n  b:\n    c\n", "    b:\n        c", "    b:\n        d:\n            e", "a:\n  b:\n    d:\n      e\n", Flexible},
		{"in CRLF", "a\r\n\tb\r\n\t\tc\r\n", "    b\n        c", "    b\n        d", "a\r\n\tb\r\n\t\td\r\n", Flexible},
		{"words", "x\n\tf(a,b)\n", "f( a, b )", "if y {\n    g(a)\n}", "x\n\tif y {\n\t\tg(a)\n\t}\n", Regex},
		{"near miss", "x\n\tcounter.increment(value)\n", "    counter.incremant(value)", "    if y {\n        counter.add(value)\n    }", "x\n\tif y {\n\t\tcounter.add(value)\n\t}\n", Fuzzy},

		{"curly marks in the file", "He said \u201chello\u201d to \u2018us\u2019.\n", `said "hello" to`, `said "hello, you" to`, "He said \u201chello, you\u201d to \u2018us\u2019.\n", Kinds},
		{"apostrophe", "it\u2019s one\n", "it's one", "it's two", "it\u2019s two\n", Kinds},
		{"straight marks in the file", `say("a", 'b')` + "\n", "say(\u201ca\u201d, \u2018b\u2019)", "say(\u201cc\u201d, \u2018b\u2019)", `say("c", 'b')` + "\n", Kinds},
		{"new marks are those of the model", "a \u201cb\u201d\n", `a "b"`, `a "b" and "c"`, "a \u201cb\u201d and \"c\"\n", Kinds},
		{"a dash", "from 1\u20132 \u2014 or\n", "from 1-2 - or", "from 1-3 - or", "from 1\u20133 \u2014 or\n", Kinds},
		{"a dash that is meant", "1\u20132\n", "1-2", "1\u20142", "1\u20142\n", Kinds},
		{"a blank that does not break", "10\u00a0km, \u00ab\u202fx\u202f\u00bb\n", "10 km, \u00ab x \u00bb", "12 km, \u00ab x \u00bb", "12\u00a0km, \u00ab\u202fx\u202f\u00bb\n", Kinds},
		{"in lines of another depth", "\ta(\u201cx\u201d)\n\tb()\n", "  a(\"x\")\n  b()", "  a(\"y\")\n  c()", "\ta(\u201cy\u201d)\n\tc()\n", Kinds},
		{"of both kinds in the file", "\u201ca\u201d \"a\" b\n", `"a" "a" b`, `"a" "a" c`, "\u201ca\u201d \"a\" c\n", Kinds},
		{"behind letters of several bytes", "\u00e4\u4e16 \u201cx\u201d \u00f6\n", `"x"`, `"y"`, "\u00e4\u4e16 \u201cy\u201d \u00f6\n", Kinds},
		{"as it stands in the file", "\u201ca\u201d \"a\"\n", `"a"`, `"b"`, "\u201ca\u201d \"b\"\n", Exact},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := Replace(test.content, test.old, test.with, false)
			if err != nil || got.Text != test.want || got.Strategy != test.by || got.Count != 1 {
				t.Errorf("got %q, %d by %s, %v; want %q", got.Text, got.Count, got.Strategy, err, test.want)
			}
		})
	}
}

func FuzzReplace(f *testing.F) {
	f.Add("a\r\nb\n", "a", "b\nc", true)
	f.Add("func f( a ) {\n\n}", "func f(a){}", "$1", false)
	f.Add("the first line here\nthe first line here!\n", "the first lime here", "x\n", true)
	f.Add("\u201ca\u201d \xff\u00a0b\n\t\u2014c\n", "\"a\"", "'b'\n    c", true)
	f.Add("\ta\n\tb\r\n\xff", "  a\n  b\n", "", false)
	f.Fuzz(func(t *testing.T, content, old, with string, all bool) {
		got, err := Replace(content, old, with, all)
		if err != nil {
			t.Fatal(err)
		}
		changed := got.Count == 1 || got.Count > 1 && all
		if !changed && got.Text != content {
			t.Fatalf("found %d, yet changed: %q", got.Count, got.Text)
		}
		if got.Text != "" && content != "" && strings.HasSuffix(got.Text, "\n") != strings.HasSuffix(content, "\n") {
			t.Errorf("final newline not as it was: %q", got.Text)
		}
		if !strings.Contains(content+old+with, "\r") && old != "" {
			if n := strings.Count(content, old); n > 0 && (got.Strategy != Exact || got.Count != n) {
				t.Errorf("found %d by %s; want %d", got.Count, got.Strategy, n)
			}
			if want := strings.ReplaceAll(content, old, with); got.Strategy == Exact && changed &&
				strings.TrimRight(got.Text, "\n") != strings.TrimRight(want, "\n") {
				t.Errorf("got %q; want %q", got.Text, want)
			}
		}
		if crlf := countEndings(content); changed && crlf.lf == 0 && crlf.crlf > 0 && countEndings(got.Text).lf > 0 {
			t.Errorf("LF among CRLF: %q", got.Text)
		}
		for i, r := range got.Lines {
			if r.First < 1 || r.Last < r.First || i > 0 && r.First <= got.Lines[i-1].Last {
				t.Errorf("ranges %v", got.Lines)
			}
		}
	})
}

// Mixed endings stay as they are outside the lines of an edit, wherever it is.
func TestMixedEndingsStayOutsideTheEdit(t *testing.T) {
	lines := []string{"a\r\n", "b\n", "c\n", "d\r\n", "e\r\n", "f\n", "g"}
	content := strings.Join(lines, "")
	for first := range lines {
		for last := first; last < len(lines); last++ {
			for _, with := range []string{"", "X", "X\n", "X\nY\n", "X\nY\nZ\nW\nV\nU\n"} {
				old := strings.Join(lines[first:last+1], "")
				got, err := Replace(content, old, with, false)
				if err != nil || got.Strategy != Exact {
					t.Fatalf("%v by %s", err, got.Strategy)
				}
				before, after := strings.Join(lines[:first], ""), strings.Join(lines[last+1:], "")
				if !strings.HasPrefix(got.Text, before) && !strings.HasPrefix(before, got.Text) || !strings.HasSuffix(got.Text, after) {
					t.Errorf("%q by %q: %q", old, with, got.Text)
				}
			}
		}
	}
}

func TestKeepEndings(t *testing.T) {
	for _, test := range []struct{ name, old, text, want string }{
		{"LF", "a\nb\n", "a\r\nc\n", "a\nc\n"},
		{"CRLF", "a\r\nb\r\n", "a\nc\r\nd", "a\r\nc\r\nd"},
		{"one line says nothing", "a", "a\r\nb\n", "a\r\nb\n"},
		{"nothing says nothing", "", "a\r\nb\n", "a\r\nb\n"},
		{"mixed", "a\r\nb\nc\r\nd\n", "a\nX\nb\nc\nY\n", "a\r\nX\nb\nc\r\nY\n"},
		{"mixed, mostly CRLF", "a\r\nb\nc\r\n", "0\na\nb\nc\n9\n", "0\r\na\r\nb\nc\r\n9\r\n"},
		{"mixed, last line gets an end", "a\r\nb\nc", "a\nb\nc\n", "a\r\nb\nc\n"},
		{"mixed, line removed", "a\r\nb\nc\r\nd\n", "a\nc\nd\n", "a\r\nc\r\nd\n"},
		{"mixed, emptied", "a\r\nb\n", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := KeepEndings(test.old, test.text); got != test.want {
				t.Errorf("got %q; want %q", got, test.want)
			}
		})
	}
}

// TestHostileInput gives every function what it finds hardest. The limit is
// far above what they need, and far below what going through it all would take.
func TestHostileInput(t *testing.T) {
	big := func(s string, size int) string { return strings.Repeat(s, max(1, size/scale/len(s))) }
	as := big("a", 10<<20)
	same, lines := big("a\n", 200_000), big("some line of a text\n", 2<<20)
	for _, test := range []struct {
		name               string
		content, old, with string
	}{
		{"one long line", as, as[:len(as)/2] + "b", "c"},
		{"one long line as itself", as, as, "c"},
		{"ten million matches", as, "a", "b"},
		{"words over and over", big("a ", 4<<20), big("a\t", 2<<20) + "b", "c"},
		{"words on lines", big("a\n", 4<<20), big("a ", 1<<20) + "b", "c"},
		{"brackets", big("(\n", 2<<20), big("( ", 1<<20) + ")", "c"},
		{"lines over and over", same, same[:len(same)/2] + "b\na", "c"},
		{"nearly everywhere", lines, "some line of a texd", "c"},
		{"nearly everywhere, long", lines, big("some line of a text\n", 1000) + "x", "c"},
		{"signs that stand apart", big("x"+strings.Repeat(" a", 66)+"\n", 20_000*134), "x" + strings.Repeat("a", 133), "c"},
		{"space only", big("a"+strings.Repeat(" ", 100)+"b\n", 10_000*103), "a" + strings.Repeat("\t", 98) + "bx", "c"},
		{"shifted", big("abcdefghij", 1<<20), big("bcdefghija", 1<<19), "c"},
		{"mixed endings", big("a\r\nb\n", 1<<20), "b", "c\nd"},
		{"indentations", indented(3000 / scale), "\ta\n", big("b\n", 1<<20)},
		{"newlines", big("\n", 2<<20), "x \n", "y"},
	} {
		t.Run(test.name, func(t *testing.T) {
			start := time.Now()
			got, err := Replace(test.content, test.old, test.with, true)
			if err != nil && err != ErrTooLarge {
				t.Fatal(err)
			}
			t.Logf("%d by %q, %v, %v", got.Count, got.Strategy, err, time.Since(start).Round(time.Millisecond))
			mid := time.Now()
			Diff("a", "b", test.content, got.Text)
			Snippet(test.content, got.Text)
			KeepEndings(test.content, got.Text)
			t.Logf("compared: %v", time.Since(mid).Round(time.Millisecond))
			if took := time.Since(start); took > time.Minute {
				t.Errorf("took %v", took)
			}
		})
	}
}

func indented(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i) + "a\n")
	}
	return b.String()
}

// What would take too long to count is not found at all.
func TestSearchGivesUp(t *testing.T) {
	find := func(n int) int {
		content := strings.Repeat("a\n", n) + "b\n" + strings.Repeat("a\n", 2*n)
		got, err := Replace(content, strings.Repeat("a ", n)+"b", "c", false)
		if err != nil {
			t.Fatal(err)
		}
		return got.Count
	}
	if few, many := find(100), find(10_000); few != 1 || many != 0 {
		t.Errorf("found %d and %d", few, many)
	}
}

func TestResultTooLarge(t *testing.T) {
	content := strings.Repeat("a", 10_000)
	got, err := Replace(content, "a", strings.Repeat("b", 10_000), true)
	if err != ErrTooLarge || got.Text != content || got.Count != 10_000 {
		t.Errorf("got %d bytes, %d found, %v", len(got.Text), got.Count, err)
	}
}
