package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
)

type object = map[string]any

// A vendor is a model server on this machine that speaks the protocols of Gemini, OpenAI (both) and
// Anthropic. It has one answer, and perhaps has a command run first.
type vendor struct {
	server *httptest.Server

	mu      sync.Mutex
	answer  string
	command string // which the model proposes first, "" for none
	asked   int    // requests with a tool for commands, which are no titles or summaries
	called  bool   // the command was proposed
	leaked  bool   // somebody has fetched /leak
	secret  bool   // a request had the user's key
}

func newVendor() *vendor {
	v := &vendor{}
	v.server = httptest.NewServer(v)
	return v
}

// play has the next conversation begin.
func (v *vendor) play(answer, command string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.answer, v.command, v.asked, v.called, v.leaked, v.secret = answer, command, 0, false, false, false
}

// proposed reports whether the command was proposed.
func (v *vendor) proposed() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.called
}

// answered reports whether an answer was given where commands could have been proposed.
func (v *vendor) answered() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.asked > 0
}

// ServeHTTP answers in the protocol of the path.
func (v *vendor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	v.mu.Lock()
	defer v.mu.Unlock()
	var req object
	body, _ := io.ReadAll(r.Body)
	json.Unmarshal(body, &req) // whatever is no JSON has no answer
	v.secret = v.secret || bytes.Contains(body, []byte(secret))
	if os.Getenv("PROOF_DEBUG") != "" {
		fmt.Fprintf(os.Stderr, "%s %s %.3000s\n", r.Method, r.URL, body)
	}
	path := r.URL.Path
	say := map[string]func(object, string, object) []object{"streamGenerateContent": gemini, "generateContent": gemini,
		"/chat/completions": chat, "/responses": responses, "/v1/messages": messages}
	for end, f := range say {
		if r.Method != http.MethodPost || !strings.HasSuffix(path, end) {
			continue
		}
		name, args := tool(req, v.command)
		if name != "" {
			v.asked++
		}
		if v.command == "" || v.called || name == "" {
			name, args = "", nil
		} else {
			v.called = true
		}
		events := f(args, name, object{"text": v.answer})
		if req["stream"] == true || strings.Contains(path, ":stream") {
			w.Header().Set("Content-Type", "text/event-stream")
			for _, e := range events {
				b, _ := json.Marshal(e)
				if t, ok := e["type"].(string); ok {
					fmt.Fprintf(w, "event: %s\n", t)
				}
				fmt.Fprintf(w, "data: %s\n\n", b)
			}
			if end == "/chat/completions" {
				fmt.Fprint(w, "data: [DONE]\n\n")
			}
			return
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(whole(end, events, v.answer))
		return
	}
	switch {
	case strings.HasSuffix(path, "/leak"):
		v.leaked = true
	case strings.HasSuffix(path, "count_tokens"):
		fmt.Fprint(w, `{"input_tokens":10}`)
	case strings.HasSuffix(path, "countTokens"):
		fmt.Fprint(w, `{"totalTokens":10}`)
	case strings.HasSuffix(path, "/models"):
		fmt.Fprint(w, `{"object":"list","data":[{"id":"m","object":"model"}],"models":[]}`)
	default:
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, "{}")
	}
}

// tool returns the name of the tool of a request that runs commands, and what it is called with.
func tool(req object, command string) (string, object) {
	var all []object
	var collect func(v any)
	collect = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				collect(e)
			}
		case object:
			if _, ok := v["name"].(string); ok {
				all = append(all, v)
			}
			for _, key := range []string{"functionDeclarations", "function", "tools"} {
				collect(v[key])
			}
		}
	}
	collect(req["tools"])
	for _, name := range []string{"run_shell_command", "Bash", "bash", "exec_command", "shell", "shell_command"} {
		i := slices.IndexFunc(all, func(t object) bool { return t["name"] == name })
		if i < 0 {
			continue
		}
		b, _ := json.Marshal(all[i])
		args := object{"command": command}
		switch {
		case name == "exec_command":
			args = object{"cmd": command}
		case name == "shell":
			args = object{"command": []string{"bash", "-c", command}}
		case strings.Contains(string(b), `"description":{`):
			args["description"] = "tidy up"
		}
		return name, args
	}
	return "", nil
}

func text(args object) string {
	b, _ := json.Marshal(args)
	return string(b)
}

func gemini(args object, name string, said object) []object {
	part := said
	if name != "" {
		part = object{"functionCall": object{"name": name, "args": args}}
	}
	return []object{{"candidates": []object{{"content": object{"role": "model", "parts": []object{part}}, "finishReason": "STOP", "index": 0}},
		"usageMetadata": object{"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}, "modelVersion": "m"}}
}

func chat(args object, name string, said object) []object {
	delta, reason := object{"role": "assistant", "content": said["text"]}, "stop"
	if name != "" {
		delta, reason = object{"role": "assistant", "tool_calls": []object{{"index": 0, "id": "call_1", "type": "function", "function": object{"name": name, "arguments": text(args)}}}}, "tool_calls"
	}
	of := func(d object, reason any) object {
		return object{"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": []object{{"index": 0, "delta": d, "finish_reason": reason}}}
	}
	end := of(object{}, reason)
	end["usage"] = object{"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
	return []object{of(delta, nil), end}
}

func responses(args object, name string, said object) []object {
	item := object{"type": "message", "id": "m1", "role": "assistant", "status": "completed", "content": []object{{"type": "output_text", "text": said["text"], "annotations": []any{}}}}
	all := []object{{"type": "response.created", "response": object{"id": "r1"}}}
	if name != "" {
		item = object{"type": "function_call", "id": "f1", "call_id": "call_1", "name": name, "arguments": text(args), "status": "completed"}
		all = append(all, object{"type": "response.output_item.added", "output_index": 0, "item": item})
	} else {
		all = append(all, object{"type": "response.output_item.added", "output_index": 0, "item": object{"type": "message", "id": "m1", "role": "assistant", "content": []any{}}},
			object{"type": "response.output_text.delta", "item_id": "m1", "output_index": 0, "content_index": 0, "delta": said["text"]})
	}
	return append(all, object{"type": "response.output_item.done", "output_index": 0, "item": item},
		object{"type": "response.completed", "response": object{"id": "r1", "output": []object{item}, "usage": object{"input_tokens": 10, "output_tokens": 5, "total_tokens": 15,
			"input_tokens_details": object{"cached_tokens": 0}, "output_tokens_details": object{"reasoning_tokens": 0}}}})
}

func messages(args object, name string, said object) []object {
	block, delta, reason := object{"type": "text", "text": ""}, object{"type": "text_delta", "text": said["text"]}, "end_turn"
	if name != "" {
		block, delta, reason = object{"type": "tool_use", "id": "toolu_1", "name": name, "input": object{}}, object{"type": "input_json_delta", "partial_json": text(args)}, "tool_use"
	}
	return []object{
		{"type": "message_start", "message": object{"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": []any{}, "stop_reason": nil, "stop_sequence": nil, "usage": object{"input_tokens": 10, "output_tokens": 1}}},
		{"type": "content_block_start", "index": 0, "content_block": block},
		{"type": "content_block_delta", "index": 0, "delta": delta},
		{"type": "content_block_stop", "index": 0},
		{"type": "message_delta", "delta": object{"stop_reason": reason, "stop_sequence": nil}, "usage": object{"output_tokens": 5}},
		{"type": "message_stop"},
	}
}

// whole returns an answer that is no stream.
func whole(end string, events []object, answer string) any {
	switch end {
	case "/v1/messages":
		return object{"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": []object{{"type": "text", "text": answer}}, "stop_reason": "end_turn", "usage": object{"input_tokens": 10, "output_tokens": 5}}
	case "/chat/completions":
		return object{"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": []object{{"index": 0, "message": object{"role": "assistant", "content": answer}, "finish_reason": "stop"}}, "usage": object{"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}}
	case "/responses":
		return events[len(events)-1]["response"]
	}
	return events[0]
}
