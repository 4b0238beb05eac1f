package compress

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/text"
)

// A Masking says which outputs of tools are moved to files.
type Masking struct {
	Protected int  // tokens of the newest outputs, which stay
	Least     int  // if older outputs have fewer tokens, all stay
	Latest    bool // the outputs of the last message stay, too
}

// exempt are the tools whose outputs stay: they are short, or the user's words.
var exempt = []string{"activate_skill", "ask_user", "enter_plan_mode", "exit_plan_mode"}

// leastWorth is the size in tokens from which an output is moved to a file: a preview and a path
// take almost as many.
const leastWorth = 250

// A place is the position of an answer to a call in a conversation.
type place struct{ message, part int }

// mask returns the conversation of s with older outputs moved to files, nil if there are none to
// move. If a file can't be written, the output stays, and the failure is reported once.
func (c *Compressor) mask(s engine.FitRequest, m Masking) []*genai.Content {
	out, err := c.masked(s.History, m)
	if err != nil && !c.writeFailed {
		c.writeFailed = true
		s.Notify(engine.Notice{Text: fmt.Sprintf("old outputs stay in the conversation: %v", err)})
	}
	return out
}

func (c *Compressor) masked(said []*genai.Content, m Masking) (out []*genai.Content, err error) {
	end := len(said)
	if m.Latest {
		end--
	}
	var old []place
	kept, prunable, crossed := 0, 0, false
	for i := end - 1; i >= 0; i-- {
		for j := len(said[i].Parts) - 1; j >= 0; j-- {
			fr := said[i].Parts[j].FunctionResponse
			if fr == nil || slices.Contains(exempt, fr.Name) {
				continue
			}
			n := c.size(fr)
			if crossed = crossed || kept+n > m.Protected; !crossed {
				kept += n
			} else if n > leastWorth && !isMasked(fr) {
				prunable += n
				old = append(old, place{i, j})
			}
		}
	}
	if prunable < m.Least || len(old) == 0 {
		return nil, nil
	}
	out = slices.Clone(said)
	changed := false
	for _, at := range old {
		was := out[at.message]
		var p *genai.Part
		short := preview
		if at.message == len(said)-1 { // the model has not read it yet
			short = excerpt
		}
		if p, err = c.maskPart(was.Parts[at.part], short); err != nil {
			break // earlier outputs are in files
		}
		if p == nil {
			continue
		}
		parts := slices.Clone(was.Parts)
		parts[at.part] = p
		out[at.message], changed = &genai.Content{Role: was.Role, Parts: parts}, true
	}
	c.sizes = nil // since the sizes also count removed content
	if !changed {
		return nil, err
	}
	return out, err
}

// size returns about how many tokens the texts of an answer take, and caches the result.
func (c *Compressor) size(fr *genai.FunctionResponse) int {
	if n, ok := c.sizes[fr]; ok {
		return n
	}
	if c.sizes == nil {
		c.sizes = map[*genai.FunctionResponse]int{}
	}
	texts := &genai.FunctionResponse{Name: fr.Name, Response: fr.Response}
	n, _ := engine.EstimateTokens([]*genai.Part{{FunctionResponse: texts}})
	c.sizes[fr] = n
	return n
}

// isMasked reports whether the output of an answer is in a file already.
func isMasked(fr *genai.FunctionResponse) bool {
	_, output := output(fr)
	return strings.HasPrefix(output, maskBegin)
}

const (
	maskBegin = "<tool_output_masked>"
	maskEnd   = "</tool_output_masked>"
)

// output returns the only text of an answer and its key. It returns any other answer as JSON,
// with the usual key.
func output(fr *genai.FunctionResponse) (key, s string) {
	rest := 0
	for k, v := range fr.Response {
		t, ok := v.(string)
		switch {
		case !ok:
			rest += leastWorth
		case len(t) > len(s) || s == "" && k == "output":
			rest += len(s)
			key, s = k, t
		default:
			rest += len(t)
		}
	}
	if rest <= leastWorth/2 {
		return key, s
	}
	b, err := text.JSON(fr.Response, "  ")
	if err != nil {
		return "", ""
	}
	return "", string(b)
}

// maskPart returns p with the output moved to a file, nil if that would save nothing.
func (c *Compressor) maskPart(p *genai.Part, shorten func(string) string) (*genai.Part, error) {
	fr := *p.FunctionResponse
	key, all := output(&fr)
	short := strings.ReplaceAll(shorten(all), maskEnd, "&lt;"+maskEnd[1:])
	if len(short)+leastWorth > len(all) {
		return nil, nil
	}
	path, err := c.cfg.Keep(fileName(fr.Name+"_"+fr.ID), all)
	if err != nil {
		return nil, err
	}
	said := fmt.Sprintf("%s\n%s\n\nOutput too large. Full output available at: %s\n%s", maskBegin, short, path, maskEnd)
	if key == "" {
		fr.Response = map[string]any{"output": said}
	} else {
		fr.Response = maps.Clone(fr.Response)
		fr.Response[key] = said
	}
	q := *p
	q.FunctionResponse = &fr
	return &q, nil
}

// preview returns the beginning and the end of an output, by lines if it has many. So marks
// around it and the exit status of a command remain.
func preview(s string) string {
	const lines, most = 10, 250
	if all := strings.Split(s, "\n"); len(all) > 2*lines {
		omitted := fmt.Sprintf("... [%d lines omitted] ...", len(all)-2*lines)
		short := slices.Concat(all[:lines], []string{"", omitted, ""}, all[len(all)-lines:])
		for i, l := range short {
			short[i] = text.Shorten(l, most)
		}
		return strings.Join(short, "\n")
	}
	return ends(s, most, most)
}

// excerpt is a longer preview.
func excerpt(s string) string { return ends(s, 8_000, 32_000) }

// ends returns the first and last characters of s.
func ends(s string, first, last int) string {
	if len(s) <= first+last {
		return s
	}
	from, to := first, len(s)-last
	for from > 0 && !utf8.RuneStart(s[from]) {
		from--
	}
	for to < len(s) && !utf8.RuneStart(s[to]) {
		to++
	}
	return s[:from] + "\n... [TRUNCATED] ...\n" + s[to:]
}

// fileName returns s as a valid file name.
func fileName(s string) string {
	const most = 100
	s = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		}
		return '_'
	}, strings.ToLower(s))
	return s[:min(len(s), most)]
}
