package hook

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"gemline/engine/model/catalog"
)

// RunTest runs the hooks of e with a sample input, in which more replaces the members that only
// this event has. It returns the record of each run, and does not apply the answers. The subject,
// if not empty, is the value for matchers.
func (h *Hooks) RunTest(ctx context.Context, e Event, subject string, more map[string]any) []Call {
	args := map[string]any{"command": "echo hello"}
	response := map[string]any{"llmContent": "Output: hello", "returnDisplay": "hello"}
	request := modelRequest{Model: catalog.Shipped().Models[0].Name, Messages: []modelMessage{{"user", "Say hello."}}}
	answer := modelResponse{Text: "Hello.", Candidates: []modelCandidate{{FinishReason: "STOP"}}}
	answer.Candidates[0].Content.Role, answer.Candidates[0].Content.Parts = "model", []string{"Hello."}
	tool := cmp.Or(subject, "run_shell_command")
	in := map[Event]fields{
		SessionStart:        {{"source", cmp.Or(subject, "startup")}},
		SessionEnd:          {{"reason", cmp.Or(subject, "exit")}},
		PreCompress:         {{"trigger", cmp.Or(subject, "manual")}},
		BeforeAgent:         {{"prompt", "Say hello."}},
		AfterAgent:          {{"prompt", "Say hello."}, {"prompt_response", "Hello."}, {"stop_hook_active", false}},
		BeforeModel:         {{"llm_request", request}},
		BeforeToolSelection: {{"llm_request", request}},
		AfterModel:          {{"llm_request", request}, {"llm_response", answer}},
		BeforeTool:          {{"tool_name", tool}, {"tool_input", args}},
		AfterTool:           {{"tool_name", tool}, {"tool_input", args}, {"tool_response", response}},
		Notification: {{"notification_type", "ToolPermission"}, {"message", "Tool run: echo hello requires execution"},
			{"details", map[string]any{"type": "exec", "title": "run: echo hello", "command": "echo hello"}}},
	}[e]
	more = maps.Clone(more)
	for i, f := range in {
		if v, ok := more[f.name]; ok {
			in[i].value = v
			delete(more, f.name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(more)) {
		in = append(in, field{name, more[name]})
	}
	subject, _ = in[0].value.(string) // if the event has a subject
	return h.calls(ctx, e, subject, in)
}
