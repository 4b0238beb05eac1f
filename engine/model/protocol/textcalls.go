package protocol

import (
	"encoding/json"
	"slices"
	"strings"

	"google.golang.org/genai"

	"gemline/engine/text"
)

// The marks of calls in text: tags of many models, marks of Mistral and Llama, and elements of
// Qwen Coder, Llama and GLM.
const (
	openCall, closeCall         = "<tool_call>", "</tool_call>"
	fence                       = "```"
	mistral, llama              = "[TOOL_CALLS]", "<|python_tag|>"
	mistralArguments            = "[ARGS]"
	openFunction, closeFunction = "<function=", "</function>"
	openArgument, closeArgument = "<parameter=", "</parameter>"
	openKey, closeKey           = "<arg_key>", "</arg_key>"
	openValue, closeValue       = "<arg_value>", "</arg_value>"
)

// maybeCall reports whether a text may be the beginning of a text that consists of calls.
func maybeCall(s string) bool {
	s = strings.TrimLeft(s, space)
	if rest, ok := strings.CutPrefix(s, fence); ok {
		kind, body, ended := strings.Cut(rest, "\n")
		kind = strings.TrimSpace(kind)
		if !ended {
			return strings.HasPrefix("json", kind) || strings.HasPrefix("tool_call", kind)
		}
		if kind != "" && kind != "json" && kind != "tool_call" {
			return false
		}
		body = strings.TrimLeft(body, space)
		return body == "" || body[0] == '{' || body[0] == '['
	}
	if list, ok := strings.CutPrefix(s, "["); ok {
		if list = strings.TrimLeft(list, space); list == "" || list[0] == '{' {
			return true
		}
	}
	return s == "" || s[0] == '{' || slices.ContainsFunc([]string{openCall, fence, mistral, llama, openFunction}, func(with string) bool {
		return strings.HasPrefix(s, with) || strings.HasPrefix(with, s)
	})
}

// textCalls returns the calls in a text, nil if the text has anything else.
func textCalls(s string, tools []Tool) (all []*genai.FunctionCall) {
	s = strings.TrimSpace(s)
	if rest, ok := strings.CutPrefix(s, fence); ok {
		_, body, _ := strings.Cut(rest, "\n")
		if s, ok = strings.CutSuffix(strings.TrimSpace(body), fence); !ok {
			return nil
		}
		s = strings.TrimSpace(s)
	}
	if rest, ok := strings.CutPrefix(s, mistral); ok {
		if calls := mistralCalls(rest, tools); calls != nil {
			return calls
		}
		s = rest
	}
	if !strings.HasPrefix(s, openCall) {
		return bareCalls(strings.TrimSpace(strings.TrimPrefix(s, llama)), tools)
	}
	for s != "" {
		rest, ok := strings.CutPrefix(s, openCall)
		body, rest, closed := strings.Cut(rest, closeCall) // some models omit it
		body = strings.TrimSpace(body)
		calls := bareCalls(body, tools)
		if name, _, _ := strings.Cut(body, openKey); calls == nil && closed {
			calls = elementCall(strings.TrimSpace(name), body[len(name):], tools)
		}
		if !ok || calls == nil {
			return nil
		}
		all, s = append(all, calls...), strings.TrimSpace(rest)
	}
	return all
}

// mistralCalls returns the calls in a text after the mark, each a name and arguments, as
// Mistral's models since 2025 write them.
func mistralCalls(s string, tools []Tool) (all []*genai.FunctionCall) {
	for {
		i := max(0, strings.IndexByte(s, '{'))
		args, rest := document(s[i:])
		name := strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(s[:i]), mistralArguments))
		calls := elementCall(name, string(args), tools)
		if args == nil || calls == nil {
			return nil
		}
		all = append(all, calls...)
		if rest == "" {
			return all
		}
		var more bool
		if s, more = strings.CutPrefix(rest, mistral); !more {
			return nil
		}
	}
}

// elementCall returns the call of a tool with arguments as [elements] reads them.
func elementCall(name, body string, tools []Tool) []*genai.FunctionCall {
	i := slices.IndexFunc(tools, func(t Tool) bool { return t.Name == name })
	if i < 0 {
		return nil
	}
	args, ok := elements(strings.TrimSpace(body), tools[i])
	if !ok {
		return nil
	}
	return []*genai.FunctionCall{{Name: name, Args: args}}
}

// document returns the JSON document at the beginning of s, nil if there is none, and the rest
// without space at its beginning.
func document(s string) (doc json.RawMessage, rest string) {
	d := json.NewDecoder(strings.NewReader(s))
	if d.Decode(&doc) != nil {
		return nil, s
	}
	return doc, strings.TrimLeft(s[d.InputOffset():], space)
}

// bareCalls returns the calls in a text without marks.
func bareCalls(s string, tools []Tool) (all []*genai.FunctionCall) {
	if !strings.HasPrefix(s, openFunction) {
		return jsonCalls(s, tools)
	}
	for s != "" {
		rest, ok := strings.CutPrefix(s, openFunction)
		name, rest, named := strings.Cut(rest, ">")
		body, rest, closed := strings.Cut(rest, closeFunction)
		calls := elementCall(name, body, tools)
		if !ok || !named || !closed || calls == nil {
			return nil
		}
		all = append(all, calls...)
		// Qwen Coder omits the first tag, but not the others.
		rest = strings.TrimPrefix(strings.TrimSpace(rest), closeCall)
		s = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(rest), openCall))
	}
	return all
}

// elements parses the arguments of a call: an element for each, or an object in JSON. In an
// element, an argument that the schema does not declare as a string is JSON.
func elements(s string, tool Tool) (args map[string]any, ok bool) {
	if strings.HasPrefix(s, "{") {
		return arguments(s)
	}
	var schema struct {
		Properties map[string]struct{ Type any }
	}
	json.Unmarshal(tool.Schema, &schema) // if it is invalid, all arguments are strings
	args = map[string]any{}
	for s != "" {
		rest, ok := strings.CutPrefix(s, openArgument)
		end, close := ">", closeArgument
		if !ok {
			rest, ok = strings.CutPrefix(s, openKey)
			end, close = closeKey, closeValue
		}
		name, rest, named := strings.Cut(rest, end)
		if close == closeValue {
			rest = strings.TrimPrefix(strings.TrimSpace(rest), openValue)
		}
		value, rest, closed := strings.Cut(rest, close)
		if !ok || !named || !closed {
			return nil, false
		}
		value = strings.TrimSuffix(strings.TrimPrefix(value, "\n"), "\n")
		args[name] = value
		if p, known := schema.Properties[name]; known && p.Type != "string" {
			var v any
			if text.Unmarshal([]byte(value), &v) == nil {
				args[name] = v
			}
		}
		s = strings.TrimSpace(rest)
	}
	return args, true
}

// jsonCalls returns the calls in a JSON text: objects or a list of objects, each with only the
// name of a tool and its arguments.
func jsonCalls(s string, tools []Tool) (all []*genai.FunctionCall) {
	var docs []json.RawMessage
	if strings.HasPrefix(s, "[") {
		if json.Unmarshal([]byte(s), &docs) != nil {
			return nil
		}
		s = ""
	}
	for s != "" {
		doc, rest := document(s)
		if doc == nil {
			return nil
		}
		docs, s = append(docs, doc), strings.TrimLeft(rest, ";"+space) // the separator of Llama's models
	}
	for _, doc := range docs {
		var o map[string]json.RawMessage
		if json.Unmarshal(doc, &o) != nil {
			return nil
		}
		if inner := o["function"]; len(inner) > 0 && inner[0] == '{' {
			o = nil
			if json.Unmarshal(inner, &o) != nil {
				return nil
			}
		}
		fc := &genai.FunctionCall{}
		given := false
		for key, value := range o {
			switch key {
			case "name":
				if json.Unmarshal(value, &fc.Name) != nil {
					return nil
				}
			case "arguments", "parameters", "args":
				if fc.Args, given = arguments(string(value)); !given {
					return nil
				}
			case "id", "type":
			default:
				return nil
			}
		}
		if !given || !slices.ContainsFunc(tools, func(t Tool) bool { return t.Name == fc.Name }) {
			return nil
		}
		all = append(all, fc)
	}
	return all
}
