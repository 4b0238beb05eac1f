package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"gemline/engine/disk"
	"gemline/engine/telemetry/outfile"
	"gemline/engine/text"
)

// inspectCommand is gemline inspect.
type inspectCommand struct {
	File string `arg:"" optional:"" help:"A log of activity or a telemetry file; else that of the environment or the settings."`
	Port *int   `help:"Show it as a web page for this machine at a port, any that is free if it is 0, until Ctrl-C."`
}

// Run prints a line for each event in the file, or serves the file as a web page.
func (c *inspectCommand) Run(ctx context.Context, out *Output, here *Folder) error {
	name := cmp.Or(c.File, here.getenv("GEMINI_CLI_ACTIVITY_LOG_TARGET"))
	if name == "" {
		s, err := here.settings()
		if err != nil {
			return err
		}
		name = s.TelemetryOutfile
	}
	if name == "" {
		return misused("gemline inspect needs a file: " +
			"a log of activity (gemline help telemetry), or a telemetry file")
	}
	name = here.Paths.Folder(name)
	if c.Port != nil {
		return c.serve(ctx, out, name)
	}
	all, err := readActivity(name)
	if err != nil {
		return err
	}
	var lines []string
	session := ""
	for _, a := range all {
		if a.Session != session {
			session = a.Session
			lines = append(lines, "session "+session)
		}
		lines = append(lines, fmt.Sprintf("%s  %-8s %s", a.Clock(), a.Kind, a.Text))
	}
	return out.listing(map[string]any{"events": all}, lines, "there are no events in it")
}

// An activity is a shown event.
type activity struct {
	Time    string         `json:"time"`
	Session string         `json:"session"`
	Kind    string         `json:"kind"`
	Text    string         `json:"text"` // one line
	Said    map[string]any `json:"attributes"`
}

// readActivity reads the shown events of a file.
func readActivity(name string) ([]activity, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("%s can't be read: %w", name, disk.Cause(err))
	}
	defer f.Close()
	var all []activity
	for said, err := range outfile.Read(f) {
		if err != nil {
			return nil, fmt.Errorf("%s is no log of activity and no telemetry file: %w", name, err)
		}
		kind, line := describe(said)
		if kind != "" {
			all = append(all, activity{word(said["event.timestamp"]), word(said["session.id"]), kind,
				text.OneLine(line, 300), said})
		}
	}
	return all, nil
}

// Clock returns the local time of day, "" if the time is unknown.
func (a activity) Clock() string {
	t, err := time.Parse(time.RFC3339, a.Time)
	if err != nil {
		return strings.Repeat(" ", len("15:04:05.000"))
	}
	return t.Local().Format("15:04:05.000")
}

// describe returns the kind of an event and a line about it. The kind is "" if events of that kind
// are not shown.
func describe(said map[string]any) (kind, line string) {
	get := func(key string) string { return word(said[key]) }
	took := get("duration_ms") + " ms"
	switch name := get("event.name"); name {
	case "gemini_cli.config":
		return "begin", fmt.Sprintf("%s, approval mode %s", get("model"), get("approval_mode"))
	case "gemini_cli.user_prompt":
		return "prompt", get("prompt")
	case "gemini_cli.api_request":
		return "request", fmt.Sprintf("%s, %d bytes", get("model"), len(get("request_text")))
	case "gemini_cli.api_response":
		return "answer", fmt.Sprintf("%s, %s, %s tokens in, %s out", get("model"), took, get("input_token_count"),
			get("output_token_count"))
	case "gemini_cli.api_error":
		return "error", fmt.Sprintf("%s, %s: %s", get("model"), took, get("error"))
	case "gemini_cli.tool_call":
		return "call", fmt.Sprintf("%s, %s, %s %s", get("function_name"), took, cmp.Or(get("error"), "done"),
			get("function_args"))
	case "gemini_cli.hook_call":
		return "hook", fmt.Sprintf("%s, %s, %s, exit code %s", get("hook_event_name"), get("hook_name"), took,
			get("exit_code"))
	case "gemini_cli.slash_command":
		return "command", fmt.Sprintf("/%s %s", get("command"), get("subcommand"))
	case "gemini_cli.network_retry_attempt", "gemini_cli.chat.content_retry":
		return "retry", fmt.Sprintf("%s, because of %s", get("model"), get("error_type"))
	}
	return "", ""
}

// word returns a value as text, "" for none.
func word(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case float64: // JSON numbers
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprint(v)
}
