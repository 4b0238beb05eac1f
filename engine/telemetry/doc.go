// Package telemetry records what a session does: events, metrics and spans, as values. An
// [Exporter] takes them to a file, a collector or a log of activity. A first caller makes a
// [Provider] with [New], begins a [Recorder] with it, and wraps a Run and its Generators.
//
// # Wrappers
//
// [Recorder.Run] wraps a Run, beside the tally, [Recorder.Generator] a Generator of single
// attempts, and [Recorder.Retries] the one that makes several of them. They record what
// passes. Nothing else in the program knows that somebody records. A nil Recorder
// records nothing, and its wrappers return their arguments.
//
// # Records of others
//
// A package that has something to tell hands its program a value of its own, and the
// program turns that into an [Event] for [Recorder.Log], and perhaps a number for
// [Recorder.Measure]. A hook that has run, for instance, becomes
//
//	r.Log(telemetry.Event{
//		Name:    "gemini_cli.hook_call",
//		Body:    "Hook call BeforeTool.lint succeeded in 12ms",
//		Attrs:   []slog.Attr{slog.String("hook_name", "lint.sh"), ...},
//		Private: []slog.Attr{slog.String("hook_name", "lint.sh --all"), ...},
//	})
//
// # Names are another program's
//
// Names, attributes and texts are those of the Gemini CLI, and of the OpenTelemetry
// conventions for generative AI where it has these, so that dashboards and scripts
// work with both.
//
// # Nobody waits
//
// A record goes into a bounded queue, and one goroutine for each [Target] carries it
// on. A record that finds no room is dropped. At the end there is a short time for the rest.
// A failure of a Target is reported once, by [Recorder.Run] or [Provider.Close].
//
// # Messages stay here
//
// The words of the user and the model are in the Private and Large attributes of a record,
// which only a Target that is configured for them gets. Secrets are removed from all
// attributes.
package telemetry
