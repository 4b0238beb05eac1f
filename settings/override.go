package settings

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"gemline/settings/flags"
	"gemline/settings/jsonc"
)

// A ForbiddenError is a flag that the settings forbid.
type ForbiddenError struct{ Message string }

// Error returns the message.
func (e *ForbiddenError) Error() string { return e.Message }

// An override is a key about which the environment or the command line may
// have the last word.
type override struct {
	key  string
	vars []string                                       // the first that is set and not empty counts
	flag func(*flags.Set) (name string, v any, ok bool) // nil if there is none
	on   bool                                           // the variables are switches: 1 and true turn it on, anything else off
}

func overrides() []override {
	return []override{
		{key: "model.name", vars: []string{"GEMINI_MODEL"}, flag: func(f *flags.Set) (string, any, bool) {
			name := strings.TrimSpace(f.Model)
			return "--model", name, name != ""
		}},
		{key: "model.maxSessionTurns", flag: func(f *flags.Set) (string, any, bool) {
			return "--max-turns", json.Number(strconv.Itoa(f.MaxTurns)), f.MaxTurns != 0
		}},
		{key: "general.maxAttempts", flag: func(f *flags.Set) (string, any, bool) {
			return "--max-attempts", json.Number(strconv.Itoa(f.MaxAttempts)), f.MaxAttempts != 0
		}},
		{key: "general.defaultApprovalMode", flag: func(f *flags.Set) (string, any, bool) {
			name := "--approval-mode"
			if f.ApprovalMode == "" {
				name = "--yolo"
			}
			return name, f.Mode(), f.Mode() != ""
		}},
		{key: "output.format", flag: func(f *flags.Set) (string, any, bool) {
			name := "--output-format"
			if f.OutputFormat == "" {
				name = "--json"
			}
			return name, f.Format(), f.Format() != ""
		}},
		{key: "ui.accessibility.screenReader", flag: func(f *flags.Set) (string, any, bool) {
			name, off := f.PlainFlag()
			return name, !off, name != ""
		}},
		{key: "ui.stream", flag: func(f *flags.Set) (string, any, bool) { return "--stream", f.Stream, f.Stream != "" }},
		{key: "ui.detail", flag: func(f *flags.Set) (string, any, bool) { return "--detail", f.Detail, f.Detail != "" }},
		{key: "ui.ascii", flag: func(f *flags.Set) (string, any, bool) { return "--ascii", true, f.ASCII }},
		{key: "tools.sandbox", vars: []string{"GEMINI_SANDBOX"}, flag: func(f *flags.Set) (string, any, bool) {
			return "--sandbox", cmp.Or(switched(f.Sandbox.Value), On), f.Sandbox.Set
		}},
		{key: "tools.sandbox.image", vars: []string{"GEMINI_SANDBOX_IMAGE"}},
		{key: "context.includeDirectories", flag: func(f *flags.Set) (string, any, bool) {
			items := make([]any, len(f.IncludeDirs))
			for i, dir := range f.IncludeDirs {
				items[i] = dir
			}
			return "--include-directories", items, len(items) > 0
		}},
		{key: "telemetry.enabled", vars: []string{"GEMINI_TELEMETRY_ENABLED"}, on: true},
		{key: "telemetry.traces", vars: []string{"GEMINI_TELEMETRY_TRACES_ENABLED"}, on: true},
		{key: "telemetry.target", vars: []string{"GEMINI_TELEMETRY_TARGET"}},
		{key: "telemetry.otlpEndpoint", vars: []string{"GEMINI_TELEMETRY_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"}},
		{key: "telemetry.otlpProtocol", vars: []string{"GEMINI_TELEMETRY_OTLP_PROTOCOL"}},
		{key: "telemetry.logPrompts", vars: []string{"GEMINI_TELEMETRY_LOG_PROMPTS"}, on: true},
		{key: "telemetry.outfile", vars: []string{"GEMINI_TELEMETRY_OUTFILE"}},
		{key: "telemetry.useCollector", vars: []string{"GEMINI_TELEMETRY_USE_COLLECTOR"}, on: true},
		{key: "telemetry.useCliAuth", vars: []string{"GEMINI_TELEMETRY_USE_CLI_AUTH"}, on: true},
	}
}

// variables returns what the environment says about the key, by every
// variable that says something, the strongest first.
func (o override) variables(lookup func(string) (string, bool)) (names []string, values []any) {
	for _, name := range o.vars {
		said, _ := lookup(name)
		if said = strings.TrimSpace(said); said == "" {
			continue
		}
		var v any = said
		if o.on {
			v = said == "1" || said == "true"
		}
		names, values = append(names, name), append(values, v)
	}
	return names, values
}

// Override lets the environment and then the command line have the last word.
// The error is about a flag that s forbids, a [ForbiddenError], or about a variable
// that says none of the words that there are, a [jsonc.Error].
func (s *Settings) Override(f *flags.Set, lookup func(string) (string, bool)) error {
	s.Model = strings.TrimSpace(s.Model)
	for _, o := range overrides() {
		i := slices.IndexFunc(fields(), func(k Key) bool { return k.Name == o.key })
		if i < 0 {
			continue
		}
		k := fields()[i]
		if names, values := o.variables(lookup); len(values) > 0 {
			if !k.allows(values[0]) {
				return &jsonc.Error{Path: names[0], Message: k.mismatch(values[0]).Error()}
			}
			k.set(s, values[0])
		}
		if o.flag == nil {
			continue
		}
		if _, v, ok := o.flag(f); ok {
			k.set(s, k.combine(k.get(s), v))
		}
	}
	if s.ApprovalMode == "yolo" && s.NoYolo {
		return &ForbiddenError{"yolo is switched off by security.disableYoloMode in the settings"}
	}
	return nil
}

// Confine takes back what a folder that is not trusted may not have, and
// reports whether there was such a thing.
func (s *Settings) Confine() bool {
	if s.ApprovalMode == "plan" { // which lets less run
		return false
	}
	was := s.ApprovalMode
	s.ApprovalMode = "default"
	return was == "yolo" || was == "auto_edit"
}
