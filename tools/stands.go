package tools

import (
	"strings"

	"google.golang.org/genai"
)

// Standing returns a word for what an answer to a call says that counts until the next one
// with that word: what is left to do, that a plan was approved, the instructions of a skill.
// It is "" for other answers.
func Standing(answer *genai.FunctionResponse) string {
	said, _ := answer.Response["output"].(string)
	switch answer.Name {
	case todosName:
		if answer.Response["error"] == nil {
			return todosName
		}
	case exitPlanModeName:
		if strings.HasPrefix(said, approval) {
			return exitPlanModeName
		}
	case ActivateSkill:
		if rest, ok := strings.CutPrefix(said, `<activated_skill name="`); ok {
			name, _, _ := strings.Cut(rest, `"`)
			return ActivateSkill + " " + name
		}
	}
	return ""
}
