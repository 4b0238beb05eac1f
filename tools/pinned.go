package tools

import (
	"strings"

	"google.golang.org/genai"

	"gemline/tools/plan"
	"gemline/tools/skill"
)

// PinnedResult returns a word for what an answer to a call says that counts until the next one
// with that word: what is left to do, that a plan was approved, the instructions of a skill.
// It is "" for other answers.
func PinnedResult(answer *genai.FunctionResponse) string {
	said, _ := answer.Response["output"].(string)
	switch answer.Name {
	case plan.TodosName:
		if answer.Response["error"] == nil {
			return plan.TodosName
		}
	case plan.ExitName:
		if strings.HasPrefix(said, plan.Approval) {
			return plan.ExitName
		}
	case skill.ToolName:
		if name, ok := skill.ActivatedSkill(said); ok {
			return skill.ToolName + " " + name
		}
	}
	return ""
}
