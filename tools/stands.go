package tools

import (
	"strings"

	"google.golang.org/genai"
)

// Stands reports whether an answer to a call says what counts until the next one like it:
// what is left to do, or that a plan was approved.
func Stands(answer *genai.FunctionResponse) bool {
	switch answer.Name {
	case todosName:
		return answer.Response["error"] == nil
	case exitPlanModeName:
		said, _ := answer.Response["output"].(string)
		return strings.HasPrefix(said, approval)
	}
	return false
}
