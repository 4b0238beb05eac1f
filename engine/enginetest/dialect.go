package enginetest

import (
	"encoding/json"
	"fmt"
	"strings"

	"google.golang.org/genai"
)

// A Dialect encodes a [Reply] for a [Server] of another protocol than Gemini's.
type Dialect struct {
	Path string // where it generates
	Type string // of a stream's content

	// write returns the JSON texts for a chunk, and with nil the texts at the end of a finished
	// answer.
	write func(d *dialogue, c *genai.GenerateContentResponse) []string
	frame func(json string) string
	whole func(d *dialogue, chunks []*genai.GenerateContentResponse) string // as a document; nil is a stream with a single chunk
}

// A dialogue is the state of an answer.
type dialogue struct {
	begun  bool
	block  int    // of Anthropic's, that is open
	kind   string // of the block, "" if none is open
	calls  int
	finish genai.FinishReason
	usage  *genai.GenerateContentResponseUsageMetadata
}

// The dialects.
var (
	OpenAI    = &Dialect{Path: "/chat/completions", Type: "text/event-stream", write: (*dialogue).openAI, frame: openAIEvent, whole: (*dialogue).openAIWhole}
	Anthropic = &Dialect{Path: "/v1/messages", Type: "text/event-stream", write: (*dialogue).anthropic, frame: anthropicEvent}
	Ollama    = &Dialect{Path: "/api/chat", Type: "application/x-ndjson", write: (*dialogue).ollama, frame: func(s string) string { return s + "\n" }, whole: (*dialogue).ollamaWhole}
)

// pieces returns the pieces of a response body.
func (d *Dialect) pieces(reply Reply, wire *Wire, stream bool) []string {
	switch {
	case wire.Body != "":
		return []string{wire.Body}
	case wire.Pieces != nil:
		return wire.Pieces
	}
	said := &dialogue{block: -1}
	if !stream && d.whole != nil {
		return []string{d.whole(said, reply.Chunks)}
	}
	frame := wire.Frame
	if frame == nil {
		frame = d.frame
	}
	all := []string{wire.Before}
	for _, c := range reply.Chunks {
		all = append(all, d.framed(said, c, frame))
	}
	if said.finish != "" && reply.Err == nil && !reply.Stall && !wire.Reset {
		all = append(all, d.framed(said, nil, frame))
	}
	return append(all, wire.After)
}

func (d *Dialect) framed(said *dialogue, c *genai.GenerateContentResponse, frame func(string) string) string {
	var b strings.Builder
	for _, s := range d.write(said, c) {
		b.WriteString(frame(s))
	}
	return b.String()
}

// Framed returns the pieces of a reply on the wire, one for each chunk, and the end of the
// answer.
func (d *Dialect) Framed(reply Reply) []string { return d.pieces(reply, &Wire{}, true) }

// listen records c, and returns its parts.
func (d *dialogue) listen(c *genai.GenerateContentResponse) (parts []*genai.Part) {
	if c.UsageMetadata != nil {
		d.usage = c.UsageMetadata
	}
	if len(c.Candidates) == 0 {
		return nil
	}
	if r := c.Candidates[0].FinishReason; r != "" {
		d.finish = r
	}
	if c.Candidates[0].Content != nil {
		parts = c.Candidates[0].Content.Parts
	}
	return parts
}

type object = map[string]any

func write(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(fmt.Sprintf("enginetest: a chunk that is not JSON: %v", err))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// thirds splits a text into pieces, as servers do.
func thirds(s string) []string {
	n := len(s) / 3
	return []string{s[:n], s[n : 2*n], s[2*n:]}
}

func openAIEvent(s string) string { return "data: " + s + "\n\n" }

func (d *dialogue) reason(names map[genai.FinishReason]string, calls string) string {
	if d.finish == genai.FinishReasonStop && d.calls > 0 {
		return calls
	}
	return names[d.finish]
}

var openAIReasons = map[genai.FinishReason]string{genai.FinishReasonStop: "stop", genai.FinishReasonMaxTokens: "length",
	genai.FinishReasonSafety: "content_filter"}

func openAIChunk(choices ...object) object {
	return object{"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m-1", "choices": choices}
}

func (d *dialogue) openAI(c *genai.GenerateContentResponse) (all []string) {
	if c == nil {
		all = append(all, write(openAIChunk(object{"index": 0, "delta": object{}, "finish_reason": d.reason(openAIReasons, "tool_calls")})))
		if d.usage != nil {
			last := openAIChunk()
			last["usage"], last["choices"] = openAIUsage(d.usage), []any{}
			all = append(all, write(last))
		}
		return append(all, "[DONE]")
	}
	say := func(delta object) {
		all = append(all, write(openAIChunk(object{"index": 0, "delta": delta, "finish_reason": nil})))
	}
	for _, p := range d.listen(c) {
		switch {
		case p.FunctionCall != nil:
			say(object{"tool_calls": []any{object{"index": d.calls, "id": p.FunctionCall.ID, "type": "function",
				"function": object{"name": p.FunctionCall.Name, "arguments": ""}}}})
			for _, piece := range thirds(write(p.FunctionCall.Args)) {
				say(object{"tool_calls": []any{object{"index": d.calls, "function": object{"arguments": piece}}}})
			}
			d.calls++
		case p.Thought:
			say(object{"reasoning_content": p.Text})
		default:
			say(object{"role": "assistant", "content": p.Text})
		}
	}
	return all
}

func openAIUsage(u *genai.GenerateContentResponseUsageMetadata) object {
	return object{"prompt_tokens": u.PromptTokenCount, "completion_tokens": u.CandidatesTokenCount + u.ThoughtsTokenCount,
		"total_tokens":              u.PromptTokenCount + u.CandidatesTokenCount + u.ThoughtsTokenCount,
		"prompt_tokens_details":     object{"cached_tokens": u.CachedContentTokenCount},
		"completion_tokens_details": object{"reasoning_tokens": u.ThoughtsTokenCount}}
}

func (d *dialogue) openAIWhole(chunks []*genai.GenerateContentResponse) string {
	message := object{"role": "assistant", "content": nil}
	text, calls := "", []any{}
	for _, c := range chunks {
		for _, p := range d.listen(c) {
			if p.FunctionCall != nil {
				d.calls++
				calls = append(calls, object{"id": p.FunctionCall.ID, "type": "function",
					"function": object{"name": p.FunctionCall.Name, "arguments": write(p.FunctionCall.Args)}})
			} else if !p.Thought {
				text += p.Text
			}
		}
	}
	if text != "" {
		message["content"] = text
	}
	if len(calls) > 0 {
		message["tool_calls"] = calls
	}
	whole := object{"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m-1",
		"choices": []any{object{"index": 0, "message": message, "finish_reason": d.reason(openAIReasons, "tool_calls")}}}
	if d.usage != nil {
		whole["usage"] = openAIUsage(d.usage)
	}
	return write(whole)
}

func anthropicEvent(s string) string {
	var o struct{ Type string }
	json.Unmarshal([]byte(s), &o) // what is no JSON has no type
	return "event: " + o.Type + "\ndata: " + s + "\n\n"
}

var anthropicReasons = map[genai.FinishReason]string{genai.FinishReasonStop: "end_turn", genai.FinishReasonMaxTokens: "max_tokens",
	genai.FinishReasonSafety: "refusal"}

func (d *dialogue) anthropic(c *genai.GenerateContentResponse) (all []string) {
	say := func(o object) { all = append(all, write(o)) }
	if !d.begun {
		d.begun = true
		say(object{"type": "message_start", "message": object{"id": "msg_1", "type": "message", "role": "assistant", "model": "m-1",
			"content": []any{}, "stop_reason": nil, "stop_sequence": nil, "usage": object{"input_tokens": 5, "output_tokens": 1}}})
		say(object{"type": "ping"})
	}
	shut := func() {
		if d.kind != "" {
			say(object{"type": "content_block_stop", "index": d.block})
			d.kind = ""
		}
	}
	open := func(kind string, block object) {
		if d.kind != kind || kind == "tool_use" {
			shut()
			d.kind, d.block = kind, d.block+1
			block["type"] = kind
			say(object{"type": "content_block_start", "index": d.block, "content_block": block})
		}
	}
	delta := func(o object) { say(object{"type": "content_block_delta", "index": d.block, "delta": o}) }
	if c == nil {
		shut()
		usage := object{"output_tokens": 7}
		if u := d.usage; u != nil {
			usage = object{"input_tokens": u.PromptTokenCount - u.CachedContentTokenCount, "cache_read_input_tokens": u.CachedContentTokenCount,
				"cache_creation_input_tokens": 0, "output_tokens": u.CandidatesTokenCount + u.ThoughtsTokenCount}
		}
		say(object{"type": "message_delta", "delta": object{"stop_reason": d.reason(anthropicReasons, "tool_use"), "stop_sequence": nil}, "usage": usage})
		say(object{"type": "message_stop"})
		return all
	}
	for _, p := range d.listen(c) {
		switch {
		case p.FunctionCall != nil:
			d.calls++
			open("tool_use", object{"id": p.FunctionCall.ID, "name": p.FunctionCall.Name, "input": object{}})
			for _, piece := range thirds(write(p.FunctionCall.Args)) {
				delta(object{"type": "input_json_delta", "partial_json": piece})
			}
		case p.Thought:
			open("thinking", object{"thinking": "", "signature": ""})
			if p.Text != "" {
				delta(object{"type": "thinking_delta", "thinking": p.Text})
			}
			if len(p.ThoughtSignature) > 0 {
				delta(object{"type": "signature_delta", "signature": string(p.ThoughtSignature)})
				shut()
			}
		default:
			open("text", object{"text": ""})
			delta(object{"type": "text_delta", "text": p.Text})
		}
	}
	return all
}

func (d *dialogue) ollama(c *genai.GenerateContentResponse) (all []string) {
	say := func(message object, more object) {
		o := object{"model": "m-1", "created_at": "2026-11-27T00:00:00Z", "message": message, "done": false}
		message["role"] = "assistant"
		for k, v := range more {
			o[k] = v
		}
		all = append(all, write(o))
	}
	if c == nil {
		last := object{"done": true, "done_reason": map[genai.FinishReason]string{genai.FinishReasonStop: "stop", genai.FinishReasonMaxTokens: "length"}[d.finish]}
		if u := d.usage; u != nil {
			last["prompt_eval_count"], last["eval_count"] = u.PromptTokenCount, u.CandidatesTokenCount+u.ThoughtsTokenCount
		}
		say(object{"content": ""}, last)
		return all
	}
	for _, p := range d.listen(c) {
		switch {
		case p.FunctionCall != nil:
			say(object{"content": "", "tool_calls": []any{object{"function": object{"name": p.FunctionCall.Name, "arguments": p.FunctionCall.Args}}}}, nil)
		case p.Thought:
			say(object{"content": "", "thinking": p.Text}, nil)
		default:
			say(object{"content": p.Text}, nil)
		}
	}
	return all
}

func (d *dialogue) ollamaWhole(chunks []*genai.GenerateContentResponse) string {
	said, thought, calls := "", "", []any{}
	for _, c := range chunks {
		for _, p := range d.listen(c) {
			switch {
			case p.FunctionCall != nil:
				calls = append(calls, object{"function": object{"name": p.FunctionCall.Name, "arguments": p.FunctionCall.Args}})
			case p.Thought:
				thought += p.Text
			default:
				said += p.Text
			}
		}
	}
	var whole object
	if err := json.Unmarshal([]byte(d.ollama(nil)[0]), &whole); err != nil {
		panic(err)
	}
	message := whole["message"].(object)
	message["content"] = said
	if thought != "" {
		message["thinking"] = thought
	}
	if len(calls) > 0 {
		message["tool_calls"] = calls
	}
	return write(whole)
}
