package output

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	et "gemline/engine/enginetest"
)

// invisible reports whether r must never reach a terminal, by Unicode's own lists:
// controls, what reorders, joins or shows nothing. Those that Unicode calls
// formats though they show are none of them.
func invisible(r rune) bool {
	if r == '\n' || r == '\t' || unicode.Is(unicode.Prepended_Concatenation_Mark, r) || r >= 0x13430 && r <= 0x1343f {
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point,
		unicode.Bidi_Control, unicode.Join_Control)
}

// Every character there is, or of those far out some: what is escaped is what Unicode says can't be seen.
func TestHidden(t *testing.T) {
	var b bytes.Buffer
	w := New(&b, Options{})
	for r := rune(0); r <= unicode.MaxRune; r++ {
		far := r >= 0x20000 && (r < 0xe0000 || r > 0xe1000)
		if !utf8.ValidRune(r) || far && r%61 > 0 && !et.Soak() {
			continue
		}
		s := string(r)
		look := unicode.Is(unicode.Variation_Selector, r)
		want := s
		if invisible(r) || look {
			want = spell(r)
		}
		b.Reset()
		w.Text(s)
		w.Fresh()
		if got := b.String(); got != strings.TrimSuffix(want, "\n")+"\n" {
			t.Errorf("a Writer shows %U as %q, not %q", r, got, want)
		}
		if unicode.Is(unicode.Zs, r) && r != ' ' {
			want = spell(r)
		}
		if got := Escape(s); got != want {
			t.Errorf("Escape shows %U as %q, not %q", r, got, want)
		}
		if r == '\n' || r == '\t' {
			want = spell(r)
		}
		if got := EscapeLine(s); got != want {
			t.Errorf("EscapeLine shows %U as %q, not %q", r, got, want)
		}
		want = s
		belongs := r < 0x7f || r == '\u200c' || r == '\u200d' || unicode.In(r, unicode.Zs) || r >= 0xfe00 && r <= 0xfe0f
		if (invisible(r) || look) && !belongs {
			want = spell(r)
		}
		if got := Visible(s); got != want {
			t.Errorf("Visible shows %U as %q, not %q", r, got, want)
		}
		for _, c := range toASCII(s) {
			if c > unicode.MaxASCII {
				t.Errorf("in ASCII %U is %q", r, toASCII(s))
			}
		}
	}
}

// spell is how a character is spelled that can't be shown.
func spell(r rune) string {
	if r < 0x80 {
		return `\x` + strconv.FormatInt(int64(r)+0x100, 16)[1:]
	}
	return `\u{` + strconv.FormatInt(int64(r), 16) + `}`
}

// written returns what a Writer makes of pieces.
func written(o Options, pieces ...string) string {
	var b bytes.Buffer
	w := New(&b, o)
	for _, p := range pieces {
		w.Text(p)
	}
	w.Fresh()
	return b.String()
}

// reference is what a Writer has to make of a text, said all at once.
func reference(text string, o Options) string {
	var b strings.Builder
	if text = strings.ReplaceAll(text, "\r\n", "\n"); text == "" {
		return ""
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		shown, _ := shown(line, '\n', o)
		if ours(shown, o.Words) {
			b.WriteString("| ")
		}
		b.WriteString(shown + "\n")
	}
	return b.String()
}

// shown is what is shown of text within a line, behind a character. It returns
// the last one, too.
func shown(text string, before rune, o Options) (string, rune) {
	var b strings.Builder
	for i, r := range text {
		_, n := utf8.DecodeRuneInString(text[i:])
		next, _ := utf8.DecodeRuneInString(text[i+n:])
		if next == utf8.RuneError {
			next = endOfText
		}
		switch {
		case r == utf8.RuneError && n == 1:
			b.WriteString(`\x` + strconv.FormatInt(int64(text[i]), 16))
			r = 0
		case (invisible(r) || unicode.Is(unicode.Variation_Selector, r)) && !placed(before, r, next):
			b.WriteString(spell(r))
			r = 0
		case o.ASCII:
			b.WriteString(toASCII(string(r)))
		default:
			b.WriteRune(r)
		}
		before = r
	}
	return b.String(), before
}

// ours reports whether a line begins like one of the program's own.
func ours(line string, words Words) bool {
	line = strings.ReplaceAll(line, "\u00ad", "")
	line = strings.ToLower(strings.Map(func(r rune) rune {
		if r > unicode.MaxASCII { // whose small letters may be plain ones
			return 'é'
		}
		return r
	}, line))
	for _, l := range Labels() {
		if strings.HasPrefix(line, string(l)+":") || words[l] != "" && strings.HasPrefix(line, strings.ToLower(words[l])+":") {
			return true
		}
	}
	return strings.HasPrefix(line, "> ") || strings.HasPrefix(line, "! ") ||
		slices.ContainsFunc(Choices, func(c string) bool { return strings.HasPrefix(line, c) })
}

// meant undoes escapes: it returns the text that was shown, as far as escapes
// tell.
func meant(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		n, r := 1, rune(-1)
		if strings.HasPrefix(s, `\x`) && len(s) >= 4 {
			if c, err := strconv.ParseUint(s[2:4], 16, 8); err == nil {
				b.WriteByte(byte(c))
				s = s[4:]
				continue
			}
		}
		if rest, ok := strings.CutPrefix(s, `\u{`); ok {
			if digits, _, ok := strings.Cut(rest, "}"); ok {
				if c, err := strconv.ParseUint(digits, 16, 21); err == nil && len(digits) < 8 {
					n, r = len(`\u{}`)+len(digits), rune(c)
				}
			}
		}
		if r >= 0 {
			b.WriteRune(r)
		} else {
			b.WriteByte(s[0])
		}
		s = s[n:]
	}
	return b.String()
}

// bits are what hostile text is made of.
var bits = []string{"a", "b", "é", "日本", " ", "  ", "\t", "\n", "\n", "\n", "\r", "\r\n", "\x1b", "\x1b[2J", "\x1b]0;t\a", "\x00", "\a", "\b", "\x7f", "\u0085", "\u009b", "\xff", "\xc3", "\x80", "\xe2\x82", "\xf0\x9f\x98",
	"\u00a0", "\u00ad", "to\u00adol:", "1", "#\ufe0f\u20e3", "\u20e3", "👨\u200d👩", "\u200c", "ب", "ب\u200cه", "क\u094d", "\u200b", "\u200d", "\u202e", "\u2066", "\u2028", "\ufeff", "\u061c", "\u0600", "\U000e0041", "\u3164", "\u034f", "\ufe0f", "\ufe0e", "\ufe00", "\U000e0101", "⚠", "⚠\ufe0f", "⚠\n\ufe0f", "⚠\xc3", "↔", "※", "★", "…", "“", "─", "é\u0301", "😀",
	`\`, `\x1b`, `\u{202e}`, `\x`, `\u{`, "}", "| ", "|", "tool", "tool:", "Tool: ", "ERROR: x", "permission:", "err", "or:", "warn", "ing: ", "> ", ">", "! ", "!", "y n", " a ", "y n ?", "w ", "y", ":", "gem", "ini: ", "K: ", "\u212a", "Werkz", "eug:", "WERKZEUG: "}

// scrawl makes a text of them.
func scrawl(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(9) {
		if r.IntN(20) == 0 {
			b.WriteByte(byte(r.IntN(256)))
		} else {
			b.WriteString(bits[r.IntN(len(bits))])
		}
	}
	return b.String()
}

// cut cuts a text anywhere.
func cut(r *rand.Rand, s string) (pieces []string) {
	for len(s) > 0 {
		n := 1 + r.IntN(len(s))
		pieces, s = append(pieces, s[:n]), s[n:]
	}
	return pieces
}

// Whatever the text, and however it is cut: it is shown as the reference says,
// nothing in it acts on a terminal, what is shown is shown the same again, and
// says what the text was.
func TestRandom(t *testing.T) {
	n := et.Rounds(30_000, 10_000_000)
	if testing.Short() && !et.Soak() {
		n /= 10
	}
	r := et.Random(t, 7)
	all := []Options{{}, {}, {}, {ASCII: true}, {Words: Words{Tool: "Werkzeug", Failure: "k"}}}
	for range n {
		in, o := scrawl(r), all[r.IntN(len(all))]
		pieces := cut(r, in)
		got := written(o, pieces...)
		if want := reference(in, o); got != want {
			t.Fatalf("%+v: %q in pieces %q\n is %q,\nnot %q", o, in, pieces, got, want)
		}
		if bad := strings.IndexFunc(got, func(r rune) bool { return invisible(r) && !waits(r) || r < 0x20 && r != '\n' && r != '\t' || r == 0x7f }); bad >= 0 || !utf8.ValidString(got) {
			t.Fatalf("%q is %q", in, got)
		}
		if again := written(o, got); again != got {
			t.Fatalf("%q is %q, and that is %q", in, got, again)
		}
		if want := strings.ReplaceAll(in, "\r\n", "\n"); !o.ASCII && meant(unquoted(got, o)) != meant(unquoted(whole(want), o)) {
			t.Fatalf("%q says %q", in, meant(unquoted(got, o)))
		}
		for name, f := range map[string]func(string) string{"Escape": Escape, "EscapeLine": EscapeLine, "Visible": Visible} {
			once := f(in)
			if f(once) != once {
				t.Fatalf("%s: %q is %q, and that is %q", name, in, once, f(once))
			}
			if name != "Visible" && meant(once) != meant(in) {
				t.Fatalf("%s: %q says %q", name, once, meant(once))
			}
			if !strings.Contains(in, `\`) && name != "Visible" && meant(once) != in {
				t.Fatalf("%s: %q says %q", name, once, meant(once))
			}
		}
	}
	t.Logf("sanitiser: %d texts, none shown wrongly", n)
}

// whole returns a text with its last line ended.
func whole(s string) string {
	if s == "" || strings.HasSuffix(s, "\n") {
		return s
	}
	return s + "\n"
}

// unquoted takes away what sets off lines of outside text that begin like the
// program's own.
func unquoted(s string, o Options) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		if rest, quoted := strings.CutPrefix(line, "| "); quoted {
			if is, _ := shown(rest, ' ', o); ours(is, o.Words) {
				line = rest
			}
		}
		b.WriteString(line)
	}
	return b.String()
}
