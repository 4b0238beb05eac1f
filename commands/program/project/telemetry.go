package project

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"gemline/engine/telemetry"
	"gemline/engine/telemetry/otlp"
	"gemline/engine/telemetry/outfile"
	"gemline/engine/text"
)

// newTelemetry makes the telemetry provider, if the settings name a target. An unusable target is
// skipped with a warning.
func (p *Project) newTelemetry() error {
	var targets []telemetry.Target
	add := func(t telemetry.Target, err error) {
		if err != nil {
			p.Status.Notify(fmt.Sprintf("%s: %v", t.Trouble, err))
		} else if t.Exporter != nil {
			targets = append(targets, t)
		}
	}
	if p.Options.Settings.Telemetry {
		add(telemetryTarget(p.Options))
	}
	if name := p.Options.Env.Getenv("GEMINI_CLI_ACTIVITY_LOG_TARGET"); name != "" {
		add(activityTarget(p.Options, name))
	}
	if len(targets) == 0 {
		return nil
	}
	p.Telemetry = telemetry.New(telemetry.Config{Targets: targets, Resource: resource(p.Options), Version: p.Options.Env.Process.Version,
		Redact: p.Options.Secrets.Text})
	p.closers = append(p.closers, func() {
		text.Each(p.Telemetry.Close(), p.Status.Notify)
	})
	return nil
}

// How long a target may take at the end: a file must be complete, but a collector must not delay
// the end.
const (
	fileGrace      = 10 * time.Second
	collectorGrace = time.Second
)

// telemetryTarget returns where the settings send records: to a file if they name one.
func telemetryTarget(o *Options) (t telemetry.Target, err error) {
	s := o.Settings
	t = telemetry.Target{Prompts: RecordsPrompts(o), Traces: s.TelemetryTraces, Trouble: "telemetry is not recorded"}
	if err := TelemetryRefused(o); err != nil {
		return t, err
	}
	if s.TelemetryOutfile != "" {
		name := o.Paths.Folder(s.TelemetryOutfile)
		t.Grace, t.Trouble = fileGrace, "telemetry is not written to "+name
		t.Exporter, err = asExporter(outfile.Open(name))
		return t, err
	}
	headers := map[string]string{}
	for name, value := range keyValues(o.Env.Getenv("OTEL_EXPORTER_OTLP_HEADERS")) {
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

// TelemetryRefused returns why configured telemetry records nothing, nil if it may record.
func TelemetryRefused(o *Options) error {
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

// RecordsPrompts reports whether records contain prompts and answers: in a file, which stays on the
// machine, or if the user has asked for it.
func RecordsPrompts(o *Options) bool {
	s := o.Settings
	said := s.TelemetryOutfile != "" || s.IsSet("telemetry.logPrompts") || o.Env.Getenv("GEMINI_TELEMETRY_LOG_PROMPTS") != ""
	return s.TelemetryPrompts && said
}

// asExporter returns f as an Exporter, nil after an error.
func asExporter(f *outfile.File, err error) (telemetry.Exporter, error) {
	if err != nil {
		return nil, err
	}
	return f, nil
}

// activityTarget returns the activity log with a name.
func activityTarget(o *Options, name string) (telemetry.Target, error) {
	t := telemetry.Target{Prompts: true, Only: true, Grace: fileGrace, Trouble: "activity is not logged to " + name}
	if strings.Contains(name, "://") {
		return t, fmt.Errorf("GEMINI_CLI_ACTIVITY_LOG_TARGET names an address, and only a file is supported")
	}
	var err error
	t.Exporter, err = asExporter(outfile.OpenLines(o.Paths.Folder(name)))
	return t, err
}

// resource returns the attributes that all records share: the program, the process and the machine.
// The command line is not among them, since it may contain the prompt.
func resource(o *Options) []slog.Attr {
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
	for key, value := range keyValues(o.Env.Getenv("OTEL_RESOURCE_ATTRIBUTES")) {
		if key == "service.name" && o.Env.Getenv("OTEL_SERVICE_NAME") != "" { // this precedence is OpenTelemetry's
			continue
		}
		attrs = slices.DeleteFunc(attrs, func(a slog.Attr) bool { return a.Key == key })
		attrs = append(attrs, slog.String(key, value))
	}
	return attrs
}

// keyValues yields the pairs of a variable that holds key=value,key=value.
func keyValues(list string) func(yield func(key, value string) bool) {
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
