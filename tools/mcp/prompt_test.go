package mcp

import (
	"strings"
	"testing"

	protocol "github.com/mark3labs/mcp-go/mcp"
)

// No word behind a prompt's name is dropped in silence.
func TestValues(t *testing.T) {
	p := Prompt{Arguments: []protocol.PromptArgument{{Name: "from", Required: true}, {Name: "to", Required: true}, {Name: "by"}}}
	for line, want := range map[string]string{
		"a b": "", "a b --by=c": "", `a "b and more"`: "", "a --to=b": "", "--to=b a and more": "",
		"a":                 "Missing required argument(s): --to",
		"a b and more":      `no required argument takes "and more"`,
		"a b --bi=c":        "the prompt takes no --bi, but from, to, by",
		"--fom=a --to=b":    "the prompt takes no --fom, but",
		"--from=a --to=b c": `no required argument takes "c"`,
	} {
		_, err := p.Values(line)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", line, err)
		}
	}
}
