package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gemline/engine"
	"gemline/engine/text"
	"gemline/tools/toolkit"
)

const completeName = engine.ReportTool

// tool returns the tool by which an agent reports. It hands the report to done.
func (r Report) tool(done func(report any)) engine.Tool {
	name, schema := cmp.Or(r.Name, "result"), cmp.Or(r.Schema, `{"type":"string","description":"The whole report"}`)
	encoded, _ := json.Marshal(name)
	all := `{"type":"object","properties":{` + string(encoded) + `:` + schema + `},"required":[` +
		string(encoded) + `]}`
	const about = "Ends your work: hands in your report, which is all that is read of it. Call it alone in its message."
	t := toolkit.Define(completeName, "Complete Task", engine.Think, about, all,
		func(_ context.Context, args map[string]any) (engine.Call, error) {
			if s, isText := args[name].(string); isText && strings.TrimSpace(s) == "" {
				return engine.Call{}, &engine.CallError{Type: engine.InvalidToolParams, Message: "The report is empty."}
			}
			return engine.Call{Intent: engine.Intent{Title: "report"},
				Run: func(context.Context, engine.Host) (engine.Result, error) {
					done(args[name])
					return engine.Result{Text: "The report was handed in."}, nil
				}}, nil
		})
	fit := t.Fit
	t.Fit = func(args map[string]any) (map[string]any, string, error) {
		fitted, note, err := fit(args)
		if err == nil {
			return fitted, note, nil
		}
		for _, report := range possibleReports(args, name, schema) {
			if again, _, aerr := fit(map[string]any{name: report}); aerr == nil {
				return again, "", nil
			}
		}
		return fitted, note, err
	}
	return t
}

// possibleReports returns candidates for the report in arguments of another form: the only
// value, all values, or the only value that the schema requires.
func possibleReports(args map[string]any, name, schema string) (reports []any) {
	if v, there := args[name]; there {
		reports = append(reports, v)
	} else if len(args) > 0 {
		if len(args) == 1 {
			reports = slices.Collect(maps.Values(args))
		}
		b, _ := text.JSON(args, "  ")
		reports = append(reports, args, string(b))
	}
	var form struct{ Required []string }
	if json.Unmarshal([]byte(schema), &form) == nil && len(form.Required) == 1 {
		for _, v := range reports {
			reports = append(reports, map[string]any{form.Required[0]: v})
		}
	}
	return reports
}

// displayReport returns a report as the user reads it: an object's values line by line,
// strings first, or "" for any other report.
func displayReport(report any) string {
	object, ok := report.(map[string]any)
	if !ok {
		return ""
	}
	var texts, rest strings.Builder
	for _, name := range slices.Sorted(maps.Keys(object)) {
		switch value := object[name].(type) {
		case string:
			fmt.Fprintf(&texts, "%s: %s\n", name, value)
		case []any:
			if len(value) > 0 {
				fmt.Fprintf(&rest, "%s:\n", name)
			}
			for _, v := range value {
				fmt.Fprintf(&rest, "- %s\n", onOneLine(v))
			}
		default:
			fmt.Fprintf(&rest, "%s: %s\n", name, onOneLine(value))
		}
	}
	return texts.String() + rest.String()
}

// onOneLine returns a part of a report on one line: the keys and values of an object, a
// string as it is, other values as JSON.
func onOneLine(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case map[string]any:
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, name+": "+onOneLine(v[name]))
		}
		return strings.Join(parts, ", ")
	}
	b, err := text.JSON(v, "")
	if err != nil {
		return "" // it was read from JSON
	}
	return string(b)
}

// words returns a report as text for the calling model.
func (r Report) words(report any) string {
	if r.Display != nil {
		return r.Display(report)
	}
	if s, ok := report.(string); ok {
		return s
	}
	b, err := text.JSON(report, "  ")
	if err != nil {
		return "" // it was read from JSON
	}
	return string(b)
}
