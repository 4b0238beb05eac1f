package enginetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"google.golang.org/genai"

	enginetext "gemline/engine/text"
)

// ParseReplies reads replies from text. A line is a reply, and an indented line
// belongs to the reply before it:
//
//	says TEXT
//	thinks TEXT
//	calls TOOL NAME=VALUE ...
//	uses PROMPT OUTPUT
//	ends REASON
//	token TEXT
//	breaks
//
// TEXT is the rest of the line, or a JSON string. VALUE is JSON, or else a word. PROMPT and
// OUTPUT are numbers of tokens. REASON is a finish reason of the API. A second text in a reply
// comes in a chunk of its own. A token lets another request continue the answer. The word breaks
// closes the connection after the reply so far.
func ParseReplies(text string) ([]Reply, error) {
	var all []Reply
	for line := range strings.Lines(text) {
		words := strings.TrimSpace(line)
		if words == "" {
			continue
		}
		indented := strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t")
		if !indented {
			all = append(all, Reply{Chunks: []*genai.GenerateContentResponse{Chunk(genai.FinishReasonStop)}})
		} else if len(all) == 0 {
			return nil, fmt.Errorf("%q belongs to no reply", words)
		}
		if err := all[len(all)-1].add(words); err != nil {
			return nil, fmt.Errorf("%q: %w", words, err)
		}
	}
	return all, nil
}

// add adds a line of a conversation to r.
func (r *Reply) add(line string) error {
	last := r.Chunks[len(r.Chunks)-1]
	verb, rest, _ := strings.Cut(line, " ")
	switch verb {
	case "says", "thinks":
		p := &genai.Part{Text: rest, Thought: verb == "thinks"}
		if strings.HasPrefix(rest, `"`) {
			if err := json.Unmarshal([]byte(rest), &p.Text); err != nil {
				return err
			}
		}
		if len(last.Candidates[0].Content.Parts) > 0 {
			last.Candidates[0].FinishReason = ""
			last = Chunk(genai.FinishReasonStop)
			r.Chunks = append(r.Chunks, last)
		}
		last.Candidates[0].Content.Parts = append(last.Candidates[0].Content.Parts, p)
	case "calls":
		name, args, _ := strings.Cut(rest, " ")
		values, err := arguments(args)
		if err != nil {
			return err
		}
		content := last.Candidates[0].Content
		content.Parts = append(content.Parts, &genai.Part{FunctionCall: &genai.FunctionCall{Name: name, Args: values}})
	case "uses":
		var prompt, output int32
		if _, err := fmt.Sscan(rest, &prompt, &output); err != nil {
			return err
		}
		*r = r.With(prompt, output)
	case "ends":
		last.Candidates[0].FinishReason = genai.FinishReason(rest)
	case "token":
		last.Candidates[0].ContinuationToken = []byte(rest)
	case "breaks":
		last.Candidates[0].FinishReason = ""
		r.Err = errors.New("the connection broke")
	default:
		return fmt.Errorf("a reply says, thinks, calls, uses, ends, has a token or breaks")
	}
	return nil
}

// arguments reads NAME=VALUE ....
func arguments(text string) (map[string]any, error) {
	args := map[string]any{}
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		name, rest, ok := strings.Cut(text, "=")
		if !ok {
			return nil, fmt.Errorf("%q is no NAME=VALUE", text)
		}
		word, _, _ := strings.Cut(rest, " ")
		var v any
		var raw json.RawMessage
		in := json.NewDecoder(strings.NewReader(rest))
		err := in.Decode(&raw)
		enginetext.Unmarshal(raw, &v) // which was read
		end := int(in.InputOffset())
		switch {
		case err == nil && (end == len(rest) || rest[end] == ' '):
		case rest != "" && strings.Contains(`"[{`, rest[:1]):
			return nil, fmt.Errorf("the value of %s is no JSON", name)
		default:
			v, end = word, len(word)
		}
		args[name], text = v, rest[end:]
	}
	return args, nil
}
