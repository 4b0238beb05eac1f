package otlp

import (
	"log/slog"
	"math"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"gemline/engine/telemetry"
)

// A message is an encoded protocol message. Field numbers are from opentelemetry/proto.
type message []byte

func (m *message) bytes(field protowire.Number, b []byte) {
	*m = protowire.AppendBytes(protowire.AppendTag(*m, field, protowire.BytesType), b)
}

// text adds a string. Collectors reject requests with strings that are not valid UTF-8.
func (m *message) text(field protowire.Number, s string) {
	if s != "" {
		m.bytes(field, []byte(strings.ToValidUTF8(s, "\uFFFD")))
	}
}

func (m *message) varint(field protowire.Number, n uint64) {
	*m = protowire.AppendVarint(protowire.AppendTag(*m, field, protowire.VarintType), n)
}

func (m *message) fixed(field protowire.Number, n uint64) {
	*m = protowire.AppendFixed64(protowire.AppendTag(*m, field, protowire.Fixed64Type), n)
}

func (m *message) double(field protowire.Number, f float64) { m.fixed(field, math.Float64bits(f)) }

func (m *message) time(field protowire.Number, t time.Time) { m.fixed(field, uint64(t.UnixNano())) }

func (m *message) attributes(field protowire.Number, attrs []slog.Attr) {
	for _, a := range attrs {
		var pair message
		pair.text(1, a.Key)
		pair.bytes(2, value(a.Value))
		m.bytes(field, pair)
	}
}

// value returns an AnyValue.
func value(v slog.Value) (m message) {
	switch v.Kind() {
	case slog.KindBool:
		m.varint(2, protowire.EncodeBool(v.Bool()))
	case slog.KindInt64:
		m.varint(3, uint64(v.Int64()))
	case slog.KindFloat64:
		m.double(4, v.Float64())
	case slog.KindString:
		m.bytes(1, []byte(strings.ToValidUTF8(v.String(), "\uFFFD")))
	default:
		var list message
		words, _ := v.Any().([]string)
		for _, w := range words {
			list.bytes(1, value(slog.StringValue(w)))
		}
		m.bytes(5, list)
	}
	return m
}

// export returns a request: a resource, the scope, and the records in it.
func export(b *telemetry.Batch, records []message) []byte {
	var resource, name, scope, of, request message
	resource.attributes(1, b.Resource)
	name.text(1, telemetry.Name)
	name.text(2, b.Version)
	scope.bytes(1, name)
	for _, r := range records {
		scope.bytes(2, r)
	}
	of.bytes(1, resource)
	of.bytes(2, scope)
	request.bytes(1, of)
	return request
}

func logs(b *telemetry.Batch) []byte {
	records := make([]message, len(b.Events))
	for i, ev := range b.Events {
		m := &records[i]
		m.time(1, ev.Time)
		m.bytes(5, value(slog.StringValue(ev.Body)))
		m.attributes(6, ev.Attrs)
		if trace, span := ev.Within(); span != (telemetry.SpanID{}) {
			m.bytes(9, trace[:])
			m.bytes(10, span[:])
		}
		m.time(11, ev.Time)
		m.text(12, ev.Name)
	}
	return export(b, records)
}

func traces(b *telemetry.Batch) []byte {
	const internal, failed = 1, 2
	records := make([]message, len(b.Spans))
	for i, s := range b.Spans {
		m := &records[i]
		m.bytes(1, s.Trace[:])
		m.bytes(2, s.ID[:])
		if s.Parent != (telemetry.SpanID{}) {
			m.bytes(4, s.Parent[:])
		}
		m.text(5, s.Name)
		m.varint(6, internal)
		m.time(7, s.Start)
		m.time(8, s.End)
		m.attributes(9, s.Attrs)
		if s.Error != "" {
			var status message
			status.text(2, s.Error)
			status.varint(3, failed)
			m.bytes(15, status)
		}
	}
	return export(b, records)
}

func metrics(b *telemetry.Batch) []byte {
	const cumulative = 2
	records := make([]message, len(b.Metrics))
	for i, in := range b.Metrics {
		m := &records[i]
		m.text(1, in.Name)
		m.text(2, in.About)
		m.text(3, in.Unit)
		var data message
		for _, p := range in.Points {
			if in.Bounds == nil {
				data.bytes(1, number(p, in.Fraction))
			} else {
				data.bytes(1, histogram(p, in.Bounds))
			}
		}
		data.varint(2, cumulative)
		if in.Bounds == nil {
			data.varint(3, 1) // monotonic
			m.bytes(7, data)
		} else {
			m.bytes(9, data)
		}
	}
	return export(b, records)
}

func number(p telemetry.Point, fraction bool) (m message) {
	m.time(2, p.Start)
	m.time(3, p.End)
	if fraction {
		m.double(4, p.Sum)
	} else {
		m.fixed(6, uint64(int64(p.Sum)))
	}
	m.attributes(7, p.Attrs)
	return m
}

func histogram(p telemetry.Point, bounds []float64) (m message) {
	m.time(2, p.Start)
	m.time(3, p.End)
	m.fixed(4, p.Count)
	m.double(5, p.Sum)
	var counts, ends message
	for _, n := range p.Buckets {
		counts = protowire.AppendFixed64(counts, n)
	}
	for _, f := range bounds {
		ends = protowire.AppendFixed64(ends, math.Float64bits(f))
	}
	m.bytes(6, counts)
	m.bytes(7, ends)
	m.attributes(9, p.Attrs)
	m.double(11, p.Min)
	m.double(12, p.Max)
	return m
}
