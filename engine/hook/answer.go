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

// An Answer is what a hook wants, or several hooks together.
type Answer struct {
	Stop     bool   // the run is to end
	Decision string // "allow", "ask" or "block"; empty if nothing was said

	// StopReason and Reason say why; see [Answer.Why].
	StopReason, Reason string

	// Message is for the user, and HookNames names the hooks whose Decision it is.
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

// decision returns which decision a word of JSON is, in capitals or not, "" if it is none.
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

// text returns a specific field that is a text.
func (a Answer) text(name string) string {
	s, _ := a.Specific[name].(string)
	return s
}

// object returns a specific field that is an object, nil if it is none.
func (a Answer) object(name string) map[string]any {
	o, _ := a.Specific[name].(map[string]any)
	return o
}

// context returns the additional context as the model is given it, empty if there is
// none. What looks like a mark in it is none.
func (a Answer) context() string {
	text := a.text("additionalContext")
	if text == "" {
		return ""
	}
	return "<hook_context>" + strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace(text) + "</hook_context>"
}

// answer returns what the output of a hook says, and false if it says nothing.
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

// answer returns the hook's answer, and false if it has none. If the hook can prevent an action,
// and it has changed or its unreadable output may mean a refusal, the user is asked about a call,
// and a prompt or a request is blocked.
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
	case BeforeAgent, BeforeModel: // where nobody is asked
		a.Decision, a.Reason = block, "hook "+name(c.Hook)+": "+why
	default:
		return a, ok
	}
	return a, true
}

// refusing finds words of an answer that may be meant to keep something from happening.
var refusing = text.Pattern(`(?i)decision|continue|den(?:y|ied)|block|reject|refus|disallow|forbid`)

// output returns the part of the hook's output that counts.
func (o Outcome) output() string {
	if o.IgnoredOutput != "" { // half an object is none
		return ""
	}
	const mark = "\ufeff" // some programs of Windows write it before their text
	plain := func(s string) string { return strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(s), mark)) }
	return cmp.Or(plain(o.Stdout), plain(o.Stderr))
}

// misread says what of the output means nothing although it was meant to, "" if that is
// nothing: a hook that is to block something must not fail to in silence.
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

// misfitting says which of the fields about a request to the model is not understood, "" if
// all are.
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

// selectionModes are what a hook may say of calls.
var selectionModes = []string{"AUTO", "ANY", "NONE"}

// parseJSON returns the JSON object that text is, nil if it is none, and reports whether
// text is JSON. A JSON string may hold the object. Of a text with other lines before or
// behind it the last object counts that begins a line.
func parseJSON(text string) (object map[string]any, ok bool) {
	var value any
	if json.Unmarshal([]byte(text), &value) != nil {
		object = lastObject(text)
		return object, object != nil
	}
	if inner, is := value.(string); is && json.Unmarshal([]byte(inner), &value) != nil {
		return nil, false
	}
	object, _ = value.(map[string]any)
	return object, true
}

// decided returns the decision in an answer. Hooks of Claude Code have it
// among the specific fields.
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

// opening finds where an object of JSON is meant to begin.
var opening = text.Pattern(`^(?:\[\s*)?\{|(?m:^\s*\{\s*(?:["']|$))`)

// answerKeys are the keys of an answer. An object in a hook's output is an answer if it has at
// least one.
var answerKeys = []string{"decision", "continue", "hookSpecificOutput", "systemMessage", "stopReason", "reason",
	"permissionDecision", "permissionDecisionReason", "additionalContext"}

// lastObject returns the last JSON object of text that ends its line and says something as
// an answer.
func lastObject(text string) (last map[string]any) {
	const most = 1 << 26 // bytes that are read for nothing
	for at, read := 0, 0; read < most; {
		begins := strings.IndexByte(text[at:], '{')
		if begins < 0 {
			break
		}
		at += begins
		d := json.NewDecoder(strings.NewReader(text[at:]))
		var object map[string]any
		if err := d.Decode(&object); err != nil {
			wrong := (*json.SyntaxError)(nil)
			if errors.As(err, &wrong) {
				read += int(wrong.Offset)
			} else {
				read += len(text) - at
			}
			at++
			continue
		}
		at += int(d.InputOffset())
		rest, _, _ := strings.Cut(text[at:], "\n")
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

// united returns what several hooks of an event want together.
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

// replaced unites answers: a field of a later answer replaces the field of an earlier answer.
func replaced(answers []Answer) (all Answer) {
	for _, a := range answers {
		all.Stop = all.Stop || a.Stop
		all.Decision = cmp.Or(a.Decision, all.Decision)
		all.StopReason, all.Reason = cmp.Or(a.StopReason, all.StopReason), cmp.Or(a.Reason, all.Reason)
		all.Specific = merged(all.Specific, a.Specific)
	}
	return all
}

// selection is how answers are united that say which tools may be called.
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

// merged returns a with the fields of b, which count.
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
