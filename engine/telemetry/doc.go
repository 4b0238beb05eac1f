// Package telemetry records what a session does: events, metrics and spans, as values. An
// [Exporter] writes them to a file, a collector or a log of activity. A first caller makes a
// [Provider] with [New], begins a [Recorder] with it, and wraps a Run and its Generators.
//
// # Wrappers
//
// [Recorder.Run] wraps a Run, beside the tally, [Recorder.Generator] a Generator of single
// attempts, and [Recorder.Retries] the Generator that repeats attempts. They record what passes;
// the rest of the program does not know the Recorder. A nil Recorder records nothing, and its
// wrappers return their arguments.
//
// # Events of other packages
//
// Another package reports a value of its own type, which the program turns into an [Event] for
// [Recorder.Log], and perhaps a number for [Recorder.Measure]. The run of a hook, for instance,
// becomes
//
//	r.Log(telemetry.Event{
//		Name:    "gemini_cli.hook_call",
//		Body:    "Hook call BeforeTool.lint succeeded in 12ms",
//		Attrs:   []slog.Attr{slog.String("hook_name", "lint.sh"), ...},
//		Private: []slog.Attr{slog.String("hook_name", "lint.sh --all"), ...},
//	})
//
// # Names are the Gemini CLI's
//
// Names, attributes and texts are those of the Gemini CLI, and of the OpenTelemetry
// conventions for generative AI where it has these, so that dashboards and scripts
// work with both.
//
// # Recording never blocks
//
// A record goes into a bounded queue, from which a goroutine for each [Target] exports it. If the
// queue is full, the record is dropped. At the end there is a short time for the rest. A failure
// of a Target is reported once, by [Recorder.Run] or [Provider.Close].
//
// # Messages are private
//
// The messages of the user and the model are in the Private and Large attributes of a record,
// which go only to a Target that is configured for them. Secrets are removed from all attributes.
package telemetry
