package settings

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"

	"gemline/settings/flags"
	"gemline/settings/jsonc"
)

// A ForbiddenError is the error of a flag that the settings forbid.
type ForbiddenError struct{ Message string }

// Error returns the message.
func (e *ForbiddenError) Error() string { return e.Message }

// An override is a key that the environment or the command line may override.
type override struct {
	Key  Key
	flag flagValue
}

// A flagValue is the value that the command line gives to a key.
type flagValue struct {
	name  string
	value any
	given bool
}

// overrides returns the overrides with the values of f, which may be nil.
func overrides(f *flags.Set) (all []override) {
	if f == nil {
		f = &flags.Set{}
	}
	number := func(n int) json.Number { return json.Number(strconv.Itoa(n)) }
	model := strings.TrimSpace(f.Model)
	plain, off := f.PlainFlag()
	byKey := map[string]flagValue{
		"model.name":                    {"--model", model, model != ""},
		"model.maxSessionTurns":         {"--max-turns", number(f.MaxTurns), f.MaxTurns != 0},
		"check":                         {"--check", f.Check, f.Check != ""},
		"model.disableLoopDetection":    {"--no-loop-check", true, f.NoLoopCheck},
		"general.offline":               {"--offline", true, f.Offline},
		"general.maxAttempts":           {"--max-attempts", number(f.MaxAttempts), f.MaxAttempts != 0},
		"general.defaultApprovalMode":   {cmp.Or(f.First("--approval-mode"), "--yolo"), f.Mode(), f.Mode() != ""},
		"output.format":                 {cmp.Or(f.First("--output-format"), "--json"), f.Format(), f.Format() != ""},
		"ui.accessibility.screenReader": {plain, !off, plain != ""},
		"ui.stream":                     {"--stream", f.Stream, f.Stream != ""},
		"ui.detail":                     {"--detail", f.Detail, f.Detail != ""},
		"ui.ascii":                      {"--ascii", true, f.ASCII},
		"tools.sandbox":                 {"--sandbox", cmp.Or(switched(f.Sandbox.Value), On), f.Sandbox.Set},
		"context.includeDirectories":    {"--include-directories", items(f.IncludeDirs), len(f.IncludeDirs) > 0},
	}
	for _, k := range table {
		if flag, ok := byKey[k.Name]; ok || k.env != nil {
			all = append(all, override{k, flag})
		}
	}
	return all
}

// variables returns the variables that set the key, with their values, the strongest first.
func (o override) variables(lookup func(string) (string, bool)) (names []string, values []any) {
	for _, name := range o.Key.env {
		said, _ := lookup(name)
		if said = strings.TrimSpace(said); said == "" {
			continue
		}
		var v any = said
		if o.Key.Type == isBool { // any other value is off
			v = said == "1" || said == "true"
		}
		names, values = append(names, name), append(values, v)
	}
	return names, values
}

// Override applies the environment and then the command line. The error is about a flag that s
// forbids, a [ForbiddenError], or about an invalid value of a variable, a [jsonc.Error].
func (s *Settings) Override(f *flags.Set, lookup func(string) (string, bool)) error {
	s.Model = strings.TrimSpace(s.Model)
	for _, o := range overrides(f) {
		if o.Key.field == nil {
			continue
		}
		if names, values := o.variables(lookup); len(values) > 0 {
			if !o.Key.allows(values[0]) {
				return &jsonc.Error{Path: names[0], Message: o.Key.mismatch(values[0]).Error()}
			}
			o.Key.set(s, values[0])
		}
		if v := o.flag.value; o.flag.given {
			if list, is := o.Key.field(s).(*[]string); is {
				v = o.Key.combine(items(*list), v)
			}
			o.Key.set(s, v)
		}
	}
	if s.ApprovalMode == "yolo" && s.NoYolo {
		return &ForbiddenError{"yolo is switched off by security.disableYoloMode in the settings"}
	}
	return nil
}

// Confine removes settings that an untrusted folder may not have, and reports whether there were
// any.
func (s *Settings) Confine() bool {
	if s.ApprovalMode == "plan" { // plan mode allows less
		return false
	}
	was := s.ApprovalMode
	s.ApprovalMode = "default"
	return was == "yolo" || was == "auto_edit" || was == "auto"
}
