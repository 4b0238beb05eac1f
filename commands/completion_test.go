package commands

import (
	"context"
	"slices"
	"strings"
	"testing"

	"gemline/repl/input"
)

func TestCompletion(t *testing.T) {
	set := Set{
		{Name: "chat", Summary: "keep and resume", Sub: Set{
			{Name: "resume", Complete: func(_ context.Context, _, prefix string) []string {
				return []string{"tag1", "tag2", "other"}
			}},
			{Name: "save"},
		}},
		{Name: "clear"},
		{Name: "model"},
		{Name: "quit", Aliases: []string{"exit"}},
	}
	c := Completion{
		Commands: func() Set { return set },
		Words:    map[string]func(context.Context) []string{"model": func(context.Context) []string { return []string{"flash", "pro", "auto"} }},
		Files: func(_ context.Context, name string) []input.Name {
			if name == "sr" {
				return []input.Name{{Path: "src", Show: "src", Dir: true}, {Path: "sr c.txt", Show: "sr c.txt"}}
			}
			return nil
		},
	}
	tests := []struct {
		line  string // up to the cursor
		start int
		want  string
	}{
		{"", 0, ""},
		{"words", 5, ""},
		{"/", 0, "/chat /clear /model /quit"},
		{"/c", 0, "/chat /clear"},
		{"/chat", 0, "/chat"},
		{"/e", 0, "/exit"},
		{"/x", 2, ""},
		{"/chat ", 6, "resume save"},
		{"/chat r", 6, "resume"},
		{"/chat resume t", 13, "tag1 tag2"},
		{"/chat resume", 6, "resume"},
		{"/model ", 7, "flash pro auto"},
		{"/model p", 7, "pro"},
		{"/clear @sr", 7, `@src/ @sr\ c.txt`},
		{"see @sr", 4, `@src/ @sr\ c.txt`},
		{"see @sr and", 11, ""},
		{"text /c", 7, ""},
		{"/usr/bin", 8, ""},
	}
	for _, tt := range tests {
		start, found := c.Complete(t.Context(), tt.line+" rest", len(tt.line))
		var got []string
		for _, f := range found {
			got = append(got, f.Text)
		}
		if strings.Join(got, " ") != tt.want || start != tt.start && tt.want != "" {
			t.Errorf("%q: %d, %q, want %d, %q", tt.line, start, got, tt.start, tt.want)
		}
	}
	if _, found := c.Complete(t.Context(), "see @sr", 7); !found[0].Open || !slices.ContainsFunc(found, func(f input.Candidate) bool { return f.Show == "src/" }) {
		t.Errorf("a directory: %+v", found)
	}
}

func TestCompletionOfKeys(t *testing.T) {
	c := Completion{Commands: func() Set { return Builtin(&Deps{}) }}
	for line, want := range map[string]bool{"/settings set model.na": true, "/settings get --origin model.na": true,
		"/settings unset model.na": true, "/settings set model.name model.na": false, "/settings list model.na": false} {
		_, found := c.Complete(t.Context(), line, len(line))
		if got := len(found) == 1 && found[0].Text == "model.name"; got != want {
			t.Errorf("%s: %+v", line, found)
		}
	}
}

func FuzzCompletion(f *testing.F) {
	c := Completion{Commands: func() Set { return Builtin(&Deps{}) }, Files: func(_ context.Context, name string) []input.Name {
		return []input.Name{{Path: name + "x", Show: name}}
	}}
	f.Add("/mo", 3)
	f.Add("a @b", 4)
	f.Fuzz(func(t *testing.T, text string, at int) {
		if at < 0 || at > len(text) {
			return
		}
		if start, _ := c.Complete(context.Background(), text, at); start < 0 || start > at {
			t.Errorf("%q at %d: from %d", text, at, start)
		}
	})
}
