package tools

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/redact"
)

// shower is a host that keeps what it is shown.
type shower struct {
	engine.Host
	said []string
}

func (s *shower) Emit(ev engine.Event) {
	switch ev := ev.(type) {
	case engine.Output:
		s.said = append(s.said, ev.Delta)
	case engine.Notice:
		s.said = append(s.said, ev.Text)
	}
}

func TestDiscreet(t *testing.T) {
	const secret, mark = "correct-horse-battery", "[redacted: API key]"
	r := &redact.Redactor{}
	r.Know("API key", secret)
	tool := func(kind engine.Kind) engine.Tool {
		return engine.Tool{Declaration: &genai.FunctionDeclaration{Name: "t"}, Kind: kind,
			Prepare: func(_ context.Context, args map[string]any) (engine.Call, error) {
				if args["fail"] == true {
					return engine.Call{}, errors.New("no " + secret)
				}
				detail, _ := args["detail"].(string)
				return engine.Call{Intent: engine.Intent{Detail: detail}, Run: func(_ context.Context, host engine.Host) (engine.Result, error) {
					for piece := range strings.SplitAfterSeq("a "+secret+" b cor", "r") {
						host.Emit(engine.Output{Delta: piece})
					}
					host.Emit(engine.Notice{Text: "by the way, " + secret})
					return engine.Result{Text: secret, Display: "shown " + secret, Media: []*genai.Part{{Text: secret}}},
						&engine.CallError{Type: "x", Message: "failed " + secret, Display: "bad " + secret}
				}}, nil
			}}
	}
	read, edit := Discreet(engine.Tools{tool(engine.Read)}, r)[0], Discreet(engine.Tools{tool(engine.Edit)}, r)[0]
	if _, err := edit.Prepare(t.Context(), map[string]any{"content": "talk of " + mark}); err != nil {
		t.Errorf("a mark that nobody has made: %v", err)
	}
	if _, err := read.Prepare(t.Context(), map[string]any{"fail": true}); err == nil || err.Error() != "no "+mark {
		t.Errorf("got %v", err)
	}
	call, err := read.Prepare(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	host := &shower{}
	res, err := call.Run(t.Context(), host)
	if got := strings.Join(host.said, ""); got != "a "+mark+" b by the way, "+mark+"cor" {
		t.Errorf("shown %q", host.said)
	}
	if res.Text != mark || res.Display != "shown "+mark || res.Media[0].Text != mark {
		t.Errorf("got %+v", res)
	}
	if engine.ErrorType(err) != "x" || err.Error() != "failed "+mark || engine.DisplayError(err) != "bad "+mark {
		t.Errorf("got %v", err)
	}
	// The model has read the mark, the file has the secret.
	if _, err = edit.Prepare(t.Context(), map[string]any{"content": mark, "detail": "--- a\n+++ a\n-a " + mark + "\n+b " + mark + "\n"}); err != nil {
		t.Errorf("a mark that the file has: %v", err)
	}
	_, err = edit.Prepare(t.Context(), map[string]any{"content": "key = " + mark, "detail": "--- a\n+++ a\n-key = x\n+key = " + mark + "\n"})
	if engine.ErrorType(err) != engine.InvalidToolParams {
		t.Errorf("got %v", err)
	}
	_, err = edit.Prepare(t.Context(), map[string]any{"content": "key = " + mark, "fail": true})
	if engine.ErrorType(err) != engine.InvalidToolParams || !strings.Contains(err.Error(), "Nothing was changed") {
		t.Errorf("got %v", err)
	}
	if _, err = read.Prepare(t.Context(), map[string]any{"path": mark}); err != nil {
		t.Errorf("a call that writes nothing: %v", err)
	}
}

// A secret is taken out before a line is cut within it, or lines are left out
// that begin it.
func TestDiscreetCuts(t *testing.T) {
	const secret, lines = "correct-horse-battery-staple", "first-of-two\nsecond-of-two"
	var files = map[string]string{"two.txt": "a\r\nfirst-of-two\r\nsecond-of-two\r\n"}
	for _, before := range []int{0, maxLineChars - len(secret) - 1, maxLineChars - len(secret), maxLineChars - len(secret)/2, maxLineChars - 1, maxLineChars} {
		files[fmt.Sprintf("%d.txt", before)] = strings.Repeat("x", before) + secret + " needle"
	}
	p := newPlace(t, files)
	p.env.Secrets = &redact.Redactor{}
	p.env.Secrets.Know("API key", secret)
	p.env.Secrets.Know("other key", lines)
	for name := range files {
		call := func(tool engine.Tool, args map[string]any) string {
			t.Helper()
			c, err := tool.Prepare(t.Context(), args)
			if err != nil {
				t.Fatal(err)
			}
			r, err := c.Run(t.Context(), &shower{})
			if err != nil {
				t.Fatal(err)
			}
			return r.Text
		}
		parts, _, err := ReadMany(t.Context(), p.env.Workspace, p.env.Secrets, []string{p.path(name)}, nil)
		if err != nil || len(parts) != 2 {
			t.Fatal(parts, err)
		}
		for by, got := range map[string]string{
			"read_file":      call(readFile(p.env), map[string]any{"file_path": name}),
			"read_file part": call(readFile(p.env), map[string]any{"file_path": name, "start_line": 3.0}),
			"grep_search":    call(grepSearch(p.env), map[string]any{"pattern": "needle", "include_pattern": name}),
			"@path":          parts[1].Text,
		} {
			for _, piece := range []string{secret[:4], secret[len(secret)-5:], "of-two"} {
				if strings.Contains(got, piece) {
					t.Errorf("%s of %s shows %q: ...%s", by, name, piece, got[max(0, len(got)-200):])
				}
			}
		}
	}
}
