package outfile

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"gemline/engine/telemetry"
)

// batch returns a record of each kind.
func batch(body string) *telemetry.Batch {
	now := time.Unix(1700000000, 5)
	s := telemetry.Span{Name: "tool_call", Start: now, End: now.Add(1500 * time.Millisecond),
		Parent: telemetry.SpanID{2}, Error: "it failed"}
	s.Trace, s.ID = telemetry.TraceID{1}, telemetry.SpanID{3}
	return &telemetry.Batch{Resource: []slog.Attr{slog.String("service.name", "gemini-cli")},
		Events: []telemetry.Event{{Name: "gemini_cli.config", Body: body, Time: now,
			Attrs: []slog.Attr{slog.String("event.name", "gemini_cli.config"), slog.Int("n", 3),
				slog.Bool("b", true), slog.Any("l", []string{"<a>"})}}},
		Spans: []telemetry.Span{s},
		Metrics: []telemetry.Metric{{Instrument: telemetry.Sessions,
			Points: []telemetry.Point{{Start: now, End: now, Sum: 1}}}}}
}

// A reader that splits the file at } newline { finds objects that are told by their
// fields, in the order of the attributes, also behind those of another run.
func TestOpen(t *testing.T) {
	name := filepath.Join(t.TempDir(), "telemetry.log")
	for range 2 {
		f, err := Open(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Export(t.Context(), batch("loaded.")); err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	pieces := strings.Split(strings.TrimSuffix(string(b), "}\n"), "}\n{")
	want := []string{
		`{"hrTime":[1700000000,5],"hrTimeObserved":[1700000000,5],"resource":{"attributes":{"service.name":"gemini-cli"}},"instrumentationScope":{"name":"gemini-cli","version":""},"_body":"loaded.","attributes":{"event.name":"gemini_cli.config","n":3,"b":true,"l":["<a>"]}}`,
		`{"name":"tool_call","_spanContext":{"traceId":"01000000000000000000000000000000","spanId":"0300000000000000","traceFlags":1},"parentSpanContext":{"traceId":"01000000000000000000000000000000","spanId":"0200000000000000","traceFlags":1},"kind":0,"startTime":[1700000000,5],"endTime":[1700000001,500000005],"_duration":[1,500000000],"_ended":true,"status":{"code":2,"message":"it failed"},"attributes":{},"links":[],"events":[],"resource":{"attributes":{"service.name":"gemini-cli"}},"instrumentationScope":{"name":"gemini-cli","version":""}}`,
		`{"resource":{"attributes":{"service.name":"gemini-cli"}},"scopeMetrics":[{"scope":{"name":"gemini-cli","version":""},"metrics":[{"descriptor":{"name":"gemini_cli.session.count","type":"COUNTER","description":"Count of CLI sessions started.","unit":"","valueType":0},"aggregationTemporality":1,"dataPointType":3,"isMonotonic":true,"dataPoints":[{"attributes":{},"startTime":[1700000000,5],"endTime":[1700000000,5],"value":1}]}]}]}`,
	}
	if len(pieces) != 2*len(want) {
		t.Fatalf("%d objects in %s", len(pieces), b)
	}
	for i, p := range pieces {
		var compact bytes.Buffer
		if err := json.Compact(&compact, []byte("{"+strings.TrimPrefix(p, "{")+"}")); err != nil {
			t.Fatalf("%v in %s", err, p)
		}
		if got := compact.String(); got != want[i%3] {
			t.Errorf("got  %s\nwant %s", got, want[i%3])
		}
	}
	if !strings.Contains(string(b), "\n  \"hrTime\": [\n") {
		t.Error("it is not printed over several lines")
	}
}

// On a full disk nothing is written, and no more is tried.
func TestFull(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip(err)
	}
	f, err := Open("/dev/full")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for range 2 {
		if err := f.Export(t.Context(), batch("x")); !errors.Is(err, syscall.ENOSPC) ||
			strings.Contains(err.Error(), "/dev/full") {
			t.Errorf("got %v", err)
		}
	}
}

// Of a record that was written in part, nothing stays.
func TestPart(t *testing.T) {
	name := filepath.Join(t.TempDir(), "telemetry.log")
	f, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	f.Export(t.Context(), batch("whole"))
	before, _ := os.ReadFile(name)
	n, _ := f.f.WriteString("{ half a record")
	f.takeBack(int64(n))
	if after, _ := os.ReadFile(name); string(after) != string(before) {
		t.Errorf("it ends with %q", after[len(before):])
	}
}

// A pipe that nobody reads is an error, and one that is not read on ends with the time
// there is.
func TestPipe(t *testing.T) {
	name := filepath.Join(t.TempDir(), "pipe")
	if err := mkfifo(name); err != nil {
		t.Skip(err)
	}
	if _, err := Open(name); err == nil {
		t.Error("a pipe without a reader was opened")
	}
	reader, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	f, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := f.Export(ctx, batch(strings.Repeat("x", 1<<20))); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

// A log of activity has the attributes of an event on each line.
func TestLines(t *testing.T) {
	name := filepath.Join(t.TempDir(), "activity.jsonl")
	f, err := OpenLines(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	f.Export(t.Context(), batch("x"))
	file, _ := os.Open(name)
	defer file.Close()
	b, _ := io.ReadAll(file)
	if want := `{"event.name":"gemini_cli.config","n":3,"b":true,"l":["<a>"]}` + "\n"; string(b) != want {
		t.Errorf("got %s", b)
	}
}

// What is no file of this package's is read without a panic, and to its end or an error.
func FuzzRead(f *testing.F) {
	var buf bytes.Buffer
	if err := encode(&buf, batch("x")); err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{buf.String(), `{"event.name":1}`, `{"resource":1,"attributes":[]}`, "[", "{} {", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		over := false
		for said, err := range Read(strings.NewReader(text)) {
			if name, _ := said["event.name"].(string); over || err == nil && name == "" {
				t.Errorf("%v after an error, or without a name", said)
			}
			over = err != nil
		}
	})
}
