package otlp

import (
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	collectorlogs "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	collectormetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	collectortrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"gemline/engine/network"
	"gemline/engine/telemetry"
)

// A receiver keeps what a collector was sent.
type receiver struct {
	mu      sync.Mutex
	logs    *collectorlogs.ExportLogsServiceRequest
	traces  *collectortrace.ExportTraceServiceRequest
	metrics *collectormetrics.ExportMetricsServiceRequest
	token   string // the header of the last request
}

func (r *receiver) keep(token string, m proto.Message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.token = token
	switch m := m.(type) {
	case *collectorlogs.ExportLogsServiceRequest:
		r.logs = m
	case *collectortrace.ExportTraceServiceRequest:
		r.traces = m
	case *collectormetrics.ExportMetricsServiceRequest:
		r.metrics = m
	}
}

// ServeHTTP receives over HTTP.
func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	m := map[string]proto.Message{"/base/v1/logs": new(collectorlogs.ExportLogsServiceRequest),
		"/base/v1/traces": new(collectortrace.ExportTraceServiceRequest), "/base/v1/metrics": new(collectormetrics.ExportMetricsServiceRequest)}[req.URL.Path]
	b, err := io.ReadAll(req.Body)
	if m == nil || err != nil || req.Header.Get("Content-Type") != "application/x-protobuf" ||
		proto.Unmarshal(b, m) != nil {
		http.Error(w, "what is that?", http.StatusBadRequest)
		return
	}
	r.keep(req.Header.Get("X-Token"), m)
}

type logsService struct {
	collectorlogs.UnimplementedLogsServiceServer
	*receiver
}

func (s logsService) Export(ctx context.Context,
	m *collectorlogs.ExportLogsServiceRequest) (*collectorlogs.ExportLogsServiceResponse, error) {
	s.keep(token(ctx), m)
	return &collectorlogs.ExportLogsServiceResponse{}, nil
}

type traceService struct {
	collectortrace.UnimplementedTraceServiceServer
	*receiver
}

func (s traceService) Export(ctx context.Context,
	m *collectortrace.ExportTraceServiceRequest) (*collectortrace.ExportTraceServiceResponse, error) {
	s.keep(token(ctx), m)
	return &collectortrace.ExportTraceServiceResponse{}, nil
}

type metricsService struct {
	collectormetrics.UnimplementedMetricsServiceServer
	*receiver
}

func (s metricsService) Export(ctx context.Context,
	m *collectormetrics.ExportMetricsServiceRequest) (*collectormetrics.ExportMetricsServiceResponse, error) {
	s.keep(token(ctx), m)
	return &collectormetrics.ExportMetricsServiceResponse{}, nil
}

func token(ctx context.Context) string {
	md, _ := metadata.FromIncomingContext(ctx)
	return strings.Join(md.Get("x-token"), ",")
}

// serveGRPC starts a collector that speaks gRPC, and returns its address.
func serveGRPC(t *testing.T, r *receiver, options ...grpc.ServerOption) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer(options...)
	if r != nil {
		collectorlogs.RegisterLogsServiceServer(s, logsService{receiver: r})
		collectortrace.RegisterTraceServiceServer(s, traceService{receiver: r})
		collectormetrics.RegisterMetricsServiceServer(s, metricsService{receiver: r})
	}
	go s.Serve(l)
	t.Cleanup(s.Stop)
	return l.Addr().String()
}

// batch returns records of each kind, with values of each type.
func batch() *telemetry.Batch {
	at, later := time.Unix(1700000000, 5), time.Unix(1700000001, 6)
	s := telemetry.Span{Name: "tool_call", Start: at, End: later, Parent: telemetry.SpanID{4}, Error: "it failed",
		Attrs: []slog.Attr{slog.String("gen_ai.tool.name", "glob")}}
	s.Trace, s.ID = telemetry.TraceID{1}, telemetry.SpanID{3}
	return &telemetry.Batch{Version: "1.2", Resource: []slog.Attr{slog.String("service.name", "gemini-cli"),
		slog.Int("process.pid", 7)},
		Events: []telemetry.Event{{Name: "gemini_cli.x", Body: "It is.", Time: at,
			Attrs: []slog.Attr{slog.String("s", "ü\xff"), slog.Int("n", -3),
				slog.Bool("b", true), slog.Float64("f", 0.5), slog.Any("l", []string{"a", "b"}), slog.String("e", "")}}},
		Spans: []telemetry.Span{s},
		Metrics: []telemetry.Metric{
			{Instrument: telemetry.Sessions, Points: []telemetry.Point{{Attrs: []slog.Attr{slog.String("a", "b")},
				Start: at, End: later, Sum: 41}}},
			{Instrument: telemetry.ClientDuration, Points: []telemetry.Point{{Start: at, End: later, Sum: 1.5,
				Count: 2, Min: 0.5, Max: 1,
				Buckets: []uint64{0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0}}}},
		}}
}

const (
	resource   = `"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"gemini-cli"}},{"key":"process.pid","value":{"intValue":"7"}}]}`
	scope      = `"scope":{"name":"gemini-cli","version":"1.2"}`
	wantLogs   = `{"resourceLogs":[{` + resource + `,"scopeLogs":[{` + scope + `,"logRecords":[{"timeUnixNano":"1700000000000000005","observedTimeUnixNano":"1700000000000000005","body":{"stringValue":"It is."},"attributes":[{"key":"s","value":{"stringValue":"ü` + "\uFFFD" + `"}},{"key":"n","value":{"intValue":"-3"}},{"key":"b","value":{"boolValue":true}},{"key":"f","value":{"doubleValue":0.5}},{"key":"l","value":{"arrayValue":{"values":[{"stringValue":"a"},{"stringValue":"b"}]}}},{"key":"e","value":{"stringValue":""}}],"eventName":"gemini_cli.x"}]}]}]}`
	wantTraces = `{"resourceSpans":[{` + resource + `,"scopeSpans":[{` + scope + `,"spans":[{"traceId":"AQAAAAAAAAAAAAAAAAAAAA==","spanId":"AwAAAAAAAAA=","parentSpanId":"BAAAAAAAAAA=","name":"tool_call","kind":"SPAN_KIND_INTERNAL","startTimeUnixNano":"1700000000000000005","endTimeUnixNano":"1700000001000000006","attributes":[{"key":"gen_ai.tool.name","value":{"stringValue":"glob"}}],"status":{"message":"it failed","code":"STATUS_CODE_ERROR"}}]}]}]}`
	wantPoints = `{"resourceMetrics":[{` + resource + `,"scopeMetrics":[{` + scope + `,"metrics":[{"name":"gemini_cli.session.count","description":"Count of CLI sessions started.","sum":{"dataPoints":[{"startTimeUnixNano":"1700000000000000005","timeUnixNano":"1700000001000000006","asInt":"41","attributes":[{"key":"a","value":{"stringValue":"b"}}]}],"aggregationTemporality":"AGGREGATION_TEMPORALITY_CUMULATIVE","isMonotonic":true}},{"name":"gen_ai.client.operation.duration","description":"GenAI operation duration.","unit":"s","histogram":{"dataPoints":[{"startTimeUnixNano":"1700000000000000005","timeUnixNano":"1700000001000000006","count":"2","sum":1.5,"bucketCounts":["0","0","0","0","0","0","1","1","0","0","0","0","0","0","0"],"explicitBounds":[0.01,0.02,0.04,0.08,0.16,0.32,0.64,1.28,2.56,5.12,10.24,20.48,40.96,81.92],"min":0.5,"max":1}],"aggregationTemporality":"AGGREGATION_TEMPORALITY_CUMULATIVE"}}]}]}]}`
)

// check checks that a collector has received the batch, as it reads that itself.
func (r *receiver) check(t *testing.T) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range []struct {
		got, want proto.Message
		text      string
	}{
		{r.logs, new(collectorlogs.ExportLogsServiceRequest), wantLogs},
		{r.traces, new(collectortrace.ExportTraceServiceRequest), wantTraces},
		{r.metrics, new(collectormetrics.ExportMetricsServiceRequest), wantPoints},
	} {
		// In the JSON of the protocol ids are hexadecimal; protojson takes base64.
		if err := protojson.Unmarshal([]byte(m.text), m.want); err != nil {
			t.Fatal(err)
		}
		if !proto.Equal(m.got, m.want) {
			t.Error(cmp.Diff(protojson.Format(m.want), protojson.Format(m.got)))
		}
		if len(m.got.ProtoReflect().GetUnknown()) > 0 {
			t.Error("it has fields that nobody knows")
		}
	}
	if r.token != "secret" {
		t.Errorf("token %q", r.token)
	}
}

// certificate returns a file with the certificate of s.
func certificate(t *testing.T, s *httptest.Server) []string {
	name := filepath.Join(t.TempDir(), "cert.pem")
	if err := os.WriteFile(name, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{name}
}

// Collectors receive everything: over HTTP and gRPC, encrypted or not.
func TestExport(t *testing.T) {
	plain := func(r *receiver) (string, []string) {
		s := httptest.NewServer(r)
		t.Cleanup(s.Close)
		return s.URL + "/base/", nil
	}
	encrypted := func(r *receiver) (string, []string) {
		s := httptest.NewTLSServer(r)
		t.Cleanup(s.Close)
		return s.URL + "/base", certificate(t, s)
	}
	call := func(r *receiver) (string, []string) { return "http://" + serveGRPC(t, r) + "/v1/whatever", nil }
	bare := func(r *receiver) (string, []string) { return serveGRPC(t, r), nil }
	encryptedCall := func(r *receiver) (string, []string) {
		s := httptest.NewTLSServer(nil) // for its certificate
		t.Cleanup(s.Close)
		return "https://" + serveGRPC(t, r, grpc.Creds(credentials.NewServerTLSFromCert(&s.TLS.Certificates[0]))), certificate(t, s)
	}
	for _, test := range []struct {
		name  string
		start func(*receiver) (string, []string)
		grpc  bool
	}{
		{"http", plain, false},
		{"https", encrypted, false},
		{"grpc", call, true},
		{"grpc without a scheme", bare, true},
		{"grpc over TLS", encryptedCall, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := &receiver{}
			endpoint, trusted := test.start(r)
			c, err := New(Config{Endpoint: endpoint, GRPC: test.grpc,
				Headers: map[string]string{"x-token": "secret"}, Network: network.Network{CAs: trusted}})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if err := c.Export(t.Context(), batch()); err != nil {
				t.Fatal(err)
			}
			r.check(t)
		})
	}
}

// What a collector refuses, and one that is none, is an error of one line without
// the address.
func TestRefused(t *testing.T) {
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, "<html>")
	}))
	defer page.Close()
	moved := httptest.NewServer(http.RedirectHandler("http://127.0.0.1:1/", http.StatusTemporaryRedirect))
	defer moved.Close()
	unread := httptest.NewServer(http.NotFoundHandler())
	defer unread.Close()
	full := serveGRPC(t, nil, grpc.UnknownServiceHandler(func(any, grpc.ServerStream) error {
		return status.Error(codes.ResourceExhausted, "too\nmuch")
	}))
	for _, test := range []struct {
		name, endpoint string
		grpc           bool
		want           string
	}{
		{"no such page", unread.URL, false, "HTTP status 404 Not Found 404 page not found"},
		{"elsewhere", moved.URL, false, "HTTP status 307 Temporary Redirect "},
		{"gRPC with a web server", page.URL, true, ""},
		{"gRPC that refuses", full, true, "gRPC status 8 too much"},
		{"gRPC without the service", serveGRPC(t, nil), true,
			"gRPC status 12 unknown service opentelemetry.proto.collector.logs.v1.LogsService"},
		{"nobody there", "127.0.0.1:1", false, "connection refused"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, err := New(Config{Endpoint: test.endpoint, GRPC: test.grpc})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			err = c.Export(t.Context(), batch())
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") ||
				strings.Contains(err.Error(), "http://") {
				t.Errorf("got %v", err)
			}
		})
	}
}

// A collector that accepts and never answers is left when there is no more time.
func TestSilent(t *testing.T) {
	for _, grpc := range []bool{false, true} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		c, err := New(Config{Endpoint: l.Addr().String(), GRPC: grpc})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if err := c.Export(ctx, batch()); err == nil {
			t.Error("a collector that says nothing has taken a batch")
		}
		c.Close()
	}
}

// An address that is none is an error before anything is sent.
func TestNew(t *testing.T) {
	for _, endpoint := range []string{"", "ftp://localhost", "http://", "http://[::1", "://x"} {
		if c, err := New(Config{Endpoint: endpoint}); err == nil {
			t.Errorf("%q is %v", endpoint, c)
		}
	}
	c, err := New(Config{Endpoint: "http://user:hunter2@localhost:4317"})
	if err != nil || strings.Contains(c.String(), "hunter2") {
		t.Errorf("%v, %v", c, err)
	}
}
