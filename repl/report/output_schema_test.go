package report

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"gemline/engine"
	"gemline/engine/schema"
)

func anySchema(t testing.TB, text string) *schema.Schema {
	s, err := schema.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestValue(t *testing.T) {
	tests := []struct{ name, answer, want string }{
		{"bare", "{\n \"a\": 1.0}\n", `{"a":1.0}`},
		{"in a fence", "```json\n{\"a\": 1}\n```\n", `{"a":1}`},
		{"in a fence, with words around", "Here it is:\n```\n[1, 2]\n```\nAnything else?", `[1,2]`},
		{"a text that looks like a fence", "\"```\\n1\\n```\"", "\"```\\n1\\n```\""},
		{"two fences", "```\n1\n```\n```\n2\n```", ""},
		{"a fence that is open", "```json\n{\"a\": 1}", ""},
		{"words before", "The answer: {\"a\":1}", ""},
		{"two values", "{} {}", ""},
		{"nothing", "", ""},
		{"a name twice", `{"a":1,"a":1}`, ""},
	}
	for _, test := range tests {
		d := &OutputSchema{Schema: anySchema(t, `{}`)}
		d.observe(engine.Text{Delta: "forgotten"})
		d.observe(engine.RequestStarted{Number: 2})
		d.observe(engine.Text{Delta: "forgotten, too"})
		d.observe(engine.Retry{Restart: true})
		d.observe(engine.Text{Delta: test.answer})
		problems := d.take()
		if value, _ := d.met(); string(value) != test.want || (len(problems) == 0) != (test.want != "") {
			t.Errorf("%s: %s %q", test.name, value, problems)
		}
	}
}

// FuzzOutputSchema: whatever the model says, what is printed for it is the very value
// on a line of harmless characters, or nothing.
func FuzzOutputSchema(f *testing.F) {
	for _, s := range []string{`{"a":[1.50,"\u001b"]}`, "```json\n\"\u202e\x7f\u009b\U000e0041\"\n```", "``` go\na\x1b[2J\n```", "1 2", "~~~\n\xff\n", "\ufeff{}"} {
		f.Add(s, false)
		f.Add(s, true)
	}
	all := anySchema(f, `{}`)
	f.Fuzz(func(t *testing.T, answer string, code bool) {
		d := &OutputSchema{Schema: all}
		if code {
			d = &OutputSchema{}
		}
		b := newBench("text", func(r *Config) { r.Schema = d })
		d.observe(engine.Text{Delta: answer})
		b.Event(engine.Text{Delta: answer})
		var o Outcome
		if problems := d.take(); len(problems) > 0 {
			o.Err = d.unmet(problems)
		}
		b.Finish(o)
		out := b.out.String()
		if o.Err != nil {
			if out != "" || !strings.Contains(b.err.String(), "error: ") {
				t.Errorf("a failure prints %q and %q", out, b.err)
			}
			return
		}
		if i := strings.IndexFunc(out, func(r rune) bool {
			return unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r' || r == unicode.ReplacementChar && !strings.ContainsRune(answer, r)
		}); i >= 0 {
			t.Errorf("%q holds a control character", out)
		}
		if code {
			return
		}
		var got, want any
		value, _ := d.met()
		if err := json.Unmarshal([]byte(out), &got); err != nil || strings.Count(out, "\n") != 1 {
			t.Fatalf("%q: %v", out, err)
		}
		if json.Unmarshal(value, &want); !cmp.Equal(got, want) {
			t.Errorf("%q is not %q", out, value)
		}
	})
}
