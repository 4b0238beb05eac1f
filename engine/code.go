package engine

import (
	"cmp"
	"strings"

	"google.golang.org/genai"

	"gemline/engine/text"
)

// CodeText returns code that the model's server has run, or its result, as a block in Markdown.
// It returns "" for other parts.
func CodeText(p *genai.Part) string {
	switch {
	case p == nil || p.Thought:
	case p.ExecutableCode != nil:
		language := strings.ToLower(string(p.ExecutableCode.Language))
		if p.ExecutableCode.Language == genai.LanguageUnspecified {
			language = ""
		}
		return text.Fenced(p.ExecutableCode.Code, language) + "\n"
	case p.CodeExecutionResult != nil:
		how := map[genai.Outcome]string{genai.OutcomeFailed: "The code failed:\n",
			genai.OutcomeDeadlineExceeded: "The code took too long:\n"}[p.CodeExecutionResult.Outcome]
		return how + text.Fenced(cmp.Or(strings.TrimRight(p.CodeExecutionResult.Output, "\n"), "(no output)"), "") + "\n"
	}
	return ""
}
