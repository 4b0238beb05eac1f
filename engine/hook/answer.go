package hook

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gemline/engine/text"
)

// An Answer is the answer of a hook, or the joint answer of several hooks.
type Answer struct {
	Stop     bool   // the run is to end
	Decision string // "allow", "ask" or "block"; empty if nothing was said

	// StopReason and Reason say why; see [Answer.Why].
	StopReason, Reason string

	// Message is for the user, and HookNames names the hooks that made the Decision.
	Message, HookNames string

	// Specific are the fields that only some events have.
	Specific map[string]any
}

// The decisions of an [Answer].
const (
	allow = "allow"
	ask   = "ask"
	block = "block"
)

// warningMark begins a message that is a warning.
const warningMark = "Warning: "

// decision returns the decision that a word stands for, in any case, "" if there is none.
func decision(word string) string {
	switch word = strings.ToLower(strings.TrimSpace(word)); word {
	case "deny", block:
		return block
	case allow, "approve":
		return allow
	case ask:
		return ask
	}
	return ""
}

// rank orders decisions: the decision with the highest rank counts.
func rank(decision string) int { return slices.Index([]string{"", allow, ask, block}, decision) }

// Why returns the reason for a stop or a block.
func (a Answer) Why() string { return cmp.Or(a.StopReason, a.Reason, "No reason provided") }

// text returns a specific field that is a string, "" if it is none.
func (a Answer) text(name string) string {
	s, _ := a.Specific[name].(string)
	return s
}

// object returns a specific field that is an object, nil if it is none.
func (a Answer) object(name string) map[string]any {
	o, _ := a.Specific[name].(map[string]any)
	return o
}

// context returns the additional context in a form for the model, "" if there is none. Marks in
// it are made harmless.
func (a Answer) context() string {
	text := a.text("additionalContext")
	if text == "" {
		return ""
	}
	return "<hook_context>" + strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace(text) + "</hook_context>"
}

// answer returns the answer in the output of a hook, and false if there is none.
func (o Outcome) answer() (a Answer, ok bool) {
	if o.failed() {
		return a, false
	}
	said := o.output()
	object, isJSON := parseJSON(said)
	ok = object != nil || said != "" && !isJSON && o.misread() == ""
	switch {
	case object != nil:
		a = newAnswer(object)
	case !ok:
	case o.Code == 0:
		a = Answer{Decision: allow, Message: said}
	case o.Code == 1:
		a = Answer{Decision: allow, Message: warningMark + said}
	default:
		a = Answer{Decision: block, Reason: said}
	}
	if o.Code == 2 && a.Decision != block {
		a.Decision = block
		a.Reason = cmp.Or(a.Reason, strings.TrimSpace(o.Stderr), "the hook ended with exit status 2")
	}
	return a, ok || a.Decision == block
}

// answer returns the hook's answer, and false if it has none. A hook that can prevent an action
// may have changed, or its unreadable output may mean a refusal. Then the user is asked about a
// call, and a prompt or a request is blocked.
func (c Call) answer() (a Answer, ok bool) {
	a, ok = c.Outcome.answer()
	why := c.Outcome.misread()
	switch {
	case errors.Is(c.Outcome.Err, ErrChanged):
		why = ErrChanged.Error()
	case why == "" || c.Outcome.failed() || rank(a.Decision) >= rank(ask) || !refusing().MatchString(c.Outcome.output()):
		return a, ok
	}
	switch c.Hook.Event {
	case BeforeTool:
		a.Decision, a.Reason = ask, why
	case BeforeAgent, BeforeModel: // where no question is possible
		a.Decision, a.Reason = block, "hook "+name(c.Hook)+": "+why
	default:
		return a, ok
	}
	return a, true
}

// refusing matches words of an answer that may mean a refusal.
var refusing = text.Pattern(`(?i)decision|continue|den(?:y|ied)|block|reject|refus|disallow|forbid`)

// output returns the relevant part of the hook's output.
func (o Outcome) output() string {
	if o.IgnoredOutput != "" { // a truncated object is invalid
		return ""
	}
	const mark = "\ufeff" // some programs of Windows write it before their text
	plain := func(s string) string { return strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(s), mark)) }
	return cmp.Or(plain(o.Stdout), plain(o.Stderr))
}

// misread describes the parts of the output that are not understood, "" if there are none: a
// failed attempt to block an action must not stay unnoticed.
func (o Outcome) misread() string {
	const most = 200 // characters of it
	said := o.output()
	object, isJSON := parseJSON(said)
	switch {
	case said == "" || said == "null":
		return ""
	case !isJSON && o.Code < 2 && opening().MatchString(said):
		return "it printed JSON that is broken: " + text.OneLine(said, most)
	case !isJSON:
		return ""
	case object == nil:
		return "it printed JSON that is no object: " + text.OneLine(said, most)
	}
	specific, _ := object["hookSpecificOutput"].(map[string]any)
	for _, value := range decided(object) {
		if word, is := value.(string); !is || word != "" && decision(word) == "" {
			return fmt.Sprintf("its decision %s is none of block, deny, ask and allow", text.OneLine(text.Compact(value), most))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		word, _ := object[key].(string)
		usual := slices.IndexFunc(answerKeys, func(k string) bool { return strings.EqualFold(strings.ReplaceAll(key, "_", ""), k) })
		switch {
		case usual >= 0 && key != answerKeys[usual]:
			return fmt.Sprintf("its %q is called %s", key, answerKeys[usual])
		case decision(word) == block && len(decided(object)) == 0 && object["continue"] == nil:
			return fmt.Sprintf("it says %q under %q, and not under \"decision\"", word, text.OneLine(key, most))
		}
	}
	if args := specific["tool_input"]; args != nil {
		if _, is := args.(map[string]any); !is {
			return "its tool_input is no object"
		}
	}
	if specific == nil && object["hookSpecificOutput"] != nil {
		return "its hookSpecificOutput is no object"
	}
	return misfitting(specific)
}

// misfitting names the field about a request to the model that is not understood, "" if there is
// none.
func misfitting(specific map[string]any) string {
	understood := map[string]func(map[string]any) bool{
		"llm_request":  func(o map[string]any) bool { _, ok := modelRequest{}.with(o); return ok },
		"llm_response": func(o map[string]any) bool { _, ok := parseResponse(o); return ok },
		"toolConfig": func(o map[string]any) bool {
			mode, isText := o["mode"].(string)
			_, isList := o["allowedFunctionNames"].([]any)
			return (o["mode"] == nil || isText && slices.Contains(selectionModes, strings.ToUpper(mode))) &&
				(o["allowedFunctionNames"] == nil || isList)
		},
	}
	for _, key := range slices.Sorted(maps.Keys(understood)) {
		if object, is := specific[key].(map[string]any); specific[key] != nil && (!is || !understood[key](object)) {
			return "its " + key + " is not understood: it does not have the form that the documentation says"
		}
	}
	return ""
}

// selectionModes are the modes of tool selection that a hook may set.
var selectionModes = []string{"AUTO", "ANY", "NONE"}

// parseJSON returns the JSON object in said, nil if there is none, and reports whether said is
// JSON. A JSON string may contain the object. In a text with other lines, the last object that
// begins a line counts.
func parseJSON(said string) (object map[string]any, ok bool) {
	var value any
	if text.Unmarshal([]byte(said), &value) != nil {
		object = lastObject(said)
		return object, object != nil
	}
	if inner, is := value.(string); is && text.Unmarshal([]byte(inner), &value) != nil {
		return nil, false
	}
	object, _ = value.(map[string]any)
	return object, true
}

// decided returns the decision in an answer, which hooks of Claude Code have among the specific
// fields.
func decided(o map[string]any) (all []any) {
	inner, _ := o["hookSpecificOutput"].(map[string]any)
	for _, in := range []map[string]any{o, inner} {
		for _, key := range []string{"decision", "permissionDecision"} {
			if in[key] != nil {
				all = append(all, in[key])
			}
		}
	}
	return all
}

// opening matches the probable beginning of a JSON object.
var opening = text.Pattern(`^(?:\[\s*)?\{|(?m:^\s*\{\s*(?:["']|$))`)

// answerKeys are the keys of an answer. An object in a hook's output is an answer if it has at
// least one.
var answerKeys = []string{"decision", "continue", "hookSpecificOutput", "systemMessage", "stopReason", "reason",
	"permissionDecision", "permissionDecisionReason", "additionalContext"}

// lastObject returns the last JSON object of said that ends its line and has a key of an answer.
func lastObject(said string) (last map[string]any) {
	const most = 1 << 26 // bytes that are read in vain
	for at, read := 0, 0; read < most; {
		begins := strings.IndexByte(said[at:], '{')
		if begins < 0 {
			break
		}
		at += begins
		d := json.NewDecoder(strings.NewReader(said[at:]))
		var document json.RawMessage
		if err := d.Decode(&document); err != nil {
			wrong := (*json.SyntaxError)(nil)
			if errors.As(err, &wrong) {
				read += int(wrong.Offset)
			} else {
				read += len(said) - at
			}
			at++
			continue
		}
		at += int(d.InputOffset())
		rest, _, _ := strings.Cut(said[at:], "\n")
		var object map[string]any
		text.Unmarshal(document, &object) // an object
		says := func(key string) bool { return object[key] != nil }
		if strings.TrimSpace(rest) == "" && slices.ContainsFunc(answerKeys, says) {
			last = object
		}
	}
	return last
}

func newAnswer(o map[string]any) (a Answer) {
	text := func(name string) string { s, _ := o[name].(string); return s }
	a = Answer{Stop: o["continue"] == false, StopReason: text("stopReason"), Reason: text("reason"),
		Message: text("systemMessage")}
	a.Specific, _ = o["hookSpecificOutput"].(map[string]any)
	for _, value := range decided(o) {
		word, _ := value.(string)
		if by := decision(word); rank(by) > rank(a.Decision) {
			a.Decision = by
		}
	}
	a.Reason = cmp.Or(a.Reason, a.text("permissionDecisionReason"), text("permissionDecisionReason"), a.text("reason"))
	return a
}

// united returns the joint answer of several hooks of an event.
func united(e Event, answers []Answer) (all Answer) {
	switch e {
	case BeforeToolSelection:
		return selection(answers)
	case BeforeModel, AfterModel:
		return replaced(answers)
	}
	var contexts []string
	for _, a := range answers {
		if a.Stop {
			all.Stop, all.StopReason = true, joined(all.StopReason, a.StopReason)
		}
		switch {
		case rank(a.Decision) > rank(all.Decision):
			all.Decision, all.HookNames = a.Decision, a.HookNames
		case a.Decision == all.Decision && a.Decision != "":
			all.HookNames += ", " + a.HookNames
		}
		all.Reason = joined(all.Reason, a.Reason)
		if text := a.text("additionalContext"); text != "" {
			contexts = append(contexts, text)
		}
		all.Specific = merged(all.Specific, a.Specific)
	}
	for _, a := range answers {
		if a.Specific["clearContext"] == true {
			all.Specific["clearContext"] = true
		}
	}
	if len(contexts) > 0 {
		all.Specific["additionalContext"] = strings.Join(contexts, "\n")
	}
	return all
}

// replaced unites answers: fields of later answers replace fields of earlier answers.
func replaced(answers []Answer) (all Answer) {
	for _, a := range answers {
		all.Stop = all.Stop || a.Stop
		all.Decision = cmp.Or(a.Decision, all.Decision)
		all.StopReason, all.Reason = cmp.Or(a.StopReason, all.StopReason), cmp.Or(a.Reason, all.Reason)
		all.Specific = merged(all.Specific, a.Specific)
	}
	return all
}

// selection unites answers about the tools that may be called.
func selection(answers []Answer) (all Answer) {
	if len(answers) == 0 {
		return all
	}
	mode, names := "AUTO", map[string]bool{}
	for _, a := range answers {
		config := a.object("toolConfig")
		m, _ := config["mode"].(string)
		switch m = strings.ToUpper(m); {
		case m == "NONE", m == "ANY" && mode == "AUTO":
			mode = m
		}
		list, _ := config["allowedFunctionNames"].([]any)
		for _, name := range list {
			names[fmt.Sprint(name)] = true
		}
	}
	if mode == "NONE" {
		clear(names)
	}
	all.Specific = map[string]any{"mode": mode, "names": slices.Sorted(maps.Keys(names))}
	return all
}

// merged returns a with the fields of b, which take precedence.
func merged(a, b map[string]any) map[string]any {
	if len(b) == 0 {
		return a
	}
	out := maps.Clone(a)
	if out == nil {
		out = map[string]any{}
	}
	maps.Copy(out, b)
	return out
}

// joined returns two texts one below the other.
func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n" + b
}
