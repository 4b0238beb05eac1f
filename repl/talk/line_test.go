package talk

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"google.golang.org/genai"

	"gemline/engine"
	"gemline/repl/schema"
)

func said(id string, parts ...*genai.Part) userMessage { return userMessage{ID: id, Parts: parts} }

var hi, image = genai.NewPartFromText("hi"), genai.NewPartFromBytes([]byte("hi"), "image/png")

var lines = []struct {
	line string
	want message // nil for a mistake
	why  string
}{
	{`{"type":"user","content":"hi"}`, said("", hi), ""},
	{`{"type":"user","id":"7","content":"hi","colour":"red"}`, said("7", hi), ""},
	{` {"type":"user","content":"hi"} ` + "\r", said("", hi), ""},
	{`{"type":"user","content":[{"type":"text","text":"hi"},{"inlineData":{"mimeType":"image/png","data":"aGk="}}]}`, said("", hi, image), ""},
	{`{"type":"user","parts":[{"text":"hi"},{"inline_data":{"mime_type":"image/png","data":"aGk="}}]}`, said("", hi, image), ""},
	{`{"type":"user","message":{"role":"user","content":"hi"}}`, said("", hi), ""},
	{`{"type":"user","message":{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}}]}}`, said("", image), ""},
	{`{"type":"user","content":"/quit","literal":true}`, userMessage{Parts: []*genai.Part{{Text: "/quit"}}, Literal: true}, ""},
	{`{"type":"approval","id":"1","decision":"allow"}`, approvalMessage{ID: "1", Decision: allow}, ""},
	{`{"type":"approval","id":"1","decision":"allow","args":{"a":1}}`, approvalMessage{ID: "1", Decision: allow, Args: map[string]any{"a": 1.0}}, ""},
	{`{"type":"approval","id":"1","decision":"deny","note":"no"}`, approvalMessage{ID: "1", Decision: deny, Note: "no"}, ""},
	{`{"type":"approval","id":"1","decision":"always","grant":1}`, approvalMessage{ID: "1", Decision: always, Grant: 1}, ""},
	{`{"type":"answer","id":"1","answers":["a",null,["b"," c"],true,false,""]}`, answersMessage{"1", []string{"a", "", "b, c", "Yes", "No", ""}}, ""},
	{`{"type":"answer","id":"1"}`, answersMessage{"1", []string{}}, ""},
	{`{"type":"cancel"}`, cancelMessage{}, ""},
	{`{"type":"cancel","id":"7"}`, cancelMessage{"7"}, ""},
	{`{"type":"end"}`, endMessage{}, ""},
	{`{"type":"cancel","Type":"end","\u017fcope":7}`, cancelMessage{}, ""}, // other fields are passed over
	{`{"type":"approval","id":"1","decision":"deny","Decision":"allow"}`, approvalMessage{ID: "1", Decision: deny}, ""},

	{`{"type":"user","content":"a","content":"b"}`, nil, `it has the field "content" twice`},
	{`{"Type":"end"}`, nil, "it has no type"},
	{`{"type":"user"`, nil, "it is not JSON"},
	{`{"type":"user","content":"hi"} {}`, nil, "it is not JSON"},
	{`["user"]`, nil, "it is not an object, but an array"},
	{`7`, nil, "it is not an object, but this number"},
	{`""`, nil, "it is not an object, but a string"},
	{`null`, nil, "it has no type"},
	{`{}`, nil, "it has no type"},
	{`{"type":7}`, nil, "type must not be this number"},
	{`{"type":"shout"}`, nil, `the type "shout" is unknown; there are user, approval, answer, consent, cancel and end`},
	{"{\"type\":\"user\",\"content\":\"\xff\"}", nil, "it is not UTF-8"},
	{`{"type":"user"}`, nil, "the message has no content"},
	{`{"type":"user","content":null}`, nil, "the message has no content"},
	{`{"type":"user","content":" \n"}`, nil, "the message is empty"},
	{`{"type":"user","content":[]}`, nil, "the message is empty"},
	{`{"type":"user","content":7}`, nil, "content must be a string or a list of parts"},
	{`{"type":"user","content":[{"type":"tool_result"}]}`, nil, "part 0: it is neither text nor data"},
	{`{"type":"user","content":[{"text":"a","inlineData":{"mimeType":"a/b","data":"aGk="}}]}`, nil, "part 0: it has both text and data"},
	{`{"type":"user","content":[{"inlineData":{"data":"aGk="}}]}`, nil, "part 0: its data needs a mime type and a value in base64"},
	{`{"type":"user","content":[{"inlineData":{"mimeType":"a/b","data":"%"}}]}`, nil, "part 0: illegal base64 data at input byte 0"},
	{`{"type":"user","content":[{"text":"a"},"b"]}`, nil, "part 1: it is not an object, but a string"},
	{`{"type":"user","content":[{"text":7}]}`, nil, "part 0: text must not be this number"},
	{`{"type":"user","content":[{"source":{"type":"url","url":"x"}}]}`, nil, `part 0: a source of the type "url" can't be sent; only base64 can`},
	{`{"type":"user","message":{"role":"assistant","content":"hi"}}`, nil, `a message of the role "assistant" can't be sent; only user can`},
	{`{"type":"user","content":"hi","id":"` + strings.Repeat("x", 300) + `"}`, nil, "its id is longer than 256 bytes"},
	{`{"type":"approval","decision":"allow"}`, nil, "it needs the id of the question it answers"},
	{`{"type":"approval","id":"1"}`, nil, `the decision must be allow, deny or always, not ""`},
	{`{"type":"approval","id":"1","decision":"yes"}`, nil, `the decision must be allow, deny or always, not "yes"`},
	{`{"type":"approval","id":"1","decision":"allow","text":""}`, approvalMessage{ID: "1", Decision: allow, Text: new("")}, ""},
	{`{"type":"approval","id":"1","decision":"allow","text":"a","network":true}`, nil, "text goes with the decision allow only"},
	{`{"type":"approval","id":"1","decision":"deny","text":"a"}`, nil, "text goes with the decision allow only"},
	{`{"type":"approval","id":"1","decision":"deny","args":{}}`, nil, "args go with the decision allow only"},
	{`{"type":"approval","id":"1","decision":"always","grant":-1}`, nil, "grant must not be negative"},
	{`{"type":"approval","id":1,"decision":"allow"}`, nil, "id must not be this number"},
	{`{"type":"answer","answers":["a"]}`, nil, "it needs the id of the question it answers"},
	{`{"type":"answer","id":"1","answers":[7]}`, nil, "answers[0] must be a string, a list of strings, true, false or null"},
	{`{"type":"answer","id":"1","answers":[1e999]}`, nil, "answers[0] must be a string"},
	{`{"type":"answer","id":"1","answers":[[7]]}`, nil, "answers[0] must hold nothing but strings"},
}

func TestDecode(t *testing.T) {
	for _, test := range lines {
		got, _, err := decode([]byte(test.line))
		if !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s\nis   %#v, %v\nwant %#v", test.line, got, err, test.want)
		}
		if test.want == nil && (err == nil || !strings.HasPrefix(err.Error(), test.why)) {
			t.Errorf("%s: %v", test.line, err)
		}
	}
}

// A line that can't be used is told with the id that it names, whatever else is wrong.
func TestDecodeID(t *testing.T) {
	for line, want := range map[string]string{
		`{"type":"answer","id":"q","answers":"red"}`:                            "q",
		`{"type":"approval","decision":true,"id":"q"}`:                          "q",
		`{"type":"user","id":"m","content":7}`:                                  "m",
		`{"hint":"yes","type":"user","id":"m","content":"x"}`:                   "m",
		`{"type":"user","id":7,"content":"x"}`:                                  "",
		`{"type":"user","id":"` + strings.Repeat("m", 300) + `","content":"x"}`: "",
		`{"type":"user","id":"m"`:                                               "",
		`{"type":"user","id":"m","content":"x","content":"y"}`:                  "m",
	} {
		if _, id, err := decode([]byte(line)); id != want || err == nil {
			t.Errorf("%s: %q, %v", line, id, err)
		}
	}
}

// The schema takes every line that is understood.
func TestSchema(t *testing.T) {
	b, _ := schema.Text("protocol")
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("protocol", doc); err != nil {
		t.Fatal(err)
	}
	s := c.MustCompile("protocol")
	refused := 0
	for _, test := range lines {
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(test.line))
		if err != nil {
			continue
		}
		if err := s.Validate(v); err != nil && test.want != nil {
			t.Errorf("%s: %v", test.line, err)
		} else if err != nil {
			refused++
		}
	}
	if refused < 15 {
		t.Errorf("%d of the mistakes are none to the schema", refused)
	}
}

// Whatever a line is, the next one is read.
func TestLines(t *testing.T) {
	long := `{"type":"user","content":"` + strings.Repeat("x", longestLine) + `"}`
	fits := `{"type":"cancel","id":"` + strings.Repeat("x", longestLine-25) + `"}`
	in := "\ufeff{\"type\":\"cancel\"}\n\n \r\n" + "junk\n" + long + "\n" + fits + "\n" + `{"type":"end"}` + "\nnever read\n"
	var got []string
	for l := range readLines(iotest.HalfReader(strings.NewReader(in))) {
		what := fmt.Sprintf("%T", l.Message)
		if l.Err != nil {
			what = l.Err.Error()
		}
		got = append(got, fmt.Sprintf("%d %.20s", l.Number, what))
	}
	want := []string{"1 talk.cancelMessage", "4 it is not JSON", "5 it is longer than 16", "6 talk.cancelMessage", "7 talk.endMessage"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q", got)
	}
}

// A line without an end is one, and a fault of the input is told.
func TestLastLine(t *testing.T) {
	broken := errors.New("the disk is on fire")
	for _, end := range []error{io.EOF, broken} {
		var got []line
		for l := range readLines(io.MultiReader(strings.NewReader(`{"type":"cancel"}`), iotest.ErrReader(end))) {
			got = append(got, l)
		}
		if len(got) == 0 || got[0].Message != (cancelMessage{}) {
			t.Errorf("%v: %v", end, got)
		}
		if faulty := len(got) == 2 && errors.Is(got[1].Err, broken); faulty != (end == broken) {
			t.Errorf("%v: %v", end, got)
		}
	}
}

func FuzzLines(f *testing.F) {
	for _, test := range lines {
		f.Add([]byte(test.line + "\n" + test.line))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		number, ended := 0, false
		said := map[int]string{} // what is not blank
		for i, text := range strings.Split(strings.TrimPrefix(string(b), "\ufeff"), "\n") {
			if strings.TrimSpace(text) != "" {
				said[i+1] = text
			}
		}
		defer func() {
			if len(said) > 0 && !ended {
				t.Errorf("not answered: %v", said)
			}
		}()
		for l := range readLines(bytes.NewReader(b)) {
			if want, _, err := decode([]byte(said[l.Number])); said[l.Number] == "" || !reflect.DeepEqual(l.Message, want) || fmt.Sprint(l.Err) != fmt.Sprint(err) {
				t.Fatalf("line %d of %q is %v, %v", l.Number, b, l.Message, l.Err)
			}
			if l.Err == nil && !json.Valid([]byte(said[l.Number])) {
				t.Fatalf("%q is %v", said[l.Number], l.Message)
			}
			delete(said, l.Number)
			_, ended = l.Message.(endMessage)
			if l.Number <= number {
				t.Fatalf("line %d follows %d", l.Number, number)
			}
			number = l.Number
			if (l.Message == nil) == (l.Err == nil) {
				t.Fatalf("line %d is %v, %v", l.Number, l.Message, l.Err)
			}
			if l.Err != nil && strings.Contains(l.Err.Error(), "\n") {
				t.Fatalf("%q", l.Err)
			}
			if u, ok := l.Message.(userMessage); ok {
				if _, err := json.Marshal(u.Parts); err != nil || len(u.Parts) == 0 {
					t.Fatalf("%v: %v", u, err)
				}
			}
		}
	})
}

// What a line allows has to be offered, and a question is answered in its own words.
func TestReplies(t *testing.T) {
	t.Parallel()
	words := "x"
	p := engine.Proposal{Intent: engine.Intent{Grants: []engine.Grant{{Label: "always"}}, Plan: engine.Plan{NetworkArgs: map[string]any{"net": true}}}}
	asks := engine.Proposal{Intent: engine.Intent{Questions: []engine.Question{{Text: "Sure?", Kind: engine.YesNo}}}}
	for _, c := range []struct {
		p    engine.Proposal
		m    message
		want string // the answer, or else the beginning of what is wrong
	}{
		{p, approvalMessage{Decision: allow, Network: true}, "{map[net:true] true}"},
		{asks, approvalMessage{Decision: allow}, "this question needs a line of the type answer"},
		{engine.Proposal{}, approvalMessage{Decision: allow, Network: true}, "the network was not offered"},
		{p, approvalMessage{Decision: allow, ReadOnly: true}, "to run it read-only was not offered"},
		{engine.Proposal{Args: map[string]any{"n": 1}}, approvalMessage{Decision: allow, Args: map[string]any{"n": 1.0}}, "{0 {"},
		{engine.Proposal{Args: map[string]any{"n": 1}}, approvalMessage{Decision: allow, Args: map[string]any{"n": 2.0}}, "{map[n:2] false}"},
		{p, approvalMessage{Decision: allow, Text: &words}, "this call has no draft"},
		{p, approvalMessage{Decision: always, Grant: 1}, "there is no grant 1; offered: 1"},
		{p, answersMessage{}, "this question needs a line of the type approval"},
		{asks, answersMessage{Replies: []string{"yes", "no"}}, "2 answers are too many; questions: 1"},
		{asks, answersMessage{Replies: []string{"maybe"}}, "answers[0]: \"maybe\" is neither"},
		{asks, answersMessage{Replies: []string{" yes "}}, "{[Yes]}"},
		{asks, answersMessage{}, "{[]}"},
	} {
		q := &openQuestion{p: c.p}
		var a engine.Answer
		var got string
		switch m := c.m.(type) {
		case approvalMessage:
			a, got = q.approval(m)
		case answersMessage:
			a, got = q.answers(m)
		}
		if got == "" {
			got = fmt.Sprint(a)
		}
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%+v: %s, want %s", c.m, got, c.want)
		}
	}
}
