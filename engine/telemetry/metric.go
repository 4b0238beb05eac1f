package telemetry

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"
)

// The instruments. Instruments of the semantic conventions have the conventions' bounds, all
// others OpenTelemetry's default bounds.
var (
	Sessions        = counter("gemini_cli.session.count", "Count of CLI sessions started.")
	ToolCalls       = counter("gemini_cli.tool.call.count", "Counts tool calls, tagged by function name and success.")
	ToolLatency     = latency("gemini_cli.tool.call.latency", "Latency of tool calls in milliseconds.")
	Requests        = counter("gemini_cli.api.request.count", "Counts API requests, tagged by model and status.")
	RequestLatency  = latency("gemini_cli.api.request.latency", "Latency of API requests in milliseconds.")
	Tokens          = counter("gemini_cli.token.usage", "Counts the total number of tokens used.")
	FileOperations  = counter("gemini_cli.file.operation.count", "Counts file operations (create, read, update).")
	LinesChanged    = counter("gemini_cli.lines.changed", "Number of lines changed (from file diffs).")
	ContentRetries  = counter("gemini_cli.chat.content_retry.count", "Counts retries due to content errors.")
	ContentFailures = counter("gemini_cli.chat.content_retry_failure.count", "Counts occurrences of all content retries failing.")
	NetworkRetries  = counter("gemini_cli.network_retry.count", "Counts retries due to network errors.")
	Compressions    = counter("gemini_cli.chat_compression", "Counts chat compression events.")
	HookCalls       = counter("gemini_cli.hook_call.count", "Counts hook calls, tagged by hook event name and success.")
	AgentRuns       = counter("gemini_cli.agent.run.count", "Counts agent runs, tagged by name and reason.")
	AgentDuration   = latency("gemini_cli.agent.duration", "Duration of agent runs in milliseconds.")
	AgentTurns      = &Instrument{Name: "gemini_cli.agent.turns", Unit: "turns",
		About: "Number of turns taken by agents.", Bounds: bounds}
	AgentRecoveries       = counter("gemini_cli.agent.recovery_attempt.count", "Counts attempts of agents to report after all.")
	AgentRecoveryDuration = latency("gemini_cli.agent.recovery_attempt.duration", "Duration of such attempts in milliseconds.")
	RoutingLatency        = latency("gemini_cli.model_routing.latency", "Latency of model routing decisions in milliseconds.")
	RoutingFailures       = counter("gemini_cli.model_routing.failure.count", "Counts model routing failures.")
	HookLatency           = latency("gemini_cli.hook_call.latency", "Latency of hook calls in milliseconds.")

	ClientTokens = &Instrument{Name: "gen_ai.client.token.usage", Unit: "token",
		About:  "Number of input and output tokens used.",
		Bounds: []float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864}}
	ClientDuration = &Instrument{Name: "gen_ai.client.operation.duration", Unit: "s",
		About: "GenAI operation duration.", Fraction: true,
		Bounds: []float64{0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}}
)

var bounds = []float64{0, 5, 10, 25, 50, 75, 100, 250, 500, 750, 1000, 2500, 5000, 7500, 10000}

func counter(name, about string) *Instrument { return &Instrument{Name: name, About: about} }

func latency(name, about string) *Instrument {
	return &Instrument{Name: name, Unit: "ms", About: about, Bounds: bounds}
}

// maxPoints is the maximum number of points of an instrument in a session: the model may choose
// the names in their attributes.
const maxPoints = 1000

// A series holds the measurements of an instrument.
type series struct {
	Metric
	index map[string]int
}

// Measure adds n to the measurements of an instrument with the attributes.
func (r *Recorder) Measure(in *Instrument, n float64, attrs ...slog.Attr) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.series, func(s *series) bool { return s.Instrument == in })
	if i < 0 {
		i = len(r.series)
		r.series = append(r.series, &series{Metric{Instrument: in}, map[string]int{}})
	}
	r.series[i].add(n, attrs)
}

func (s *series) add(n float64, attrs []slog.Attr) {
	now := time.Now()
	var b strings.Builder
	for _, a := range attrs {
		fmt.Fprintf(&b, "%s=%q,", a.Key, a.Value.String())
	}
	key := b.String()
	i, ok := s.index[key]
	if !ok {
		if len(s.Points) >= maxPoints {
			return
		}
		i = len(s.Points)
		s.index[key] = i
		s.Points = append(s.Points, Point{Attrs: attrs, Start: now, Min: n, Max: n})
		if s.Bounds != nil {
			s.Points[i].Buckets = make([]uint64, len(s.Bounds)+1)
		}
	}
	p := &s.Points[i]
	p.End = now
	p.Sum += n
	p.Count++
	p.Min, p.Max = min(p.Min, n), max(p.Max, n)
	if p.Buckets != nil {
		at, _ := slices.BinarySearch(s.Bounds, n) // a bound belongs to the bucket below
		p.Buckets[at]++
	}
}

// metrics returns the measurements until now.
func (r *Recorder) metrics() []Metric {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	var all []Metric
	for _, s := range r.series {
		m := Metric{s.Instrument, slices.Clone(s.Points)}
		for i := range m.Points {
			m.Points[i].End = now
			m.Points[i].Buckets = slices.Clone(m.Points[i].Buckets)
		}
		all = append(all, m)
	}
	return all
}
