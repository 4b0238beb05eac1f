package servers

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	collectorlogs "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	"google.golang.org/protobuf/proto"

	pt "gemline/commands/program/acceptance/programtest"
	et "gemline/engine/enginetest"
)

// A collector receives what a run did, and nothing of what was said; a secret that is
// in an error is not in it.
func TestTelemetryCollector(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	got := map[string][]byte{}
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		got[r.URL.Path] = append(got[r.URL.Path], b...) // messages of the protocol can be joined
		if r.Header.Get("X-Key") != "very secret" {
			t.Errorf("%s came with the key %q", r.URL.Path, r.Header.Get("X-Key"))
		}
	}))
	defer collector.Close()
	s := et.NewServer(et.Says("", et.Call("1", "read_file", "file_path", "none/key-of-the-test")),
		et.Says("SECRET-ANSWER"))
	var out, errs bytes.Buffer
	cmd := pt.Headless(t, s, t.TempDir(), &out, &errs, "-p", "SECRET-PROMPT")
	defer s.Close()
	cmd.Env = append(cmd.Env, "GEMINI_TELEMETRY_ENABLED=true", "GEMINI_TELEMETRY_OTLP_PROTOCOL=http",
		"OTEL_EXPORTER_OTLP_ENDPOINT="+collector.URL, "OTEL_EXPORTER_OTLP_HEADERS=x-key=very%20secret",
		"OTEL_SERVICE_NAME=named", "OTEL_RESOURCE_ATTRIBUTES=service.name=other,team.name=desk", "GEMINI_CLI_SURFACE=kiosk")
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, &errs)
	}
	mu.Lock()
	defer mu.Unlock()
	var logs collectorlogs.ExportLogsServiceRequest
	if err := proto.Unmarshal(got["/v1/logs"], &logs); err != nil {
		t.Fatal(err)
	}
	names := map[string]int{}
	for _, rl := range logs.ResourceLogs {
		said := map[string]string{}
		for _, a := range rl.Resource.Attributes {
			said[a.Key] = a.Value.GetStringValue()
		}
		if said["service.name"] != "named" || said["team.name"] != "desk" || said["surface"] != "kiosk" {
			t.Errorf("the sender is %v", said)
		}
		for _, r := range rl.ScopeLogs[0].LogRecords {
			names[r.EventName]++
			if r.EventName == "gemini_cli.tool_call" && len(r.TraceId) != 16 {
				t.Error("a call is in no trace")
			}
		}
	}
	if names["gemini_cli.tool_call"] != 1 || names["gemini_cli.api_response"] != 2 ||
		names["gemini_cli.user_prompt"] != 1 || names["gemini_cli.config"] != 1 {
		t.Errorf("events: %v", names)
	}
	for path, text := range map[string]string{"/v1/traces": "llm_call", "/v1/metrics": "gemini_cli.session.count",
		"/v1/logs": "file_not_found"} {
		if !bytes.Contains(got[path], []byte(text)) {
			t.Errorf("%s has no %s", path, text)
		}
		for _, secret := range []string{"SECRET-", "key-of-the-test"} {
			if bytes.Contains(got[path], []byte(secret)) {
				t.Errorf("%s has %s in it", path, secret)
			}
		}
	}
}

// A collector that does not answer, is not there or can't be had costs a run one line,
// and no more than a moment.
func TestTelemetryUnreachable(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0") // it accepts, as far as anybody can see
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { silent.Close() })
	for _, test := range []struct {
		name, want string
		env        []string
	}{
		{"silent, gRPC", "the collector at http://" + silent.Addr().String() + ": it takes too long",
			[]string{"GEMINI_TELEMETRY_OTLP_ENDPOINT=http://" + silent.Addr().String()}},
		{"silent, HTTP", ": it takes too long",
			[]string{"GEMINI_TELEMETRY_OTLP_ENDPOINT=http://" + silent.Addr().String(),
				"GEMINI_TELEMETRY_OTLP_PROTOCOL=http"}},
		{"nobody there", "connect", []string{"GEMINI_TELEMETRY_OTLP_ENDPOINT=http://u:hunter2@127.0.0.1:1"}},
		{"no address", "telemetry.otlpEndpoint: the address is no http:// or https:// one",
			[]string{"GEMINI_TELEMETRY_OTLP_ENDPOINT=pigeon://roof"}},
		{"not to be tracked", "DO_NOT_TRACK is set", []string{"DO_NOT_TRACK=1"}},
		{"Google Cloud", "run a collector with the googlecloud exporter, and set telemetry.useCollector",
			[]string{"GEMINI_TELEMETRY_TARGET=gcp"}},
		{"both", "can't both be true", []string{"GEMINI_TELEMETRY_USE_COLLECTOR=1", "GEMINI_TELEMETRY_USE_CLI_AUTH=1"}},
		{"full disk", "telemetry is not written to /dev/full: no space left on device",
			[]string{"GEMINI_TELEMETRY_OUTFILE=/dev/full"}},
		{"activity to an address", "GEMINI_CLI_ACTIVITY_LOG_TARGET names an address",
			[]string{"GEMINI_TELEMETRY_ENABLED=false", "GEMINI_CLI_ACTIVITY_LOG_TARGET=http://127.0.0.1:1/"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if _, err := os.Stat("/dev/full"); test.name == "full disk" && err != nil {
				t.Skip(err)
			}
			s := et.NewServer(et.Says("Hello."))
			defer s.Close()
			var out, errs bytes.Buffer
			cmd := pt.Headless(t, s, t.TempDir(), &out, &errs, "-p", "hi")
			cmd.Env = append(append(cmd.Env, "GEMINI_TELEMETRY_ENABLED=true"), test.env...)
			err := cmd.Run()
			if err != nil || out.String() != "Hello.\n" {
				t.Errorf("%v: %q", err, &out)
			}
			if said := errs.String(); strings.Count(said, "\n") != 1 || !strings.Contains(said, test.want) ||
				strings.Contains(said, "hunter2") {
				t.Errorf("said %q", said)
			}
		})
	}
}

// Of a run without telemetry nothing is left, not even the id that records have.
func TestTelemetryOff(t *testing.T) {
	t.Parallel()
	s := et.NewServer(et.Says("Hello."))
	defer s.Close()
	dir := t.TempDir()
	var out, errs bytes.Buffer
	if err := pt.Headless(t, s, dir, &out, &errs, "-p", "hi").Run(); err != nil {
		t.Fatalf("%v: %s", err, &errs)
	}
	if _, err := os.Stat(filepath.Join(dir, "home", ".gemini", "installation_id")); err == nil {
		t.Error("there is an installation_id")
	}
}
