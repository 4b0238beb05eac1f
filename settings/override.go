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
	flag func(*flags.Set) (name string, v any, ok bool) // nil without a flag
}

func overrides() (all []override) {
	byFlag := map[string]func(*flags.Set) (string, any, bool){
		"model.name": func(f *flags.Set) (string, any, bool) {
			name := strings.TrimSpace(f.Model)
			return "--model", name, name != ""
		},
		"model.maxSessionTurns": func(f *flags.Set) (string, any, bool) {
			return "--max-turns", json.Number(strconv.Itoa(f.MaxTurns)), f.MaxTurns != 0
		},
		"check": func(f *flags.Set) (string, any, bool) {
			return "--check", f.Check, f.Check != ""
		},
		"model.disableLoopDetection": func(f *flags.Set) (string, any, bool) {
			return "--no-loop-check", true, f.NoLoopCheck
		},
		"general.offline": func(f *flags.Set) (string, any, bool) { return "--offline", true, f.Offline },
		"general.maxAttempts": func(f *flags.Set) (string, any, bool) {
			return "--max-attempts", json.Number(strconv.Itoa(f.MaxAttempts)), f.MaxAttempts != 0
		},
		"general.defaultApprovalMode": func(f *flags.Set) (string, any, bool) {
			name := "--approval-mode"
			if f.ApprovalMode == "" {
				name = "--yolo"
			}
			return name, f.Mode(), f.Mode() != ""
		},
		"output.format": func(f *flags.Set) (string, any, bool) {
			name := "--output-format"
			if f.OutputFormat == "" {
				name = "--json"
			}
			return name, f.Format(), f.Format() != ""
		},
		"ui.accessibility.screenReader": func(f *flags.Set) (string, any, bool) {
			name, off := f.PlainFlag()
			return name, !off, name != ""
		},
		"ui.stream": func(f *flags.Set) (string, any, bool) { return "--stream", f.Stream, f.Stream != "" },
		"ui.detail": func(f *flags.Set) (string, any, bool) { return "--detail", f.Detail, f.Detail != "" },
		"ui.ascii":  func(f *flags.Set) (string, any, bool) { return "--ascii", true, f.ASCII },
		"tools.sandbox": func(f *flags.Set) (string, any, bool) {
			return "--sandbox", cmp.Or(switched(f.Sandbox.Value), On), f.Sandbox.Set
		},
		"context.includeDirectories": func(f *flags.Set) (string, any, bool) {
			return "--include-directories", items(f.IncludeDirs), len(f.IncludeDirs) > 0
		},
	}
	for _, k := range table {
		if flag := byFlag[k.Name]; flag != nil || k.env != nil {
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
	for _, o := range overrides() {
		if o.Key.field == nil {
			continue
		}
		if names, values := o.variables(lookup); len(values) > 0 {
			if !o.Key.allows(values[0]) {
				return &jsonc.Error{Path: names[0], Message: o.Key.mismatch(values[0]).Error()}
			}
			o.Key.set(s, values[0])
		}
		if o.flag == nil {
			continue
		}
		if _, v, ok := o.flag(f); ok {
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
