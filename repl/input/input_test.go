package input

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genai"
)

// say returns the parts of a line.
func line(s string) []*genai.Part { return []*genai.Part{genai.NewPartFromText(s)} }

// texts returns the texts of parts, media in brackets.
func texts(parts []*genai.Part) []string {
	var ss []string
	for _, p := range parts {
		if p.InlineData != nil {
			ss = append(ss, "["+p.InlineData.MIMEType+"]")
		} else {
			ss = append(ss, p.Text)
		}
	}
	return ss
}

func TestChain(t *testing.T) {
	add := func(s string) Step {
		return func(next Processor) Processor {
			return func(ctx context.Context, parts []*genai.Part) ([]*genai.Part, error) {
				return next(ctx, line(parts[0].Text+s))
			}
		}
	}
	parts, err := Chain(add("a"), add("b"))(t.Context(), line("-"))
	if err != nil || parts[0].Text != "-ab" {
		t.Errorf("%v %v", texts(parts), err)
	}
	if parts, err := Chain()(t.Context(), nil); parts != nil || err != nil {
		t.Errorf("%v %v", parts, err)
	}
}

func TestShell(t *testing.T) {
	var commands, added, notes []string
	var out string
	var fail error
	s := &Shell{
		Run: func(_ context.Context, c string) (string, error) { commands = append(commands, c); return out, fail },
		Add: func(_ context.Context, parts ...*genai.Part) error {
			added = append(added, texts(parts)...)
			return nil
		},
		Notify:   func(n string) { notes = append(notes, n) },
		Composed: func() string { return "! from an editor\n" },
	}
	p := Chain(s.Step)
	type step struct {
		line    string
		sent    bool
		command string
		mode    bool
	}
	for _, st := range []step{
		{line: "hello", sent: true},
		{line: "!ls -l", command: "ls -l"},
		{line: "  ! ls ", command: "ls"},
		{line: "!{ls} what is this", sent: true},
		{line: "!!! tip\n\n    ls", sent: true},
		{line: "! from an editor", sent: true},
		{line: "", sent: true},
		{line: " ! ", mode: true},
		{line: "ls", command: "ls", mode: true},
		{line: "/help", command: "/help", mode: true},
		{line: "!pwd", command: "pwd", mode: true},
		{line: "", sent: true, mode: true},
		{line: "!"},
		{line: "hello", sent: true},
	} {
		commands = nil
		parts, err := p(t.Context(), line(st.line))
		var want []string
		if st.command != "" {
			want = []string{st.command}
		}
		if err != nil || (parts != nil) != st.sent || !cmp.Equal(want, commands) || s.Mode() != st.mode {
			t.Errorf("%q: parts %v, commands %q, mode %v, %v", st.line, texts(parts), commands, s.Mode(), err)
		}
	}
	if len(notes) != 2 {
		t.Errorf("notes %q", notes)
	}

	added, out = nil, "a `b` \\c"
	p(t.Context(), line("!ls"))
	want := "I ran the following shell command:\n```sh\nls\n```\n\nThis produced the following result:\n```\na \\`b\\` \\\\c\n```"
	if diff := cmp.Diff([]string{want}, added); diff != "" {
		t.Error(diff)
	}
	added, out = nil, strings.Repeat("\u20ac", 10_001)
	p(t.Context(), line("!ls"))
	if !strings.Contains(added[0], "\n"+strings.Repeat("\u20ac", 10_000)+"\n... (truncated)\n") {
		t.Error("not cut")
	}

	// What could not be run is no news for the model; what was cut short is.
	added, out, fail = nil, "", errors.New("no bash")
	if _, err := p(t.Context(), line("!ls")); !errors.Is(err, fail) || added != nil {
		t.Errorf("%v, added %q", err, added)
	}
	out = "half"
	if _, err := p(t.Context(), line("!ls")); !errors.Is(err, fail) || len(added) != 1 {
		t.Errorf("%v, added %q", err, added)
	}
}

func TestBraces(t *testing.T) {
	tests := []struct {
		line, want string
		fail       error
		wrong      string
		pasted     []string
	}{
		{line: "hi", want: "hi"},
		{line: "see !{x}\n```\n!{y} !{z\n```\n`!{v}` !{echo `w`}", want: "see <x>\n```\n!{y} !{z\n```\n`!{v}` <echo `w`>"},
		{line: "!{x}: p = '\n!{y}'\n !{z", want: "<x>: p = '\n!{y}'\n !{z", pasted: []string{"p = '\n!{y}'\n !{z\n"}},
		{line: "a !{x} b !{y {z}} c", want: "a <x> b <y {z}> c"},
		{line: "!{!{x}}", want: "<!{x}>"},
		{line: `\!{x}`, want: `\!{x}`},
		{line: "!{x", wrong: "no closing brace"},
		{line: "!{x} !{y}", fail: errors.New("refused"), wrong: "the prompt was not sent, because of !{x}: refused"},
		{line: "!{x}", fail: context.Canceled, wrong: "context canceled"},
	}
	for _, test := range tests {
		runs := 0
		p := Chain(ExpandCommands(func(_ context.Context, c string) (string, error) { runs++; return "<" + c + ">", test.fail }, func() []string { return test.pasted }))
		parts, err := p(t.Context(), line(test.line))
		switch {
		case test.wrong != "":
			if err == nil || !strings.Contains(err.Error(), test.wrong) || parts != nil || runs > 1 {
				t.Errorf("%q: %v, %d runs", test.line, err, runs)
			}
		case err != nil || parts[0].Text != test.want:
			t.Errorf("%q: %q, %v", test.line, texts(parts), err)
		}
	}
}

// Commands are only ever the user's: a step that follows can't bring one in.
func TestBracesForeign(t *testing.T) {
	for _, prompt := range []string{"!{evil}", "!{ls} !{evil}", "!{evil} !{ls}", "!{open"} {
		p := Chain(ExpandCommands(func(_ context.Context, c string) (string, error) { t.Errorf("%s ran", c); return "", nil }, nil),
			func(Processor) Processor {
				return func(context.Context, []*genai.Part) ([]*genai.Part, error) { return line(prompt), nil }
			})
		if parts, err := p(t.Context(), line("do !{ls}")); err != nil || parts[0].Text != prompt {
			t.Errorf("%q: %v, %v", prompt, texts(parts), err)
		}
	}
	// What a command prints is not scanned again.
	p := Chain(ExpandCommands(func(context.Context, string) (string, error) { return "!{evil} @file", nil }, nil))
	if parts, err := p(t.Context(), line("!{ls}")); err != nil || parts[0].Text != "!{evil} @file" {
		t.Errorf("%v, %v", texts(parts), err)
	}
}

func TestBracesCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p := Chain(ExpandCommands(func(context.Context, string) (string, error) { cancel(); return "", errors.New("killed") }, nil))
	if _, err := p(ctx, line("!{ls}")); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
