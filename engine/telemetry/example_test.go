package telemetry_test

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"gemline/engine/telemetry"
)

// lines is an Exporter that prints the bodies of events.
type lines struct{}

func (lines) Export(_ context.Context, b *telemetry.Batch) error {
	for _, ev := range b.Events {
		fmt.Println(ev.Body)
	}
	return nil
}

func (lines) Close() error { return nil }

func Example() {
	p := telemetry.New(telemetry.Config{Redact: func(s string) string { return s },
		Targets: []telemetry.Target{{Exporter: lines{}, Grace: time.Minute}}})
	r := p.Begin(telemetry.Session{ID: "s"})
	r.Log(telemetry.Event{Name: "gemini_cli.hook_call", Body: "Hook call BeforeTool.lint succeeded in 12ms",
		Attrs: []slog.Attr{slog.Bool("success", true)}})
	r.Close()
	p.Close()
	// Output: Hook call BeforeTool.lint succeeded in 12ms
}
