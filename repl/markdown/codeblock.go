package markdown

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// A CodeBlock is a block of code between two fences.
type CodeBlock struct {
	Language string // the first word after the opening fence; may be empty
	Text     string // the lines between the fences
	Open     bool   // the text ends before a closing fence
}

// CodeBlocks returns the blocks of code of a text, in order, as goldmark finds
// them: with fences of any length, in lists and quotes, indented.
func CodeBlocks(s string) []CodeBlock {
	src := []byte(s)
	doc := blockParser(tableEnd{func() bool { return false }}).Parse(text.NewReader(src))
	var all []CodeBlock
	ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if code, ok := n.(*ast.FencedCodeBlock); ok && entering {
			all = append(all, codeBlockOf(code, src))
		}
		return ast.WalkContinue, nil
	})
	return all
}

func codeBlockOf(n *ast.FencedCodeBlock, src []byte) CodeBlock {
	var b CodeBlock
	end := max(n.Pos(), 0)
	if n.Info != nil {
		end = n.Info.Segment.Stop
		b.Language = languageName(n.Info.Segment.Value(src))
	}
	if i := bytes.IndexByte(src[end:], '\n'); i >= 0 {
		end += i + 1
	} else {
		end = len(src)
	}
	var code strings.Builder
	for i := range n.Lines().Len() {
		seg := n.Lines().At(i)
		code.Write(seg.Value(src))
		end = max(end, seg.Stop)
	}
	b.Text = code.String()
	line, rest, _ := bytes.Cut(src[end:], []byte("\n"))
	line = bytes.TrimLeft(line, " \t>")
	closed := bytes.HasPrefix(line, []byte("```")) || bytes.HasPrefix(line, []byte("~~~"))
	b.Open = !closed && len(bytes.TrimLeft(bytes.Join([][]byte{line, rest}, nil), " \t\r\n>")) == 0
	return b
}

// languageName returns the language in an info string, which may have braces, a file name or
// attributes.
func languageName(info []byte) string {
	s := strings.TrimLeft(strings.TrimSpace(string(info)), "{.")
	if i := strings.IndexAny(s, " \t,:{}="); i >= 0 {
		s = s[:i]
	}
	return s
}

// Is reports whether a block has a language, by any of the language's common names. The empty
// language matches all blocks.
func (b CodeBlock) Is(language string) bool {
	return language == "" || oneName(b.Language) == oneName(language)
}

// oneName returns the main name of a language.
func oneName(language string) string {
	language = strings.ToLower(language)
	for _, names := range languages {
		for name := range strings.FieldsSeq(names) {
			if name == language {
				return names
			}
		}
	}
	return language
}

// languages lists the common names of each language.
var languages = []string{
	"sh bash shell zsh shellscript",
	"powershell ps1 pwsh",
	"bat batch cmd",
	"javascript js mjs cjs node",
	"typescript ts",
	"python py python3",
	"ruby rb",
	"rust rs",
	"go golang",
	"c h",
	"c++ cpp cxx cc hpp",
	"c# csharp cs",
	"objective-c objc objectivec",
	"kotlin kt kts",
	"haskell hs",
	"perl pl",
	"yaml yml",
	"html htm",
	"markdown md",
	"latex tex",
	"dockerfile docker",
	"makefile make mk",
	"diff patch",
	"text txt plaintext plain",
	"terraform tf hcl",
}
