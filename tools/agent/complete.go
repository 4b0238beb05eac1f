package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"gemline/engine"
	"gemline/engine/text"
	"gemline/tools"
)

// completeName is the name of the tool that an agent reports by.
const completeName = "complete_task"

// reportTool returns the tool that an agent reports by. What it reports is handed to done.
func (d Definition) reportTool(done func(report any)) engine.Tool {
	name, schema := cmp.Or(d.Report, "result"), d.Schema
	if schema == "" {
		schema = `{"type":"string","description":"The whole report"}`
	}
	encoded, _ := json.Marshal(name)
	all := `{"type":"object","properties":{` + string(encoded) + `:` + schema + `},"required":[` +
		string(encoded) + `]}`
	const about = "Ends your work: hands in your report, which is all that is read of it. Call it alone in its message."
	t := tools.Define(completeName, "Complete Task", engine.Think, about, all,
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
		for _, report := range meant(args, name, schema) {
			if again, _, aerr := fit(map[string]any{name: report}); aerr == nil {
				return again, "", nil
			}
		}
		return fitted, note, err
	}
	return t
}

// meant returns what the report may be in arguments of another form: the only value, all of
// them, or the only thing that the schema requires in it.
func meant(args map[string]any, name, schema string) (reports []any) {
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

// words returns a report as the model reads it that has called the agent.
func (d Definition) words(report any) string {
	if d.Display != nil {
		return d.Display(report)
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
