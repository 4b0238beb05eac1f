// Package outfile writes telemetry to files: in the format of the Gemini CLI, and as a
// log of activity in JSON Lines.
//
// # The format for readers
//
// A file in the Gemini CLI's format is a sequence of objects, printed over several lines, with
// only a newline between } and {. Readers split it there and distinguish the kinds by their
// fields: a span has a name, an event attributes and a body, and metrics scopeMetrics. Several
// runs append to one file.
//
// # Records are whole
//
// If the disk is full, the written part of a record is removed from the file.
package outfile

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"time"

	"gemline/engine/telemetry"
	"gemline/engine/text"
)

// A File is an [telemetry.Exporter] that appends to a file.
type File struct {
	f      *os.File
	encode func(*bytes.Buffer, *telemetry.Batch) error
	failed error // what ended the writing
}

// Open opens a file in the Gemini CLI's format. A new file is readable only by the user.
func Open(name string) (*File, error) { return open(name, encode) }

// OpenLines opens a log of activity: the attributes of each event, on a line of its own.
func OpenLines(name string) (*File, error) { return open(name, encodeLines) }

func open(name string, encode func(*bytes.Buffer, *telemetry.Batch) error) (*File, error) {
	// a pipe that nobody reads is an error
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE|nonblock, 0o600)
	if err != nil {
		return nil, bare(err)
	}
	return &File{f: f, encode: encode}, nil
}

// Export implements [telemetry.Exporter]. After the first failure nothing more is
// written.
func (f *File) Export(ctx context.Context, b *telemetry.Batch) error {
	if f.failed != nil {
		return f.failed
	}
	var buf bytes.Buffer
	if f.failed = f.encode(&buf, b); f.failed != nil {
		return f.failed
	}
	if deadline, ok := ctx.Deadline(); ok {
		f.f.SetWriteDeadline(deadline) // of a pipe; files have none
	}
	stop := context.AfterFunc(ctx, func() { f.f.SetWriteDeadline(time.Now()) })
	defer stop()
	var n int
	if n, f.failed = f.f.Write(buf.Bytes()); f.failed != nil && n > 0 {
		f.takeBack(int64(n))
	}
	f.failed = bare(f.failed)
	return f.failed
}

// bare returns err without the name of the file, which the caller knows.
func bare(err error) error {
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// takeBack removes the last n bytes of the file.
func (f *File) takeBack(n int64) {
	if end, err := f.f.Seek(0, io.SeekEnd); err == nil && end >= n {
		f.f.Truncate(end - n)
	}
}

// Close implements [telemetry.Exporter].
func (f *File) Close() error { return f.f.Close() }

// An object is attributes as a JSON object, in their order.
type object []slog.Attr

// MarshalJSON implements [json.Marshaler].
func (o object) MarshalJSON() ([]byte, error) {
	return text.Object(func(yield func(string, any) bool) {
		for _, a := range o {
			if !yield(a.Key, a.Value.Any()) {
				return
			}
		}
	})
}

func encodeLines(to *bytes.Buffer, b *telemetry.Batch) error {
	for _, ev := range b.Events {
		line, err := object(ev.Attrs).MarshalJSON()
		if err != nil {
			return err
		}
		to.Write(append(line, '\n'))
	}
	return nil
}

// hrTime is a time as seconds and nanoseconds.
type hrTime [2]int64

func clock(t time.Time) hrTime { return hrTime{t.Unix(), int64(t.Nanosecond())} }

type (
	resource struct {
		Attributes object `json:"attributes"`
	}
	scope struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	}
	event struct {
		Time       hrTime   `json:"hrTime"`
		Observed   hrTime   `json:"hrTimeObserved"`
		Resource   resource `json:"resource"`
		Scope      scope    `json:"instrumentationScope"`
		Body       string   `json:"_body"`
		Attributes object   `json:"attributes"`
	}
	spanContext struct {
		Trace string `json:"traceId"`
		ID    string `json:"spanId"`
		Flags int    `json:"traceFlags"`
	}
	status struct {
		Code    int    `json:"code"`
		Message string `json:"message,omitempty"`
	}
	span struct {
		Name       string       `json:"name"`
		Context    spanContext  `json:"_spanContext"`
		Parent     *spanContext `json:"parentSpanContext,omitempty"`
		Kind       int          `json:"kind"`
		Start      hrTime       `json:"startTime"`
		End        hrTime       `json:"endTime"`
		Duration   hrTime       `json:"_duration"`
		Ended      bool         `json:"_ended"`
		Status     status       `json:"status"`
		Attributes object       `json:"attributes"`
		Links      []any        `json:"links"`
		Events     []any        `json:"events"`
		Resource   resource     `json:"resource"`
		Scope      scope        `json:"instrumentationScope"`
	}
	descriptor struct {
		Name  string `json:"name"`
		Type  string `json:"type"`
		About string `json:"description"`
		Unit  string `json:"unit"`
		Value int    `json:"valueType"`
	}
	buckets struct {
		Boundaries []float64 `json:"boundaries"`
		Counts     []uint64  `json:"counts"`
	}
	histogram struct {
		Min     float64 `json:"min"`
		Max     float64 `json:"max"`
		Sum     float64 `json:"sum"`
		Buckets buckets `json:"buckets"`
		Count   uint64  `json:"count"`
	}
	point struct {
		Attributes object `json:"attributes"`
		Start      hrTime `json:"startTime"`
		End        hrTime `json:"endTime"`
		Value      any    `json:"value"`
	}
	metric struct {
		Descriptor  descriptor `json:"descriptor"`
		Temporality int        `json:"aggregationTemporality"`
		Type        int        `json:"dataPointType"`
		Monotonic   bool       `json:"isMonotonic,omitempty"`
		Points      []point    `json:"dataPoints"`
	}
	scopeMetrics struct {
		Scope   scope    `json:"scope"`
		Metrics []metric `json:"metrics"`
	}
	metrics struct {
		Resource resource       `json:"resource"`
		Scopes   []scopeMetrics `json:"scopeMetrics"`
	}
)

// Numeric constants of the format.
const (
	cumulative     = 1
	histogramPoint = 0
	sumPoint       = 3
	fraction       = 1
	failed         = 2
)

func encode(to *bytes.Buffer, b *telemetry.Batch) error {
	of, by := resource{b.Resource}, scope{telemetry.Name, ""}
	var all []any
	for _, ev := range b.Events {
		at := clock(ev.Time)
		all = append(all, event{at, at, of, by, ev.Body, ev.Attrs})
	}
	for _, s := range b.Spans {
		out := span{Name: s.Name, Context: named(s.Trace, s.ID), Start: clock(s.Start), End: clock(s.End), Ended: true,
			Attributes: s.Attrs, Links: []any{}, Events: []any{}, Resource: of, Scope: by}
		took := s.End.Sub(s.Start)
		out.Duration = hrTime{int64(took / time.Second), int64(took % time.Second)}
		if s.Parent != (telemetry.SpanID{}) {
			parent := named(s.Trace, s.Parent)
			out.Parent = &parent
		}
		if s.Error != "" {
			out.Status = status{failed, s.Error}
		}
		all = append(all, out)
	}
	if len(b.Metrics) > 0 {
		measured := make([]metric, len(b.Metrics))
		for i, m := range b.Metrics {
			measured[i] = shape(m)
		}
		all = append(all, metrics{of, []scopeMetrics{{by, measured}}})
	}
	for _, v := range all {
		encoded, err := text.JSON(v, "  ")
		if err != nil {
			return err
		}
		to.Write(append(encoded, '\n'))
	}
	return nil
}

func named(trace telemetry.TraceID, id telemetry.SpanID) spanContext {
	return spanContext{hex.EncodeToString(trace[:]), hex.EncodeToString(id[:]), 1}
}

func shape(m telemetry.Metric) metric {
	out := metric{Descriptor: descriptor{m.Name, "COUNTER", m.About, m.Unit, 0}, Temporality: cumulative,
		Type: sumPoint, Monotonic: true}
	if m.Bounds != nil {
		out.Descriptor.Type, out.Type, out.Monotonic = "HISTOGRAM", histogramPoint, false
	}
	if m.Fraction {
		out.Descriptor.Value = fraction
	}
	for _, p := range m.Points {
		value := any(p.Sum)
		if m.Bounds != nil {
			value = histogram{p.Min, p.Max, p.Sum, buckets{m.Bounds, p.Buckets}, p.Count}
		}
		out.Points = append(out.Points, point{p.Attrs, clock(p.Start), clock(p.End), value})
	}
	return out
}
