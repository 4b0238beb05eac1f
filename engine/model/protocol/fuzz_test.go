package protocol

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"google.golang.org/genai"

	"gemline/engine"
)

// FuzzText gives a text to an Answer piece by piece. The Answer has the same text and no
// calls, or calls of known tools and no text; a thought in tags apart.
func FuzzText(f *testing.F) {
	for _, s := range []string{`<tool_call>{"name":"f","arguments":{"a":1}}</tool_call>`, "```json\n[{\"name\":\"f\",\"parameters\":{}}]\n```",
		`{"type":"function","function":{"name":"f","arguments":"{}"}}`, "<tool_call> is a tag", "```go\nfunc f() {}\n```", " \n{", `{"name":"g","args":{}}`,
		`[TOOL_CALLS]f[ARGS]{"a":1}[TOOL_CALLS]f{}`, "<tool_call>f<arg_key>a</arg_key><arg_value>1</arg_value></tool_call>", `{"name":"f","arguments":{}}; {"name":"f","arguments":{}}`,
		"<function=f></function></tool_call><tool_call><function=f></function></tool_call>", `<tool_call>{"name":"f","arguments":{}}`,
		"<function=f><parameter=a>1</parameter></function>", `[TOOL_CALLS][{"name":"f","arguments":{}}]`, "<think>\nhm</think>\n\nsaid", "<think></think><think>", " <thin"} {
		f.Add(s, 3)
	}
	tools := []Tool{{Name: "f"}}
	f.Fuzz(func(t *testing.T, s string, size int) {
		said, thought, calls, ends := "", "", 0, 0
		a := NewAnswer(&engine.Request{Model: "m"}, "p", tools, func(c *genai.GenerateContentResponse) error {
			if c.Candidates[0].FinishReason != "" {
				ends++
			}
			for _, p := range c.Candidates[0].Content.Parts {
				if p.Thought {
					thought += p.Text
				} else {
					said += p.Text
				}
				if p.FunctionCall != nil {
					if calls++; p.FunctionCall.Name != "f" || p.FunctionCall.Args == nil {
						t.Errorf("a call %+v", p.FunctionCall)
					}
				}
			}
			return nil
		})
		size = max(1, size%16)
		for rest := s; rest != ""; rest = rest[min(size, len(rest)):] {
			if err := a.Text(rest[:min(size, len(rest))]); err != nil {
				t.Fatal(err)
			}
		}
		if err := a.End(genai.FinishReasonStop); err != nil {
			t.Fatal(err)
		}
		thinks := ""
		if rest, ok := strings.CutPrefix(strings.TrimLeft(s, space), openThought); ok {
			thinks, s, _ = strings.Cut(strings.TrimLeft(rest, space), closeThought)
			s = strings.TrimLeft(s, space)
		}
		if thought != thinks {
			t.Errorf("%q is thought, not %q", thought, thinks)
		}
		whole := len(textCalls(s, tools))
		if ends != 1 || whole == 0 && (said != s || calls > 0) || whole > 0 && len(s) < 64<<10 && (calls != whole || said != "") {
			t.Errorf("%q became %q and %d calls, of %d", s, said, calls, whole)
		}
	})
}

// FuzzSchema cuts schemas: what is left is the schema of an object, and cutting it again
// changes nothing.
func FuzzSchema(f *testing.F) {
	for _, s := range []string{`{"type":"object","properties":{"pattern":{"type":"string","pattern":"a"}}}`, `{"anyOf":[{"type":"object"}]}`, `null`, `{}`, `[1]`, `true`,
		`{"$schema":"x","$defs":{"a":{"$id":"b"}},"required":["c"],"const":1e400}`} {
		f.Add([]byte(s))
	}
	cut := Cut{Keywords: []string{"pattern", "format"}, Top: []string{"anyOf", "oneOf", "allOf"}}
	f.Fuzz(func(t *testing.T, b []byte) {
		if !json.Valid(b) {
			return
		}
		once, err := cut.Schema(json.RawMessage(b))
		if err != nil {
			return
		}
		var top map[string]json.RawMessage
		if err := json.Unmarshal(once, &top); err != nil || top["type"] == nil {
			t.Errorf("%s became %s: %v", b, once, err)
		}
		for _, key := range append([]string{"pattern", "format", "$schema"}, cut.Top...) {
			if _, has := top[key]; has {
				t.Errorf("%s became %s", b, once)
			}
		}
		if twice, err := cut.Schema(once); err != nil || string(twice) != string(once) {
			t.Errorf("%s became %s, and then %s: %v", b, once, twice, err)
		}
	})
}

// FuzzID makes ids that servers take, the same each time, and leaves its own ones alone.
func FuzzID(f *testing.F) {
	forms := map[string]*regexp.Regexp{"": regexp.MustCompile(`^[A-Za-z0-9_-]{1,40}$`), "9": regexp.MustCompile(`^[A-Za-z0-9]{9}$`)}
	for _, s := range []string{"", "call-1", "abcDEF123", strings.Repeat("x", 70), "é", "a b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, id string) {
		for form, takes := range forms {
			made := ID(id, form)
			if !takes.MatchString(made) || ID(id, form) != made || ID(made, form) != made || takes.MatchString(id) && made != id {
				t.Errorf("%q became %q by the form %q", id, made, form)
			}
		}
	})
}
