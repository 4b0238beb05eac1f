package jsonc

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/tailscale/hujson"
)

// spaced makes the blanks of a table visible: > is a tab, $ a carriage return.
var spaced = strings.NewReplacer(">", "\t", "$", "\r")

func TestSet(t *testing.T) {
	for _, c := range []struct {
		name, text, path string
		value            any
		want             string
	}{
		{"an empty file", "", "a", 1, "{\n  \"a\": 1\n}\n"},
		{"blanks", " \n\n", "a.b", "x", "{\n  \"a\": {\n    \"b\": \"x\"\n  }\n}\n"},
		{"an empty object", "{}", "a", true, "{\n  \"a\": true\n}"},
		{"an empty object with a blank", "{ }\n", "a", true, "{\n  \"a\": true\n}\n"},
		{"an empty object on two lines", "{\n}\n", "a", true, "{\n  \"a\": true\n}\n"},
		{"an empty object on two lines, CRLF", "{$\n}$\n", "a", true, "{$\n  \"a\": true$\n}$\n"},
		{"nothing but a comment", "{\n>// mine \n}\n", "a", 1, "{\n>// mine \n  \"a\": 1\n}\n"},
		{"nothing but a comment on one line", "{ /* mine */ }", "a", 1, `{ /* mine */ "a": 1 }`},
		{"nothing but a comment before the brace", "{\n  /* mine */ }", "a", 1, "{\n  /* mine */\n  \"a\": 1 }"},

		{"another scalar", "{\n  \"a\": 1, // one\n  \"b\": 2\n}\n", "a", "x", "{\n  \"a\": \"x\", // one\n  \"b\": 2\n}\n"},
		{"a comment without an end", "{\"a\": 1} // mine", "a", 2, "{\"a\": 2} // mine"},
		{"comments alone", "// mine\n/* too */\n", "a", 2, "// mine\n/* too */\n{\n  \"a\": 2\n}\n"},
		{"a comment alone, without an end", "// mine", "a", 2, "// mine\n{\n  \"a\": 2\n}\n"},
		{"another type", `{"a":{"b":[1]}}`, "a.b", nil, `{"a":{"b":null}}`},
		{"the same", "{ \"a\" : 1.50 , }", "a", 1.5, "{ \"a\" : 1.50 , }"},
		{"the same list", "{\"a\": [ 1,\n // one\n 2, ]}", "a", []int{1, 2}, "{\"a\": [ 1,\n // one\n 2, ]}"},
		{"nearly the same number", `{"a": 9007199254740993}`, "a", 9007199254740992, `{"a": 9007199254740992}`},
		{"null is there", `{"a": null}`, "a", nil, `{"a": null}`},
		{"characters", "{\n  \"a\": 1\n}", "a", "<&>\"\\\n\u00e9", "{\n  \"a\": \"<&>\\\"\\\\\\n\u00e9\"\n}"},
		{"a list of one line stays on one", "{\n  \"a\": [\"x\"]\n}", "a", []string{"x", "y: z,"}, "{\n  \"a\": [\"x\", \"y: z,\"]\n}"},
		{"a list where a word was", "{\n> \"a\": 1\n}", "a", []string{"x"}, "{\n> \"a\": [\n> > \"x\"\n> ]\n}"},
		{"an empty list", "{\n  \"a\": 1\n}", "a", []string{}, "{\n  \"a\": []\n}"},
		{"the order of keys", "{\n  \"a\": 1\n}", "a", json.RawMessage(`{"z": 1, "b": [true]}`), "{\n  \"a\": {\n    \"z\": 1,\n    \"b\": [\n      true\n    ]\n  }\n}"},

		{"a new key", "{\n  \"a\": 1\n}\n", "b", 2, "{\n  \"a\": 1,\n  \"b\": 2\n}\n"},
		{"tabs", "{\n>\"a\": 1\n}\n", "b.c", 2, "{\n>\"a\": 1,\n>\"b\": {\n>>\"c\": 2\n>}\n}\n"},
		{"four blanks", "{\n    \"a\": {\n        \"x\": 1\n    }\n}\n", "b.c", 2, "{\n    \"a\": {\n        \"x\": 1\n    },\n    \"b\": {\n        \"c\": 2\n    }\n}\n"},
		{"in an object further down", "{\n>\"a\": {\n>>\"x\": 1\n>}\n}\n", "a.y", 2, "{\n>\"a\": {\n>>\"x\": 1,\n>>\"y\": 2\n>}\n}\n"},
		{"in an empty one further down", "{\n>\"a\": {}\n}\n", "a.y", 2, "{\n>\"a\": {\n>>\"y\": 2\n>}\n}\n"},
		{"CRLF", "{$\n  \"a\": 1$\n}$\n", "b.c", 2, "{$\n  \"a\": 1,$\n  \"b\": {$\n    \"c\": 2$\n  }$\n}$\n"},
		{"a byte order mark", "\ufeff{\n  \"a\": 1\n}\n", "b", 2, "\ufeff{\n  \"a\": 1,\n  \"b\": 2\n}\n"},
		{"UTF-16", "\xff\xfe{\x00\n\x00 \x00 \x00\"\x00a\x00\"\x00:\x00 \x001\x00\n\x00}\x00\n\x00", "b", 2, "{\n  \"a\": 1,\n  \"b\": 2\n}\n"},
		{"an empty file with a mark", "\ufeff", "b", 2, "\ufeff{\n  \"b\": 2\n}\n"},
		{"a comment behind the last", "{\n  \"a\": 1 // note\n}\n", "b", 2, "{\n  \"a\": 1, // note\n  \"b\": 2\n}\n"},
		{"a comment behind the last, CRLF", "{$\n  \"a\": 1 // note$\n}$\n", "b", 2, "{$\n  \"a\": 1, // note$\n  \"b\": 2$\n}$\n"},
		{"two comments behind the last", "{\n  \"a\": 1 /* x */ // note\n  // more\n}\n", "b", 2, "{\n  \"a\": 1, /* x */ // note\n  \"b\": 2\n  // more\n}\n"},
		{"a trailing comma", "{\n  \"a\": 1, // note\n}\n", "b", 2, "{\n  \"a\": 1, // note\n  \"b\": 2,\n}\n"},
		{"a comma on its own line", "{\n  \"a\": 1\n  , // note\n}\n", "b", 2, "{\n  \"a\": 1\n  , // note\n  \"b\": 2,\n}\n"},
		{"a brace on the line of the last", "{\n  \"a\": 1}", "b", 2, "{\n  \"a\": 1,\n  \"b\": 2}"},
		{"one line", `{"a":1}`, "b", []int{1, 2}, `{"a":1,"b":[1,2]}`},
		{"one line with blanks", `{ "a": 1 }`, "b", []int{1, 2}, `{ "a": 1, "b": [1, 2] }`},
		{"one line, two members", `{"a": 1,"b": 2}`, "c", 3, `{"a": 1,"b": 2,"c": 3}`},
		{"one line and a trailing comma", `{"a": 1,}`, "b", 2, `{"a": 1, "b": 2,}`},
		{"one line and a comment", `{"a": 1 /* one */}`, "b", 2, `{"a": 1 /* one */, "b": 2}`},
		{"one line and a comment to its end", "{\"a\": 1 // one\n}", "b", 2, "{\"a\": 1, // one\n  \"b\": 2\n}"},
		{"objects on one line", `{"a":{}}`, "a.b.c", 1, `{"a":{"b":{"c":1}}}`},
		{"a line of its own in one line", "{\n  \"a\": {\"x\": 1},\n}", "a.y", "z", "{\n  \"a\": {\"x\": 1, \"y\": \"z\"},\n}"},

		{"the last of two counts", "{\n  \"a\": 1,\n  \"a\": 2\n}", "a", 3, "{\n  \"a\": 1,\n  \"a\": 3\n}"},
		{"the last of two parents counts", `{"a": {"b": 1}, "a": {}}`, "a.b", 3, `{"a": {"b": 1}, "a": {"b": 3}}`},
		{"a name with escapes", "{\"\\u0061\": 1}", "a", 3, "{\"\\u0061\": 3}"},
		{"a name with quotes", `{}`, `a"b`, 3, "{\n  \"a\\\"b\": 3\n}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Set([]byte(spaced.Replace(c.text)), strings.Split(c.path, "."), c.value)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(spaced.Replace(c.want), string(got)); diff != "" && c.name != "characters" || c.name == "characters" && string(got) != c.want {
				t.Errorf("want - got +:\n%s", diff)
			}
		})
	}
}

func TestUnset(t *testing.T) {
	for _, c := range []struct{ name, text, path, want string }{
		{"not there", "{\n  \"a\": 1, \n}", "b.c", "{\n  \"a\": 1, \n}"},
		{"an empty file", "", "b.c", ""},
		{"the first", "{\n  // about a\n  \"a\": 1, // one\n  // about b\n  \"b\": 2\n}\n", "a", "{\n  // about a\n  // about b\n  \"b\": 2\n}\n"},
		{"the last", "{\n  \"a\": 1, // one\n  // about b\n  \"b\": 2 // two\n}\n", "b", "{\n  \"a\": 1 // one\n  // about b\n}\n"},
		{"the last, CRLF", "{$\n  \"a\": 1,$\n  \"b\": 2 // two$\n}$\n", "b", "{$\n  \"a\": 1$\n}$\n"},
		{"the last with a trailing comma", "{\n  \"a\": 1,\n  \"b\": 2,\n}\n", "b", "{\n  \"a\": 1,\n}\n"},
		{"the only one", "{\n  \"a\": 1\n}\n", "a", "{\n}\n"},
		{"the only one on one line", `{ "a": 1 }`, "a", `{ }`},
		{"one of a line", `{"a": 1, "b": 2, "c": 3}`, "b", `{"a": 1, "c": 3}`},
		{"the last of a line", `{"a": 1, "b": 2}`, "b", `{"a": 1}`},
		{"the first of a line", `{"a": 1, "b": 2}`, "a", `{"b": 2}`},
		{"the last of a line with a comma", `{"a": 1, "b": 2,}`, "b", `{"a": 1,}`},
		{"the next one's comment", `{"a": 1, /* about b */ "b": 2}`, "a", `{/* about b */ "b": 2}`},
		{"two on a line of several", "{\n  \"a\": 1, \"b\": 2,\n  \"c\": 3\n}", "a", "{\n  \"b\": 2,\n  \"c\": 3\n}"},
		{"a value of several lines", "{\n  \"a\": {\n    \"x\": [\n    ]\n  }, // one\n  \"b\": 2\n}", "a", "{\n  \"b\": 2\n}"},
		{"before a brace", "{\n  \"a\": 1,\n  // about b\n  \"b\": 2}", "b", "{\n  \"a\": 1\n  // about b\n}"},
		{"all of several", `{"a": 1, "b": 0, "a": 2, "a": 3}`, "a", `{"b": 0}`},
		{"a parent that is empty then", "{\n  \"a\": {\n    \"b\": {\"c\": 1}\n  },\n  \"d\": 2\n}", "a.b.c", "{\n  \"d\": 2\n}"},
		{"a parent with a comment", "{\n  \"a\": {\n    // keep\n    \"b\": 1\n  }\n}", "a.b", "{\n  \"a\": {\n    // keep\n  }\n}"},
		{"one of two parents", `{"a": {"b": 1}, "a": {"b": 2}}`, "a.b", `{"a": {"b": 1}, "a": {}}`},
		{"a byte order mark", "\ufeff{\"a\": 1}", "a", "\ufeff{}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Unset([]byte(spaced.Replace(c.text)), strings.Split(c.path, "."))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(spaced.Replace(c.want), string(got)); diff != "" {
				t.Errorf("want - got +:\n%s", diff)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct {
		text string
		path []string
		want string
	}{
		{`{"model": "x"}`, []string{"model", "name"}, "model is a string, not an object"},
		{`{"a": {"b": [1]}}`, []string{"a", "b", "c", "d"}, "a.b is a list, not an object"},
		{`{"a": null}`, []string{"a", "b"}, "a is null, not an object"},
		{`[1]`, []string{"a"}, "must hold an object"},
		{`{"a": }`, []string{"a"}, ":1:7: "},
		{`/* nothing`, []string{"a"}, "the file ends in the middle"},
		{`{}`, nil, "a key is missing"},
		{`{}`, []string{"a\xff"}, "not UTF-8"},
	} {
		if _, err := Set([]byte(c.text), c.path, 1); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("set in %s: %v, want %s", c.text, err, c.want)
		}
		if _, err := Unset([]byte(c.text), c.path); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("unset in %s: %v, want %s", c.text, err, c.want)
		}
	}
	if _, err := Set(nil, []string{"a"}, func() {}); err == nil {
		t.Error("a function is no value")
	}
}

func FuzzSet(f *testing.F) {
	for _, text := range []string{"", "{}", `{"a":1}`, `{"a":{"b":1,},}`, "{\n\t\"a\": 1 // x\n}", "{\r\n  \"b\": {\r\n    \"b\": [1, // y\r\n 2]}}\r\n",
		"\ufeff{\"a\": 1, /* x */ \"a\": 2}", "{\n  // c\n  \"a\": {\n    /* d */ }\n}", "{\"a\":{\"b\":null}/**/,//\n}", `{"a" /*1*/ : /*2*/ {} /*3*/}`} {
		f.Add(text, "a", "b", `"v"`)
		f.Add(text, "a", "", `{"z":[1,{"y":2}],"x":[]}`)
		f.Add(text, "b", "c", `["x"]`)
	}
	f.Fuzz(func(t *testing.T, text, first, second, value string) {
		path := []string{first}
		if second != "" {
			path = append(path, second)
		}
		if strings.Count(text, "{")+strings.Count(text, "[")+strings.Count(value, "{")+strings.Count(value, "[") > 100 {
			return // the callers limit how deep a file may be
		}
		if !utf8.ValidString(text + value) {
			return // and that it is UTF-8
		}
		var v any
		before, ok := read(text)
		if json.Unmarshal([]byte(value), &v) != nil || !ok {
			return
		}
		out, err := Set([]byte(text), path, json.RawMessage(value))
		want, possible := with(before, path, v)
		possible = possible && utf8.ValidString(first) && utf8.ValidString(second)
		if err != nil || !possible {
			if possible || err == nil {
				t.Fatalf("set %q in %q: %v", path, text, err)
			}
			return
		}
		after, ok := read(string(out))
		if !ok || !reflect.DeepEqual(after, want) {
			t.Fatalf("%q became %q", text, out)
		}
		if again, err := Set(out, path, json.RawMessage(value)); err != nil || !bytes.Equal(again, out) {
			t.Fatalf("%q became %q and then %q: %v", text, out, again, err)
		}
		single, old := at(t, text, path)
		if single != "" {
			same := prefix(text, string(out))
			if same += suffix(text[same:], string(out)[same:]); same+len(single) < len(text) {
				t.Fatalf("%q became %q, which is more than the value %q", text, out, single)
			}
		}

		removed, err := Unset(out, path)
		if err != nil {
			t.Fatalf("unset in %q: %v", out, err)
		}
		left, ok := read(string(removed))
		if !ok || !reflect.DeepEqual(left, without(after, path, out)) {
			t.Fatalf("%q became %q", out, removed)
		}
		if single == "" && old > 0 && unspaced(string(removed)) != unspaced(text) {
			t.Fatalf("%q became %q and then %q", text, out, removed)
		}
		if strict(text) && !strict(string(out)) || strict(string(out)) && !strict(string(removed)) {
			t.Fatalf("%q, %q, %q: a comma too many", text, out, removed)
		}
		if _, there := before[first]; !there && !reflect.DeepEqual(left, before) {
			t.Fatalf("%q came back as %q", text, removed)
		}
	})
}

// read returns the content of a text that this package edits.
func read(text string) (map[string]any, bool) {
	text = strings.TrimPrefix(text, mark)
	tree := map[string]any{}
	if strings.TrimSpace(text) == "" {
		return tree, true
	}
	b, err := hujson.Standardize([]byte(text))
	return tree, err == nil && b[bytes.IndexAny(b, "{[\"tfn-0123456789")] == '{' && json.Unmarshal(b, &tree) == nil
}

// strict reports whether there are no trailing commas.
func strict(text string) bool {
	v, err := hujson.Parse([]byte(strings.TrimPrefix(text, mark)))
	if err != nil {
		return false
	}
	for v := range v.All() {
		switch x := v.Value.(type) {
		case *hujson.Object:
			if n := len(x.Members); n > 0 && x.Members[n-1].Value.AfterExtra != nil {
				return false
			}
		case *hujson.Array:
			if n := len(x.Elements); n > 0 && x.Elements[n-1].AfterExtra != nil {
				return false
			}
		}
	}
	return true
}

// with returns tree with one more value.
func with(tree map[string]any, path []string, v any) (map[string]any, bool) {
	out := map[string]any{}
	maps.Copy(out, tree)
	if len(path) == 1 {
		out[path[0]] = v
		return out, true
	}
	below, ok := tree[path[0]].(map[string]any)
	if _, there := tree[path[0]]; there && !ok {
		return nil, false
	}
	below, ok = with(below, path[1:], v)
	out[path[0]] = below
	return out, ok
}

// without returns tree less a value and what is empty then. Whether a comment
// or a second key of the name keeps an empty object is a matter of the text.
func without(tree map[string]any, path []string, text []byte) map[string]any {
	out := map[string]any{}
	maps.Copy(out, tree)
	if len(path) == 1 {
		delete(out, path[0])
		return out
	}
	below := without(tree[path[0]].(map[string]any), path[1:], text)
	out[path[0]] = below
	if len(below) == 0 && !holds(text, path) {
		delete(out, path[0])
	}
	return out
}

// holds reports whether the object above the key at path stays when the key is
// gone, by what Unset says. It is the one thing that the fuzzer does not judge.
func holds(text []byte, path []string) bool {
	out, err := Unset(text, path)
	tree, ok := read(string(out))
	_, there := tree[path[0]]
	return err == nil && ok && there
}

// at returns the text of the value at path, if it is there, and how many
// members the innermost object on the way has.
func at(t *testing.T, text string, path []string) (value string, members int) {
	text = strings.TrimPrefix(text, mark)
	if strings.TrimSpace(text) == "" {
		return "", 0
	}
	d, err := Parse("", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	o, _, left, err := d.reach(path)
	if err != nil {
		t.Fatal(err)
	}
	if m := member(o, left[0]); m != nil && len(left) == 1 {
		value = text[m.Value.StartOffset:m.Value.EndOffset]
	}
	return value, len(o.Members)
}

func unspaced(text string) string { return strings.Join(strings.Fields(text), "") }

func prefix(a, b string) (n int) {
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func suffix(a, b string) (n int) {
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
}
