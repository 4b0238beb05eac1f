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
	Sessions  = &Instrument{Name: "gemini_cli.session.count", About: "Count of CLI sessions started."}
	ToolCalls = &Instrument{Name: "gemini_cli.tool.call.count",
		About: "Counts tool calls, tagged by function name and success."}
	ToolLatency = &Instrument{Name: "gemini_cli.tool.call.latency", Unit: "ms",
		About: "Latency of tool calls in milliseconds.", Bounds: bounds}
	Requests = &Instrument{Name: "gemini_cli.api.request.count",
		About: "Counts API requests, tagged by model and status."}
	RequestLatency = &Instrument{Name: "gemini_cli.api.request.latency", Unit: "ms",
		About: "Latency of API requests in milliseconds.", Bounds: bounds}
	Tokens         = &Instrument{Name: "gemini_cli.token.usage", About: "Counts the total number of tokens used."}
	FileOperations = &Instrument{Name: "gemini_cli.file.operation.count",
		About: "Counts file operations (create, read, update)."}
	LinesChanged   = &Instrument{Name: "gemini_cli.lines.changed", About: "Number of lines changed (from file diffs)."}
	ContentRetries = &Instrument{Name: "gemini_cli.chat.content_retry.count",
		About: "Counts retries due to content errors."}
	ContentFailures = &Instrument{Name: "gemini_cli.chat.content_retry_failure.count",
		About: "Counts occurrences of all content retries failing."}
	NetworkRetries = &Instrument{Name: "gemini_cli.network_retry.count",
		About: "Counts retries due to network errors."}
	Compressions = &Instrument{Name: "gemini_cli.chat_compression", About: "Counts chat compression events."}
	HookCalls    = &Instrument{Name: "gemini_cli.hook_call.count",
		About: "Counts hook calls, tagged by hook event name and success."}
	AgentRuns = &Instrument{Name: "gemini_cli.agent.run.count",
		About: "Counts agent runs, tagged by name and reason."}
	AgentDuration = &Instrument{Name: "gemini_cli.agent.duration", Unit: "ms",
		About: "Duration of agent runs in milliseconds.", Bounds: bounds}
	AgentTurns = &Instrument{Name: "gemini_cli.agent.turns", Unit: "turns",
		About: "Number of turns taken by agents.", Bounds: bounds}
	AgentRecoveries = &Instrument{Name: "gemini_cli.agent.recovery_attempt.count",
		About: "Counts attempts of agents to report after all."}
	AgentRecoveryDuration = &Instrument{Name: "gemini_cli.agent.recovery_attempt.duration", Unit: "ms",
		About: "Duration of such attempts in milliseconds.", Bounds: bounds}
	RoutingLatency = &Instrument{Name: "gemini_cli.model_routing.latency", Unit: "ms",
		About: "Latency of model routing decisions in milliseconds.", Bounds: bounds}
	RoutingFailures = &Instrument{Name: "gemini_cli.model_routing.failure.count",
		About: "Counts model routing failures."}
	HookLatency = &Instrument{Name: "gemini_cli.hook_call.latency", Unit: "ms",
		About: "Latency of hook calls in milliseconds.", Bounds: bounds}

	ClientTokens = &Instrument{Name: "gen_ai.client.token.usage", Unit: "token",
		About:  "Number of input and output tokens used.",
		Bounds: []float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864}}
	ClientDuration = &Instrument{Name: "gen_ai.client.operation.duration", Unit: "s",
		About: "GenAI operation duration.", Fraction: true,
		Bounds: []float64{0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}}
)

var bounds = []float64{0, 5, 10, 25, 50, 75, 100, 250, 500, 750, 1000, 2500, 5000, 7500, 10000}

// maxPoints is how many points an instrument has in a session, at most: the names in
// their attributes may be the model's.
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

// metrics returns what was measured until now.
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
