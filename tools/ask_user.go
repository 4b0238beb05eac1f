package tools

import (
	"context"
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"gemline/engine"
	"gemline/engine/text"
	"gemline/tools/toolkit"
)

//go:embed doc/ask_user.md
var askUserDoc string

const askUserSchema = `{"type":"object","properties":{"questions":{"type":"array","minItems":1,"maxItems":4,"description":"1 to 4 of them",
"items":{"type":"object","properties":{
"question":{"type":"string"},
"header":{"type":"string","description":"What it is about, in a word or two"},
"type":{"type":"string","enum":["choice","text","yesno"]},
"options":{"type":"array","description":"For a choice: 2 to 4, the recommended one first",
"items":{"type":"object","properties":{"label":{"type":"string","description":"1 to 5 words"},"description":{"type":"string","description":"What it would mean"}},"required":["label","description"]}},
"multiSelect":{"type":"boolean","description":"Several options may be chosen"},
"placeholder":{"type":"string","description":"An example of an answer to a text question"}},
"required":["question","header","type"]}}},"required":["questions"]}`

type askUserArgs struct {
	Questions []askUserQuestion `json:"questions"`
}

type askUserQuestion struct {
	Question    string          `json:"question"`
	Header      string          `json:"header"`
	Type        string          `json:"type"`
	Options     []askUserOption `json:"options"`
	Multi       bool            `json:"multiSelect"`
	Placeholder string          `json:"placeholder"`
}

type askUserOption struct {
	Label       string `json:"label"`
	Description string `json:"description"`
}

// Limits of a call, as the user must read all questions.
const (
	leastOptions        = 2
	mostOptions         = 4
	longestQuestion     = 10_000 // characters
	longestWords        = 200    // of a header, a label or a placeholder
	longestDescription  = 2_000
	dismissed           = "User dismissed ask_user dialog without answering."
	dismissedForDisplay = "no answer"
)

// askUser returns the tool that puts questions to the user. Its host asks them, so that it
// works wherever calls can be approved.
func askUser() engine.Tool {
	var tool engine.Tool
	tool = toolkit.Define("ask_user", "Ask User", engine.AskUser, askUserDoc, askUserSchema,
		func(_ context.Context, a askUserArgs) (engine.Call, error) {
			qs, err := a.questions()
			if err != nil {
				return engine.Call{}, err
			}
			in := engine.Intent{Title: "ask the user, " + text.Count(len(qs), "question"), Questions: qs}
			return engine.Call{Intent: in, Run: func(ctx context.Context, host engine.Host) (engine.Result, error) {
				answer, err := host.Approve(ctx, engine.Proposal{Tool: tool, Intent: in})
				if err != nil {
					return engine.Result{}, err
				}
				if nobody, ok := answer.(engine.Unasked); ok {
					return engine.Result{}, &engine.CallError{Type: engine.NeedsConfirmation,
						Message: "Nobody could be asked; " + nobody.Advice, Display: "denied: nobody to ask"}
				}
				said, _ := answer.(engine.Replied)
				return answered(qs, said.Replies), nil
			}}, nil
		})
	return tool
}

// questions returns the questions, or an error if a question can't be asked.
func (a askUserArgs) questions() ([]engine.Question, error) {
	qs := make([]engine.Question, len(a.Questions))
	for i, q := range a.Questions {
		var err error
		if qs[i], err = q.shaped(fmt.Sprintf("params/questions/%d", i)); err != nil {
			return nil, err
		}
	}
	return qs, nil
}

func (q askUserQuestion) shaped(path string) (engine.Question, error) {
	asked := strings.ReplaceAll(strings.ReplaceAll(q.Question, "\r\n", "\n"), `\n`, "\n") // some models escape twice
	out := engine.Question{Header: text.Words(q.Header), Text: strings.TrimSpace(asked), Hint: text.Words(q.Placeholder)}
	for _, part := range []struct {
		name, text string
		most       int
	}{{"question", out.Text, longestQuestion}, {"header", out.Header, longestWords}, {"placeholder",
		out.Hint, longestWords}} {
		if utf8.RuneCountInString(part.text) > part.most {
			return out, toolkit.Misuse("%s/%s must NOT have more than %d characters", path, part.name, part.most)
		}
	}
	if out.Text == "" {
		return out, toolkit.Misuse("%s/question must not be empty", path)
	}
	switch q.Type {
	case "text":
		out.Kind = engine.FreeText
	case "yesno":
		out.Kind = engine.YesNo
	default:
		out.Multi = q.Multi
		return out, q.offer(&out, path+"/options")
	}
	return out, nil
}

// offer puts the options of a choice into out.
func (q askUserQuestion) offer(out *engine.Question, path string) error {
	if n := len(q.Options); n < leastOptions || n > mostOptions {
		return toolkit.Misuse("%s must hold %d to %d options for a choice, not %d", path, leastOptions, mostOptions, n)
	}
	seen := map[string]bool{}
	for i, o := range q.Options {
		label, description := text.Words(o.Label), text.Words(o.Description)
		same := strings.ToLower(label)
		switch {
		case label == "":
			return toolkit.Misuse("%s/%d/label must not be empty", path, i)
		case utf8.RuneCountInString(label) > longestWords:
			return toolkit.Misuse("%s/%d/label must NOT have more than %d characters", path, i, longestWords)
		case utf8.RuneCountInString(description) > longestDescription:
			return toolkit.Misuse("%s/%d/description must NOT have more than %d characters", path, i, longestDescription)
		case seen[same]:
			return toolkit.Misuse("%s/%d/label must differ from the others", path, i)
		}
		seen[same] = true
		out.Options = append(out.Options, engine.Option{Label: label, Description: description})
	}
	return nil
}

// answered returns the user's replies as a result.
func answered(qs []engine.Question, replies []string) engine.Result {
	answers := map[string]string{}
	shown := make([]string, len(qs))
	for i, q := range qs {
		shown[i] = dismissedForDisplay
		if i < len(replies) && replies[i] != "" {
			answers[strconv.Itoa(i)] = replies[i]
			shown[i] = replies[i]
		}
		if q.Header != "" {
			shown[i] = q.Header + ": " + shown[i]
		}
	}
	if len(answers) == 0 {
		return engine.Result{Text: dismissed, Display: dismissedForDisplay}
	}
	b, _ := text.JSON(map[string]any{"answers": answers}, "") // strings can always be marshalled
	return engine.Result{Text: string(b), Display: strings.Join(shown, "\n")}
}
