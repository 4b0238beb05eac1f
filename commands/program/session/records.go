package session

import (
	"cmp"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"gemline/commands/program/ending"
	"gemline/commands/program/project"
	"gemline/engine/disk"
	"gemline/engine/hook"
	"gemline/engine/lists"
	"gemline/engine/model/route"
	"gemline/engine/policy"
	"gemline/engine/telemetry"
	"gemline/engine/text"
	"gemline/settings"
	"gemline/settings/extension"
	dirs "gemline/settings/project"
)

// newRecorder starts the records of a session. It returns nil if records are off.
func newRecorder(p *project.Project, c Config, session string) *telemetry.Recorder {
	if p.Telemetry == nil || c.Trial {
		return nil
	}
	recorder := p.Telemetry.Begin(telemetry.Session{ID: session,
		Attrs: []slog.Attr{slog.String("installation.id", installationID(p.Options.Paths)),
			slog.Bool("interactive", p.Options.User.Interactive), slog.String("auth_type", p.Model.AuthMethod)},
		Model: p.Model.Provider(),
		Class: func(err error) (string, int) {
			class := ending.Class(err)
			return class, ending.Of(err).HTTP
		}})
	names := lists.Map(p.Options.Settings.Servers(), func(s settings.Server) string { return s.Name })
	extensions := lists.Map(p.Options.ActiveExtensions(), func(x extension.Extension) string { return x.Name })
	recorder.Log(telemetry.Event{Name: "gemini_cli.config", Body: "CLI configuration loaded.", Attrs: []slog.Attr{
		slog.String("model", p.Model.Resolve(c.Model, p.Options.Settings.Model)),
		slog.Bool("sandbox_enabled", p.Launcher.Sandbox != nil),
		slog.String("core_tools_enabled", strings.Join(p.Options.Settings.CoreTools, ",")),
		slog.String("approval_mode", string(c.policy.Mode())),
		slog.Bool("api_key_enabled", p.Model.AuthMethod == "gemini-api-key"),
		slog.Bool("vertex_ai_enabled", p.Model.AuthMethod == "vertex-ai"),
		slog.Bool("log_user_prompts_enabled", project.RecordsPrompts(p.Options)),
		slog.Bool("file_filtering_respect_git_ignore", p.Options.Settings.RespectGit),
		slog.Bool("debug_mode", p.Options.Flags.Debug),
		slog.String("mcp_servers", strings.Join(names, ",")), slog.Int("mcp_servers_count", len(names)),
		slog.String("output_format", cmp.Or(p.Options.Flags.Format(), p.Options.Settings.Format)),
		slog.String("extensions", strings.Join(extensions, ",")), slog.Int("extensions_count", len(extensions)),
	}})
	return recorder
}

// recordDecision records which model answers a prompt.
func recordDecision(r *telemetry.Recorder, mode policy.Mode, d route.Decision) {
	source, took := slog.String("decision_source", d.Source), d.Took.Milliseconds()
	attrs := []slog.Attr{slog.String("decision_model", d.Model), source, slog.Int64("routing_latency_ms", took),
		slog.Bool("failed", d.Err != nil), slog.String("approval_mode", string(mode)),
		slog.String("reasoning", d.Reason), slog.Bool("enable_numerical_routing", true),
		slog.String("classifier_threshold", strconv.Itoa(route.Threshold))}
	if d.Err != nil {
		attrs = append(attrs, slog.String("error_message", d.Err.Error()))
		r.Measure(telemetry.RoutingFailures, 1, slog.String("routing.decision_source", d.Source),
			slog.String("routing.error_message", d.Err.Error()))
	}
	r.Log(telemetry.Event{Name: "gemini_cli.model_routing", Attrs: attrs,
		Body: fmt.Sprintf("Model routing decision. Model: %s, Source: %s", d.Model, d.Source)})
	r.Measure(telemetry.RoutingLatency, float64(took), slog.String("routing.decision_model", d.Model),
		slog.String("routing.decision_source", d.Source))
}

// recordMode records that the approval mode changes.
func recordMode(r *telemetry.Recorder, from, to policy.Mode) {
	r.Log(telemetry.Event{Name: "gemini_cli.plan.approval_mode_switch",
		Body:  fmt.Sprintf("Approval mode switched from %s to %s.", from, to),
		Attrs: []slog.Attr{slog.String("from_mode", string(from)), slog.String("to_mode", string(to))}})
}

// recordPlan records that a plan is carried out.
func recordPlan(r *telemetry.Recorder, m policy.Mode) {
	r.Log(telemetry.Event{Name: "gemini_cli.plan.execution",
		Body:  fmt.Sprintf("A plan is carried out in the approval mode %s.", m),
		Attrs: []slog.Attr{slog.String("approval_mode", string(m))}})
}

// recordHook records that a hook has run. Unless texts are recorded, only the program's name
// stands for the hook.
func recordHook(r *telemetry.Recorder, c hook.Call) {
	o, took := c.Outcome, slog.Int64("duration_ms", c.Took.Milliseconds())
	event, failed := slog.String("hook_event_name", string(c.Hook.Event)), o.Status(c.Hook)
	success := slog.Bool("success", failed == "")
	name := slog.String("hook_name", programOf(c.Hook.ID()))
	result := map[bool]string{true: "succeeded", false: "failed"}[failed == ""]
	ev := telemetry.Event{Name: "gemini_cli.hook_call", Time: c.Start.Add(c.Took),
		Body:  fmt.Sprintf("Hook call %s.%s %s in %dms", c.Hook.Event, name.Value, result, c.Took.Milliseconds()),
		Attrs: []slog.Attr{event, slog.String("hook_type", "command"), name, took, success},
		Private: []slog.Attr{slog.String("hook_name", c.Hook.ID()), slog.String("hook_input", string(c.Input)),
			slog.String("hook_output", hookOutput(c)),
			slog.String("stdout", o.Stdout), slog.String("stderr", o.Stderr)}}
	if o.Err == nil && !o.TimedOut && o.Signal == "" { // otherwise it has no exit code
		ev.Attrs = append(ev.Attrs, slog.Int("exit_code", o.Code))
	}
	if failed != "" {
		ev.Attrs = append(ev.Attrs, slog.String("error", failed))
	}
	r.Log(ev)
	r.Measure(telemetry.HookCalls, 1, event, name, success)
	r.Measure(telemetry.HookLatency, float64(c.Took.Milliseconds()), event, name, success)
}

// recordEnd records that the session is over.
func recordEnd(r *telemetry.Recorder, mode policy.Mode) {
	r.Log(telemetry.Event{Name: "gemini_cli.conversation_finished", Body: "Conversation finished.",
		Attrs: []slog.Attr{slog.String("approvalMode", string(mode)),
			slog.Int("turnCount", r.Prompts())}})
	r.Close()
}

// programOf returns the program of a command line, without leading assignments of variables.
func programOf(command string) string {
	for _, word := range strings.Fields(command) {
		if !strings.Contains(word, "=") {
			return filepath.Base(word)
		}
	}
	return "hook"
}

// hookOutput returns a hook's answer as JSON, also if the hook printed none.
func hookOutput(c hook.Call) string {
	if printed := strings.TrimSpace(c.Outcome.Stdout); strings.HasPrefix(printed, "{") && json.Valid([]byte(printed)) {
		return printed
	}
	b, _ := text.JSON(struct {
		Decision string `json:"decision,omitempty"`
		Reason   string `json:"reason,omitempty"`
		Message  string `json:"systemMessage,omitempty"`
	}{c.Answer.Decision, c.Answer.Reason, c.Answer.Message}, "")
	return string(b)
}

// installationID returns the id that all records of the user share. It makes the id if there is
// none.
func installationID(paths dirs.Paths) string {
	name := paths.User("installation_id")
	if b, err := os.ReadFile(name); err == nil && uuid.Validate(strings.TrimSpace(string(b))) == nil {
		return strings.TrimSpace(string(b))
	}
	id := uuid.NewString()
	if os.MkdirAll(filepath.Dir(name), 0o700) == nil {
		disk.Replace(name, []byte(id), 0o600) // if that fails, the next run makes another id
	}
	return id
}
