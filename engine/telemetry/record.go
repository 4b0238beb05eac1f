package telemetry

import (
	"context"
	"log/slog"
	"time"
)

// An Event is a log record. Values of attributes are strings, numbers, booleans and lists of
// strings.
type Event struct {
	Name    string // such as gemini_cli.tool_call
	Body    string // a sentence for people
	Time    time.Time
	Attrs   []slog.Attr
	Private []slog.Attr // texts of the conversation; they override Attrs with the same key
	Large   []slog.Attr // whole conversations
	within  spanContext
}

// A Span is an operation with a duration.
type Span struct {
	Name       string
	Start, End time.Time
	Attrs      []slog.Attr
	Large      []slog.Attr // whole conversations
	Error      string      // why it failed; empty if it did not
	spanContext
	Parent SpanID // zero if it is the first of its trace
}

// A TraceID identifies a group of related spans, a SpanID a span in the group.
type (
	TraceID [16]byte
	SpanID  [8]byte
)

type spanContext struct {
	Trace TraceID
	ID    SpanID
}

// Within returns the span in which ev happened; both ids are zero if there is none.
func (ev *Event) Within() (TraceID, SpanID) { return ev.within.Trace, ev.within.ID }

// An Instrument measures numbers. With Bounds it is a histogram, otherwise a counter.
type Instrument struct {
	Name, Unit, About string
	Bounds            []float64 // the upper ends of all buckets but the last
	Fraction          bool      // its numbers are not integers
}

// A Metric has the measurements of an Instrument since the session began.
type Metric struct {
	*Instrument
	Points []Point
}

// A Point sums up measurements with the same attributes. Count and the fields behind it
// belong to histograms.
type Point struct {
	Attrs      []slog.Attr
	Start, End time.Time
	Sum        float64
	Count      uint64
	Min, Max   float64
	Buckets    []uint64
}

// A Batch is a unit of export to a Target. It belongs to a single session, and has no secrets
// in it.
type Batch struct {
	Resource []slog.Attr // attributes of all records
	Version  string      // of the program
	Events   []Event     // with all their attributes in Attrs
	Spans    []Span      // with all their attributes in Attrs
	Metrics  []Metric
}

// An Exporter writes batches to a destination, one after the other. If Export fails, the Batch is
// lost.
type Exporter interface {
	Export(ctx context.Context, b *Batch) error
	Close() error
}

// A Target is a destination of records.
type Target struct {
	Exporter
	Trouble string        // the words before the error if it fails
	Prompts bool          // it gets messages, too
	Traces  bool          // it gets whole conversations, if Prompts is set
	Only    bool          // it gets events, but no metrics and no spans
	Grace   time.Duration // the timeout at the end
}
