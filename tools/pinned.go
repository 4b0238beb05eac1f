package tools

import (
	"strings"

	"google.golang.org/genai"

	"gemline/tools/plan"
	"gemline/tools/skill"
)

// PinnedResult returns a key for a result that stays valid until the next result with the
// same key: the list of todos, the approval of a plan, the instructions of a skill. It
// returns "" for other results.
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
