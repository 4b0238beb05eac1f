package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/schema"
	"gemline/engine/text"
	"gemline/tools/launch"
	"gemline/tools/mcp"
	"gemline/tools/shell"
	"gemline/tools/toolkit"
)

// A Discovery is a pair of commands: one lists tools, the other runs them.
type Discovery struct {
	Command string   // prints declarations of functions, as JSON
	Call    string   // runs the tool named by its argument; standard input has the tool's arguments
	Dir     string   // the working directory of both
	Env     []string // NAME=value, added to the environment of both

	// Rights is called before each run. If free is false, the run is confined like the
	// model's commands. An error forbids the run.
	Rights func() (free bool, err error)
}

// discoveredPrefix begins the names of discovered tools.
const discoveredPrefix = "discovered_tool_"

// discoveredFailed is the error class of discovered tools.
const discoveredFailed = "discovered_tool_execution_error"

// functionName matches the function names that the API accepts.
var functionName = text.Pattern(`^[A-Za-z_][A-Za-z0-9_.:-]*$`)

// Tools runs d's command and returns the tools that it declares.
func (d Discovery) Tools(ctx context.Context, l *launch.Launcher) (tools engine.Tools, err error) {
	o := d.run(ctx, l, d.Command, "")
	if err := failureOf(o); err != nil {
		return nil, err
	}
	var items []map[string]json.RawMessage
	if err := json.Unmarshal([]byte(o.Output), &items); err != nil {
		return nil, fmt.Errorf("it printed no list of declarations: %w", err)
	}
	for _, item := range items {
		functions := []json.RawMessage{}
		for _, key := range []string{"function_declarations", "functionDeclarations"} {
			if err := json.Unmarshal(item[key], &functions); item[key] != nil && err != nil {
				return nil, fmt.Errorf("its %s are no list: %w", key, err)
			}
		}
		if item["name"] != nil {
			b, _ := json.Marshal(item)
			functions = append(functions, b)
		}
		for _, f := range functions {
			t, err := d.tool(l, f)
			if err != nil {
				return nil, err
			}
			if slices.ContainsFunc(tools, func(other engine.Tool) bool { return other.Name() == t.Name() }) {
				return nil, fmt.Errorf("it declares two functions of the name %q",
					strings.TrimPrefix(t.Name(), discoveredPrefix))
			}
			tools = append(tools, t)
		}
	}
	return tools, nil
}

// run runs a command line.
func (d Discovery) run(ctx context.Context, l *launch.Launcher, command, input string) shell.Outcome {
	free, err := d.Rights()
	if err != nil {
		return shell.Outcome{Err: err}
	}
	return l.Run(ctx, launch.Command{Text: command, Dir: d.Dir, Env: d.Env, Input: input, SplitStderr: true, Unconfined: free, KillLeftovers: true})
}

// failureOf returns the failure of a command from its outcome, nil if it succeeded.
func failureOf(o shell.Outcome) error {
	said := strings.TrimSpace(o.Stderr)
	switch {
	case o.Err != nil:
		return o.Err
	case o.Cancelled:
		return context.Canceled
	case o.Limit > 0:
		return errors.New("it took too long")
	case o.Cut || o.Binary:
		return errors.New("it printed too much, or no text")
	case o.Signal != 0:
		return fmt.Errorf("it was ended by %s", o.SignalName)
	case o.Code != 0:
		return fmt.Errorf("it failed with %d: %s", o.Code, text.OneLine(said, 200))
	}
	return nil
}

// tool returns the tool of a declaration.
func (d Discovery) tool(l *launch.Launcher, declaration []byte) (engine.Tool, error) {
	var f struct {
		Name, Description    string
		ParametersJSONSchema json.RawMessage `json:"parametersJsonSchema"`
	}
	if err := json.Unmarshal(declaration, &f); err != nil {
		return engine.Tool{}, fmt.Errorf("it declares something that is no function: %w", err)
	}
	const most = 64 // characters of a name, for the API
	name := discoveredPrefix + f.Name
	if !functionName().MatchString(f.Name) || len(name) > most {
		return engine.Tool{}, fmt.Errorf("%q can't be the name of a function", text.OneLine(f.Name, 80))
	}
	if len(f.ParametersJSONSchema) == 0 || string(f.ParametersJSONSchema) == "null" {
		f.ParametersJSONSchema = json.RawMessage(`{"type":"object","properties":{}}`)
	}
	declared := mcp.DeclaredSchema(f.ParametersJSONSchema) // with the types of other languages mapped
	shape, err := schema.Parse(mcp.WithNull(f.ParametersJSONSchema))
	if err != nil && strings.HasPrefix(strings.TrimSpace(string(f.ParametersJSONSchema)), "{") {
		shape, err = schema.Parse(mcp.WithNull(declared))
	}
	if err != nil {
		return engine.Tool{}, fmt.Errorf("the parametersJsonSchema of %s: %w", f.Name, err)
	}
	fit := func(args map[string]any) (map[string]any, string, error) {
		return toolkit.Fit(shape, args, toolkit.Internal...)
	}
	return engine.Tool{
		Declaration: &genai.FunctionDeclaration{Name: name, ParametersJsonSchema: declared,
			Description: strings.TrimSpace(f.Description) +
				"\n\nThis function of the project is carried out by a command, which fails if it prints to standard error."},
		Label: name,
		Fit:   fit,
		Prepare: func(_ context.Context, args map[string]any) (engine.Call, error) {
			args, _, err := fit(args)
			if err != nil {
				return engine.Call{}, err
			}
			input, err := text.JSON(args, "")
			if err != nil {
				return engine.Call{}, toolkit.Misuse("%v", err)
			}
			intent := engine.Intent{Title: "call " + f.Name, Detail: d.Call + " " + f.Name + "\n  " + string(input),
				Grants: []engine.Grant{{Label: "always " + f.Name, Tool: name}}}
			return engine.Call{Intent: intent, Run: func(ctx context.Context, _ engine.Host) (engine.Result, error) {
				return discoveredResult(d.run(ctx, l, d.Call+" "+f.Name, string(input)))
			}}, nil
		},
	}, nil
}

// discoveredResult returns the output of a call. Text on standard error is a failure.
func discoveredResult(o shell.Outcome) (engine.Result, error) {
	if o.Cancelled {
		return engine.Result{}, context.Canceled
	}
	err := failureOf(o)
	if err == nil && o.Stderr == "" {
		return engine.Result{Text: o.Output, Display: text.OneLine(o.Output, 200)}, nil
	}
	problem := "(none)"
	if o.Err != nil || o.Limit > 0 || o.Cut || o.Binary {
		problem = err.Error()
	}
	return engine.Result{}, &engine.CallError{Type: discoveredFailed,
		Display: text.OneLine(cmp.Or(o.Stderr, fmt.Sprint(err)), 200),
		Message: fmt.Sprintf("Stdout: %s\nStderr: %s\nError: %s\nExit Code: %d\nSignal: %s",
			cmp.Or(o.Output, "(empty)"), cmp.Or(o.Stderr, "(empty)"),
			problem, o.Code, cmp.Or(o.SignalName, "(none)"))}
}
