package report

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gemline/engine"
)

func TestStream(t *testing.T) {
	b := newBench("stream-json", func(r *Config) {
		r.Version, r.Dir, r.Mode = "1.2", func() string { return "/src" }, func() string { return "plan" }
	})
	b.Begin(Init{Session: "s-2", Model: "gemini-2.5-flash", Prompt: "hi"})
	b.see(run...)
	b.Finish(Outcome{})
	want := `{"type":"init","timestamp":"2026-11-20T20:40:23.003Z","session_id":"s-2","model":"gemini-2.5-flash","schema_version":1,"version":"1.2","cwd":"/src","approval_mode":"plan","seq":0,"elapsed_ms":1}
{"type":"message","timestamp":"2026-11-20T20:40:23.004Z","role":"user","content":"hi","seq":1,"elapsed_ms":2}
{"type":"message","timestamp":"2026-11-20T20:40:23.005Z","role":"assistant","content":"Wrong.","delta":true,"seq":2,"elapsed_ms":3}
{"type":"retry","timestamp":"2026-11-20T20:40:23.006Z","attempt":1,"max_attempts":3,"delay_ms":2000,"message":"the connection broke","restart":true,"seq":3,"elapsed_ms":4}
{"type":"message","timestamp":"2026-11-20T20:40:23.007Z","role":"assistant","content":"Let me read","delta":true,"seq":4,"elapsed_ms":5}
{"type":"message","timestamp":"2026-11-20T20:40:23.008Z","role":"assistant","content":" ","delta":true,"seq":5,"elapsed_ms":6}
{"type":"message","timestamp":"2026-11-20T20:40:23.009Z","role":"assistant","content":"é.\n\n","delta":true,"seq":6,"elapsed_ms":7}
{"type":"tool_use","timestamp":"2026-11-20T20:40:23.010Z","tool_name":"read_file","tool_id":"read_file__1","parameters":{"file_path":"a.txt"},"seq":7,"elapsed_ms":8}
{"type":"tool_use","timestamp":"2026-11-20T20:40:23.011Z","tool_name":"replace","tool_id":"replace__2","parameters":{},"seq":8,"elapsed_ms":9}
{"type":"tool_use","timestamp":"2026-11-20T20:40:23.012Z","tool_name":"run","tool_id":"run__3","parameters":{},"seq":9,"elapsed_ms":10}
{"type":"tool_use","timestamp":"2026-11-20T20:40:23.013Z","tool_name":"run","tool_id":"run__4","parameters":{},"seq":10,"elapsed_ms":11}
{"type":"tool_result","timestamp":"2026-11-20T20:40:23.014Z","tool_id":"read_file__1","status":"success","output":"","paths":["/src/a.txt"],"duration_ms":1,"seq":11,"elapsed_ms":12}
{"type":"tool_result","timestamp":"2026-11-20T20:40:23.015Z","tool_id":"replace__2","status":"error","output":"denied: nobody to ask. --approval-mode auto_edit","error":{"type":"unhandled_exception","message":"no one to ask"},"duration_ms":0,"seq":12,"elapsed_ms":13}
{"type":"tool_result","timestamp":"2026-11-20T20:40:23.016Z","tool_id":"run__3","status":"error","output":"boom","error":{"type":"shell_execute_error","message":"boom\nExit Code: 2"},"duration_ms":0,"seq":13,"elapsed_ms":14}
{"type":"tool_result","timestamp":"2026-11-20T20:40:23.017Z","tool_id":"run__4","status":"cancelled","output":"cancelled","duration_ms":0,"seq":14,"elapsed_ms":15}
{"type":"message","timestamp":"2026-11-20T20:40:23.018Z","role":"assistant","content":"Done.\n","delta":true,"seq":15,"elapsed_ms":16}
{"type":"message","timestamp":"2026-11-20T20:40:23.019Z","role":"assistant","content":"\n","delta":true,"seq":16,"elapsed_ms":17}
{"type":"error","timestamp":"2026-11-20T20:40:23.020Z","severity":"warning","message":"the answer was cut short","seq":17,"elapsed_ms":18}
{"type":"result","timestamp":"2026-11-20T20:40:23.021Z","status":"success","stats":{"total_tokens":35,"input_tokens":30,"output_tokens":5,"cached":0,"input":30,"duration_ms":19,"tool_calls":4,"models":{"gemini-2.5-flash":{"total_tokens":35,"input_tokens":30,"output_tokens":5,"cached":0,"input":30}}},"session_id":"s-2","schema_version":1,"exit_code":0,"termination_reason":"completed","denied":[{"tool":"replace","tool_id":"replace__2","title":"edit a.txt","why":"nobody could be asked","allowed_by":"--approval-mode auto_edit"}],"warnings":["the answer was cut short"],"seq":18,"elapsed_ms":19}
`
	if diff := cmp.Diff(want, b.out.String()); diff != "" {
		t.Error(diff)
	}
	if n := strings.Count(want, "\n"); len(b.out) != n {
		t.Errorf("%d writes for %d records", len(b.out), n)
	}
}

// A run that never began has its last record, and only that; a prompt that
// could not be expanded was never said.
func TestStreamBeforeTheRun(t *testing.T) {
	b := newBench("stream-json", nil)
	b.Finish(Outcome{Err: errors.New("no key"), ExitCode: 41, Reason: "auth", ErrorType: "auth"})
	if len(b.out) != 1 || !strings.HasPrefix(b.out[0], `{"type":"result"`) || !strings.Contains(b.out[0],
		`"status":"error","error":{"type":"auth","message":"no key","code":41},"stats":{`) {
		t.Errorf("%q", b.out)
	}
	b = newBench("stream-json", nil)
	b.Begin(Init{Prompt: "!{"})
	b.Finish(Outcome{Err: errors.New("no brace"), ExitCode: 42})
	if len(b.out) != 2 || strings.Contains(b.out.String(), `"user"`) {
		t.Errorf("%q", b.out)
	}
}

// Whatever happens and however often the end is told, there is one result and
// nothing follows it. Every record is one write of one line.
func TestStreamAnything(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 2))
		b := newBench("stream-json", nil)
		if r.IntN(5) > 0 {
			b.Begin(Init{Session: "s", Model: "\xff", Prompt: "p"})
		}
		for range r.IntN(30) {
			b.see(event(r))
		}
		for range 1 + r.IntN(3) {
			b.Finish(outcome(r))
			b.Begin(Init{})
			b.see(event(r))
		}
		for i, line := range b.out {
			if wrong := hostile(line); wrong != "" || strings.Count(line, "\n") != 1 || !strings.HasSuffix(line, "\n") {
				t.Fatalf("seed %d: %s: %q", seed, wrong, line)
			}
			var rec struct {
				Type   string
				Seq    int
				Output *string
			}
			if err := json.Unmarshal([]byte(line), &rec); err != nil || rec.Seq != i {
				t.Fatalf("seed %d: %v: %q", seed, err, line)
			}
			if last := i == len(b.out)-1; last != (rec.Type == "result") {
				t.Fatalf("seed %d: record %d of %d is a %s", seed, i, len(b.out), rec.Type)
			}
			if rec.Type == "tool_result" && rec.Output == nil {
				t.Fatalf("seed %d: no output: %q", seed, line)
			}
		}
	}
}

// Calls of agents are told with the call inside which they are made, and those that an
// agent left when its time was up are over before that.
func TestStreamAgents(t *testing.T) {
	b := newBench("stream-json", nil)
	nested := func(id string, ev engine.Event) engine.Event {
		return engine.NestedEvent{ID: id, Agent: "look", Event: ev}
	}
	b.see(engine.CallRequested{ID: "a1", Name: "invoke_agent"}, engine.CallRequested{ID: "a2", Name: "invoke_agent"},
		nested("a1", engine.CallRequested{ID: "x", Name: "read"}), nested("a2", engine.CallRequested{ID: "x", Name: "read"}), nested("a2", engine.Text{Delta: "Hm."}),
		nested("a2", engine.NestedEvent{ID: "x", Agent: "deep", Event: engine.CallRequested{ID: "y", Name: "ls"}}),
		nested("a1", engine.CallFinished{ID: "x", Name: "read"}), engine.CallFinished{ID: "a1"}, engine.CallFinished{ID: "a2"})
	var got []string
	for _, line := range b.out {
		var r struct {
			Type, Status, Agent string
			ID                  string `json:"tool_id"`
			Parent              string `json:"parent_tool_id"`
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		got = append(got, strings.Join([]string{r.Type, r.ID, r.Agent, r.Parent, r.Status}, ","))
	}
	want := []string{"tool_use,a1,,,", "tool_use,a2,,,", "tool_use,x,look,a1,", "tool_use,x,look,a2,", "tool_use,y,look > deep,x,",
		"tool_result,x,look,a1,success", "tool_result,a1,,,success",
		"tool_result,y,look > deep,x,cancelled", "tool_result,x,look,a2,cancelled", "tool_result,a2,,,success"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestStreamInvalid(t *testing.T) {
	b := newBench("stream-json", nil)
	b.see(engine.Text{Delta: "a\xff"}, engine.Text{Delta: "b"}, engine.CallRequested{ID: "i", Name: "n", Args: map[string]any{"x": "\xff\x1b["}})
	for i, want := range []string{
		`"content":"a\\xff","delta":true,"invalid_utf8":true,`,
		`"content":"b","delta":true,"seq"`,
		`"parameters":{"x":"\\xff\u001b["},"invalid_utf8":true,`,
	} {
		if !strings.Contains(b.out[i], want) {
			t.Errorf("%s lacks %s", b.out[i], want)
		}
	}
}

func BenchmarkStream(b *testing.B) {
	r := New("stream-json", Config{Out: discard{}, Err: discard{}, Now: (&bench{}).clock})
	ev := engine.Text{Delta: "Some words of an answer, as they come. "}
	b.ReportAllocs()
	for b.Loop() {
		r.Event(ev)
	}
}

type discard struct{}

func (discard) Write(b []byte) (int, error) { return len(b), nil }
