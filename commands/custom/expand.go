package custom

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"google.golang.org/genai"

	"gemline/engine/text"
	"gemline/repl/input"
)

// Sources supply the values for the marks of a prompt.
type Sources struct {
	// Run runs a command, which is judged and asked about like a call of the model, and returns the
	// text for its place. Its error ends the expansion.
	Run func(ctx context.Context, command string) (string, error)

	// Files returns the contents of a path, nil if the path can't be used, which Files then has
	// printed. Own says that the user has written the command. Its error ends the expansion.
	Files func(ctx context.Context, path string, own bool) ([]*genai.Part, error)

	// Insert returns a command line with values in the place of marks. The shell reads a value as
	// data, whatever quotes surround the mark.
	Insert func(line string, marks *regexp.Regexp, value func(mark string) string) (string, error)
}

// An Invocation is how a command was called.
type Invocation struct {
	Line string // all that was typed, with the slash
	Args string // the text behind the name, as it was typed
}

// A piece is a part of a prompt: plain text, or a mark to be replaced.
type piece struct {
	kind kind
	text string // the plain text, or the text in the braces
	raw  string // its spelling in the prompt
}

type kind int

const (
	bare kind = iota
	shell
	file
)

// arguments finds the marks for arguments in a prompt of TOML, and words of Markdown, where $100
// is no mark. escaped finds words that a backslash may keep as they are. typed finds the words behind a name: a word in quotation marks may have blanks.
var (
	arguments = text.Pattern(`\{\{args\}\}`)
	words     = text.Pattern(`\$(ARGUMENTS|[1-9]\b)`)
	escaped   = text.Pattern(`\\*\$(ARGUMENTS|\d+\b)`)
	typed     = text.Pattern(`"([^"]*)"(?:\s|$)|'([^']*)'(?:\s|$)|(\S+)`)
)

// split finds the pieces of a prompt.
func split(prompt string, markdown bool) (pieces []piece, err error) {
	marks := []string{"!{", "@{"}
	if markdown {
		marks = []string{"!`"}
	}
	for prompt != "" {
		at, mark := len(prompt), ""
		for _, m := range marks {
			if i := strings.Index(prompt, m); i >= 0 && i < at {
				at, mark = i, m
			}
		}
		if at > 0 {
			pieces = append(pieces, piece{text: prompt[:at], raw: prompt[:at]})
		}
		if mark == "" {
			break
		}
		inner := prompt[at+2:]
		end := strings.IndexByte(inner, '`')
		if !markdown {
			end = input.Closing(inner, 0)
		}
		if end < 0 && markdown {
			pieces = append(pieces, piece{text: prompt[at:], raw: prompt[at:]})
			break
		}
		if end < 0 {
			return nil, fmt.Errorf("%s has no closing brace", mark)
		}
		p := piece{kind: shell, text: strings.TrimSpace(inner[:end]), raw: prompt[at : at+2+end+1]}
		if mark == "@{" {
			p.kind = file
		}
		pieces = append(pieces, p)
		prompt = inner[end+1:]
	}
	return pieces, nil
}

// Expand returns the command's message for the model.
func (c Command) Expand(ctx context.Context, call Invocation, from Sources) ([]*genai.Part, error) {
	var parts []*genai.Part
	var said strings.Builder
	flush := func() {
		if said.Len() > 0 {
			parts = append(parts, genai.NewPartFromText(said.String()))
			said.Reset()
		}
	}
	used := call.Args == ""
	value := func(mark string) string {
		used = true
		return argument(mark, call.Args)
	}
	for _, p := range c.pieces {
		switch p.kind {
		case bare:
			said.WriteString(c.fill(p.text, value))
		case shell:
			if p.text == "" {
				break
			}
			command, err := from.Insert(p.text, c.marks(), value)
			if err != nil {
				return nil, &input.Error{Message: fmt.Sprintf("/%s: %s: %v", c.Name, text.PrintableLine(c.File), err)}
			}
			out, err := from.Run(ctx, command)
			if err != nil {
				return nil, input.UnsentError(ctx, "!{"+command+"}", err)
			}
			said.WriteString(out)
		case file:
			if p.text == "" {
				break
			}
			found, err := from.Files(ctx, p.text, c.Dir.own())
			if err != nil {
				return nil, err
			}
			if found == nil {
				said.WriteString(p.raw)
				break
			}
			flush()
			parts = append(parts, found...)
		}
	}
	if !used {
		said.WriteString("\n\n" + call.Line)
	}
	flush()
	return parts, nil
}

// fill returns text with values in the place of marks. In Markdown a single backslash before a
// mark, or before $ and a number, is removed, and the rest stays.
func (c Command) fill(text string, value func(mark string) string) string {
	if !c.Dir.Markdown {
		return arguments().ReplaceAllStringFunc(text, value)
	}
	return escaped().ReplaceAllStringFunc(text, func(found string) string {
		mark := strings.TrimLeft(found, `\`)
		if len(found) == len(mark)+1 {
			return mark
		}
		return strings.Replace(found, mark, words().ReplaceAllStringFunc(mark, value), 1)
	})
}

// marks returns the pattern of the marks for arguments in the prompt.
func (c Command) marks() *regexp.Regexp {
	if c.Dir.Markdown {
		return words()
	}
	return arguments()
}

// argument returns the value of a mark.
func argument(mark, args string) string {
	n, err := strconv.Atoi(mark[1:])
	list := typed().FindAllStringSubmatch(args, n)
	switch {
	case err != nil: // the mark of all arguments
		return args
	case n <= len(list):
		return list[n-1][1] + list[n-1][2] + list[n-1][3]
	}
	return ""
}
