package program

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"gemline/commands/program/project"
	"gemline/engine/disk"
	"gemline/engine/hook"
	"gemline/engine/model/route"
	"gemline/engine/policy"
	"gemline/engine/telemetry"
	"gemline/engine/telemetry/otlp"
	"gemline/engine/telemetry/outfile"
	"gemline/engine/text"
	"gemline/repl/input"
	dirs "gemline/settings/project"
)

// newTelemetry makes what records of sessions go through, if they go anywhere. What
// is wrong with a target is told, and the run goes on without it.
func (p *Project) newTelemetry() error {
	var targets []telemetry.Target
	add := func(t telemetry.Target, err error) {
		if err != nil {
			p.status.notify(fmt.Sprintf("%s: %v", t.Trouble, err))
		} else if t.Exporter != nil {
			targets = append(targets, t)
		}
	}
	if p.opts.Settings.Telemetry {
		add(telemetryTarget(p.opts))
	}
	if name := p.opts.Env.Getenv("GEMINI_CLI_ACTIVITY_LOG_TARGET"); name != "" {
		add(activityTarget(p.opts, name))
	}
	if len(targets) == 0 {
		return nil
	}
	p.telemetry = telemetry.New(telemetry.Config{Targets: targets, Resource: resource(p.opts), Version: p.opts.Env.Process.Version,
		Clean: p.opts.Secrets.Text})
	p.closers = append(p.closers, func() {
		for _, text := range p.telemetry.Close() {
			p.status.notify(text)
		}
	})
	return nil
}

// How long a target may take at the end: a file is to be complete, a collector is not
// waited for.
const (
	fileGrace      = 10 * time.Second
	collectorGrace = time.Second
)

// telemetryTarget returns where the settings send records to, the file before all else.
func telemetryTarget(o *project.Options) (t telemetry.Target, err error) {
	s := o.Settings
	t = telemetry.Target{Prompts: recordsPrompts(o), Traces: s.TelemetryTraces, Trouble: "telemetry is not recorded"}
	if err := telemetryRefused(o); err != nil {
		return t, err
	}
	if s.TelemetryOutfile != "" {
		name := o.Paths.Folder(s.TelemetryOutfile)
		t.Grace, t.Trouble = fileGrace, "telemetry is not written to "+name
		t.Exporter, err = opened(outfile.Open(name))
		return t, err
	}
	headers := map[string]string{}
	for name, value := range pairs(o.Env.Getenv("OTEL_EXPORTER_OTLP_HEADERS")) {
		headers[name] = value
		o.Secrets.Add("telemetry header", value)
	}
	c, err := otlp.New(otlp.Config{Endpoint: s.TelemetryEndpoint, GRPC: s.TelemetryProtocol == "grpc", Headers: headers,
		Network: o.Network()})
	if err != nil {
		t.Trouble += ": telemetry.otlpEndpoint"
		return t, err
	}
	t.Exporter, t.Grace, t.Trouble = c, collectorGrace, "telemetry does not reach the collector at "+c.String()
	return t, nil
}

// telemetryRefused says why the settings have nothing recorded, nil if something may be.
func telemetryRefused(o *project.Options) error {
	s := o.Settings
	switch {
	case s.TelemetryAuth && s.TelemetryCollector:
		return errors.New("telemetry.useCollector and telemetry.useCliAuth can't both be true")
	case s.TelemetryOutfile != "":
	case !slices.Contains([]string{"", "0", "false"}, strings.ToLower(o.Env.Getenv("DO_NOT_TRACK"))):
		return errors.New("DO_NOT_TRACK is set, and nothing is sent; telemetry.outfile names a file instead")
	case s.TelemetryTarget == "gcp" && !s.TelemetryCollector:
		return errors.New("gemline does not send to Google Cloud itself; " +
			"run a collector with the googlecloud exporter, " +
			"and set telemetry.useCollector and telemetry.otlpEndpoint")
	}
	return nil
}

// recordsPrompts reports whether records hold what is said. They do in a file, which
// stays on the machine, and elsewhere if the user says so.
func recordsPrompts(o *project.Options) bool {
	s := o.Settings
	said := s.TelemetryOutfile != "" || s.IsSet("telemetry.logPrompts") || o.Env.Getenv("GEMINI_TELEMETRY_LOG_PROMPTS") != ""
	return s.TelemetryPrompts && said
}

// opened returns f as an Exporter, nil after an error.
func opened(f *outfile.File, err error) (telemetry.Exporter, error) {
	if err != nil {
		return nil, err
	}
	return f, nil
}

// activityTarget returns the log of activity of a name.
func activityTarget(o *project.Options, name string) (telemetry.Target, error) {
	t := telemetry.Target{Prompts: true, Only: true, Grace: fileGrace, Trouble: "activity is not logged to " + name}
	if strings.Contains(name, "://") {
		return t, fmt.Errorf("GEMINI_CLI_ACTIVITY_LOG_TARGET names an address, and only a file is supported")
	}
	var err error
	t.Exporter, err = opened(outfile.OpenLines(o.Paths.Folder(name)))
	return t, err
}

// resource says what all records are about: the program, the process and the machine.
// The command line is not in it, since it may hold the prompt.
func resource(o *project.Options) []slog.Attr {
	host, _ := os.Hostname()
	attrs := []slog.Attr{
		slog.String("service.name", cmp.Or(o.Env.Getenv("OTEL_SERVICE_NAME"), telemetry.Name)),
		slog.String("service.version", o.Env.Process.Version),
		slog.String("telemetry.distro.name", "gemline"),
		slog.String("host.name", host),
		slog.String("host.arch", runtime.GOARCH),
		slog.String("os.type", runtime.GOOS),
		slog.Int("process.pid", os.Getpid()),
		slog.String("process.runtime.name", "go"),
		slog.String("process.runtime.version", runtime.Version()),
	}
	if surface := o.Env.Getenv("GEMINI_CLI_SURFACE"); surface != "" {
		attrs = append(attrs, slog.String("surface", surface))
	}
	if project := cmp.Or(o.Env.Getenv("OTLP_GOOGLE_CLOUD_PROJECT"), o.Env.Getenv("GOOGLE_CLOUD_PROJECT")); project != "" &&
		o.Settings.TelemetryTarget == "gcp" {
		attrs = append(attrs, slog.String("gcp.project_id", project))
	}
	for key, value := range pairs(o.Env.Getenv("OTEL_RESOURCE_ATTRIBUTES")) {
		attrs = slices.DeleteFunc(attrs, func(a slog.Attr) bool { return a.Key == key })
		attrs = append(attrs, slog.String(key, value))
	}
	return attrs
}

// pairs yields the pairs of a variable that holds key=value,key=value.
func pairs(list string) func(yield func(key, value string) bool) {
	return func(yield func(key, value string) bool) {
		for pair := range strings.SplitSeq(list, ",") {
			key, value, ok := strings.Cut(pair, "=")
			if plain, err := url.PathUnescape(strings.TrimSpace(value)); err == nil {
				value = plain
			}
			if ok && !yield(strings.TrimSpace(key), value) {
				return
			}
		}
	}
}

// newRecorder begins the records of a session, nil if there are none.
func (p *Project) newRecorder(c Choice, session string) *telemetry.Recorder {
	if p.telemetry == nil || c.Trial {
		return nil
	}
	recorder := p.telemetry.Begin(telemetry.Session{ID: session,
		Attrs: []slog.Attr{slog.String("installation.id", installation(p.opts.Paths)),
			slog.Bool("interactive", p.opts.User.Interactive), slog.String("auth_type", p.model.method)},
		Model: p.model.provider(),
		Class: func(err error) (string, int) {
			class := errorClass(err)
			return class, outcome(err).HTTP
		}})
	servers := p.opts.Settings.Servers()
	names := make([]string, len(servers))
	for i, server := range servers {
		names[i] = server.Name
	}
	var extensions []string
	for _, x := range p.opts.Active() {
		extensions = append(extensions, x.Name)
	}
	recorder.Log(telemetry.Event{Name: "gemini_cli.config", Body: "CLI configuration loaded.", Attrs: []slog.Attr{
		slog.String("model", p.model.resolve(c.Model, p.opts.Settings.Model)),
		slog.Bool("sandbox_enabled", p.launcher.Sandbox != nil),
		slog.String("core_tools_enabled", strings.Join(p.opts.Settings.CoreTools, ",")),
		slog.String("approval_mode", string(c.Policy.Mode())),
		slog.Bool("api_key_enabled", p.model.method == "gemini-api-key"),
		slog.Bool("vertex_ai_enabled", p.model.method == "vertex-ai"),
		slog.Bool("log_user_prompts_enabled", recordsPrompts(p.opts)),
		slog.Bool("file_filtering_respect_git_ignore", p.opts.Settings.RespectGit),
		slog.Bool("debug_mode", p.opts.Flags.Debug),
		slog.String("mcp_servers", strings.Join(names, ",")), slog.Int("mcp_servers_count", len(names)),
		slog.String("output_format", cmp.Or(p.opts.Flags.Format(), p.opts.Settings.Format)),
		slog.String("extensions", strings.Join(extensions, ",")), slog.Int("extensions_count", len(extensions)),
	}})
	return recorder
}

// recordCommand records that the user ran a slash command.
func recordCommand(r *telemetry.Recorder, path []string, err error) {
	status := "success"
	if err != nil && !errors.Is(err, input.ErrQuit) {
		status = "error"
	}
	ev := telemetry.Event{Name: "gemini_cli.slash_command", Body: "Slash command: " + strings.Join(path, " ") + ".",
		Attrs: []slog.Attr{slog.String("command", path[0]), slog.String("status", status)}}
	if len(path) > 1 {
		ev.Attrs = append(ev.Attrs, slog.String("subcommand", path[1]))
	}
	r.Log(ev)
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
	if r == nil {
		return
	}
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
	if o.Err == nil && !o.Late && o.Signal == "" { // else it has none
		ev.Attrs = append(ev.Attrs, slog.Int("exit_code", o.Code))
	}
	if failed != "" {
		ev.Attrs = append(ev.Attrs, slog.String("error", failed))
	}
	r.Log(ev)
	r.Measure(telemetry.HookCalls, 1, event, name, success)
	r.Measure(telemetry.HookLatency, float64(c.Took.Milliseconds()), event, name, success)
}

// programOf returns the program of a command, behind variables that are set for it.
func programOf(command string) string {
	for _, word := range strings.Fields(command) {
		if !strings.Contains(word, "=") {
			return filepath.Base(word)
		}
	}
	return "hook"
}

// hookOutput returns what a hook has answered as JSON, which it may not have printed.
func hookOutput(c hook.Call) string {
	if printed := strings.TrimSpace(c.Outcome.Stdout); strings.HasPrefix(printed, "{") && json.Valid([]byte(printed)) {
		return printed
	}
	b, err := text.JSON(struct {
		Decision string `json:"decision,omitempty"`
		Reason   string `json:"reason,omitempty"`
		Message  string `json:"systemMessage,omitempty"`
	}{c.Answer.Decision, c.Answer.Reason, c.Answer.Message}, "")
	if err != nil {
		return "{}"
	}
	return string(b)
}

// recordEnd records that the session is over.
func recordEnd(r *telemetry.Recorder, mode policy.Mode) {
	r.Log(telemetry.Event{Name: "gemini_cli.conversation_finished", Body: "Conversation finished.",
		Attrs: []slog.Attr{slog.String("approvalMode", string(mode)),
			slog.Int("turnCount", r.Prompts())}})
	r.Close()
}

// provider says who provides the model, and where.
func (s *server) provider() []slog.Attr {
	api := s.setup.API
	name, base := "gcp.gen_ai", "https://generativelanguage.googleapis.com"
	if api.Google.Vertex {
		name, base = "gcp.vertex_ai", "https://aiplatform.googleapis.com"
	}
	attrs := []slog.Attr{slog.String("gen_ai.provider.name", name)}
	u, err := url.Parse(cmp.Or(api.BaseURL, base))
	if s.setup.Fake != "" || err != nil {
		return attrs
	}
	port, err := strconv.Atoi(u.Port())
	if err != nil {
		port = map[string]int{"http": 80, "https": 443}[u.Scheme]
	}
	return append(attrs, slog.String("server.address", u.Hostname()), slog.Int("server.port", port))
}

// installation returns the id that the user's records have in common, made if there is
// none.
func installation(paths dirs.Paths) string {
	name := paths.User("installation_id")
	if b, err := os.ReadFile(name); err == nil && uuid.Validate(strings.TrimSpace(string(b))) == nil {
		return strings.TrimSpace(string(b))
	}
	id := uuid.NewString()
	if os.MkdirAll(filepath.Dir(name), 0o700) == nil {
		disk.Replace(name, []byte(id), 0o600) // else the next run makes another one
	}
	return id
}
