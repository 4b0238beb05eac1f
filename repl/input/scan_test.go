package input

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestRefs(t *testing.T) {
	type found struct{ Text, Name string }
	tests := []struct {
		text string
		want []found
	}{
		{"", nil},
		{"no reference", nil},
		{"@", nil},
		{"a @ b", nil},
		{"@a.txt", []found{{"@a.txt", "a.txt"}}},
		{`see (@my\ file.txt), and @src plus @nothere.`, []found{{`@my\ file.txt`, "my file.txt"}, {"@src", "src"}, {"@nothere", "nothere"}}},
		{`@"my file.txt" there`, []found{{`@"my file.txt"`, "my file.txt"}}},
		{`@"no end`, []found{{`@"no`, `"no`}}},
		{"@a.txt.", []found{{"@a.txt", "a.txt"}}},
		{"@a.txt. And", []found{{"@a.txt", "a.txt"}}},
		{"@.hidden", []found{{"@.hidden", ".hidden"}}},
		{"@..", []found{{"@.", "."}}},
		{"@../up", []found{{"@../up", "../up"}}},
		{"@a,@b;@c!@d?@e", []found{{"@a", "a"}, {"@b", "b"}, {"@c", "c"}, {"@d", "d"}, {"@e", "e"}}},
		{"[@a]{@b}(@c)", []found{{"@a", "a"}, {"@b", "b"}, {"@c", "c"}}},
		{`\@a`, nil},
		{`\@a @b`, []found{{"@b", "b"}}},
		{"user@host.txt", []found{{"@host.txt", "host.txt"}}},
		{"@a\n@b\r\n@c\t@d", []found{{"@a", "a"}, {"@b", "b"}, {"@c", "c"}, {"@d", "d"}}},
		{"@a@b", []found{{"@a@b", "a@b"}}},
		{`@a\`, []found{{`@a\`, `a\`}}},
		{`@a\,b`, []found{{`@a\,b`, "a,b"}}},
		{"!{cat @a} @b", []found{{"@b", "b"}}},
		{"@a!{x @b} @c", []found{{"@a", "a"}, {"@c", "c"}}},
		{"!{no end @a", []found{{"@a", "a"}}},
		{"\u00fc@\u00e9t\u00e9.md", []found{{"@\u00e9t\u00e9.md", "\u00e9t\u00e9.md"}}},
	}
	for _, test := range tests {
		var got []found
		for _, r := range refs(test.text) {
			got = append(got, found{test.text[r.start:r.end], r.Name})
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%q:\n%s", test.text, diff)
		}
	}
}

func TestBracesScan(t *testing.T) {
	tests := []struct {
		text string
		want []string
		bad  bool
	}{
		{"", nil, false},
		{"a!b {c}", nil, false},
		{"!{ls}", []string{"ls"}, false},
		{"a !{ ls -l } b !{pwd}", []string{"ls -l", "pwd"}, false},
		{"!{awk '{print $1}' f}", []string{"awk '{print $1}' f"}, false},
		{"!{echo !{x}}", []string{"echo !{x}"}, false},
		{"!{}", nil, false},
		{"!{ }", nil, false},
		{`\!{ls}`, nil, false},
		{"!{ls", nil, true},
		{"!{a {b}", nil, true},
		{`\!{ls`, nil, false},
		{"!{ls}}", []string{"ls"}, false},
	}
	for _, test := range tests {
		spans, err := braces(test.text)
		var got []string
		for _, s := range spans {
			got = append(got, s.command)
		}
		if (err != nil) != test.bad || !cmp.Equal(test.want, got) {
			t.Errorf("%q: %q, %v", test.text, got, err)
		}
	}
}

// References lie in the text, in order and apart, each begins with its @, and
// none in a command.
func FuzzScan(f *testing.F) {
	for _, s := range []string{"@a !{b} @c", `\@a @"b c" @d\ e`, "!{{}", "@\"", "@\\", "\xff@\xff", "@a!{@b}", `\!{a} !{b}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		spans, err := braces(s)
		at := 0
		for _, sp := range spans {
			if sp.start < at || sp.end > len(s) || sp.start > 0 && s[sp.start-1] == '\\' || !strings.HasPrefix(s[sp.start:], "!{") || s[sp.end-1] != '}' || sp.command == "" {
				t.Fatalf("%q: span %+v", s, sp)
			}
			if strings.Count(s[sp.start:sp.end], "{") != strings.Count(s[sp.start:sp.end], "}") {
				t.Fatalf("%q: unbalanced %+v", s, sp)
			}
			at = sp.end
		}
		if err != nil && !strings.Contains(s, "!{") {
			t.Fatalf("%q: %v", s, err)
		}
		at = 0
		for _, r := range refs(s) {
			if r.start < at || r.end > len(s) || s[r.start] != '@' || r.Name == "" {
				t.Fatalf("%q: ref %+v", s, r)
			}
			if utf8.ValidString(s) && !utf8.ValidString(s[r.start:r.end]) {
				t.Fatalf("%q: ref %+v cuts a character", s, r)
			}
			for _, sp := range spans {
				if r.start < sp.end && r.end > sp.start {
					t.Fatalf("%q: ref %+v in %+v", s, r, sp)
				}
			}
			at = r.end
		}
	})
}
