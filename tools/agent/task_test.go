package agent_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/genai"

	"gemline/engine"
	et "gemline/engine/enginetest"
	"gemline/engine/policy"
	"gemline/tools/agent"
)

// tool returns a tool that takes a second, or as long as its argument says.
func tool(name string, kind engine.Kind) engine.Tool {
	return engine.Tool{Declaration: &genai.FunctionDeclaration{Name: name}, Kind: kind,
		Prepare: func(_ context.Context, args map[string]any) (engine.Call, error) {
			d := time.Second
			if s, ok := args["for"].(string); ok {
				d, _ = time.ParseDuration(s)
			}
			return engine.Call{Intent: engine.Intent{Title: name, Grants: []engine.Grant{{Tool: name}}}, Run: func(ctx context.Context, _ engine.Host) (engine.Result, error) {
				select {
				case <-time.After(d):
					return engine.Result{Text: "ok"}, nil
				case <-ctx.Done():
					return engine.Result{}, ctx.Err()
				}
			}}, nil
		}}
}

// A bench is a conversation that calls agents.
type bench struct {
	engine *engine.Engine
	asked  map[string]*et.Script // the models of agents
	mu     sync.Mutex
	ended  []string // agents whose conversations are over, with their reports
	shared *policy.Policy
}

func newBench(t *testing.T, approver engine.Approver, agents []agent.Definition, calls []*genai.FunctionCall, said map[string][]et.Reply) *bench {
	b := &bench{asked: map[string]*et.Script{}, shared: policy.New(policy.Default)}
	for name, replies := range said {
		b.asked[name] = et.NewScript(replies...)
	}
	ts := engine.Tools{tool("read", engine.Read), tool("write", engine.Edit), tool("ask", engine.AskUser)}
	cfg := agent.Config{Agents: func() []agent.Definition { return agents }, Tools: ts, Model: func() string { return "m" },
		Cut: func(s string) (string, engine.Cut) { return s[:min(len(s), 100)], engine.Cut{} },
		Begin: func(task *agent.Task) (*agent.Session, error) {
			e := engine.New(engine.Config{Model: task.Model, Generator: b.asked[task.Agent.Name], Tools: task.Tools(engine.Join(ts, engine.Tools{tool(agent.ToolName, engine.Think)})),
				Policy: task.Policy(b.shared), Approver: task})
			return &agent.Session{Run: e.Run, End: func(goal string) {
				et.CheckHistory(t, e.History())
				b.mu.Lock()
				defer b.mu.Unlock()
				b.ended = append(b.ended, task.Agent.Name+": "+goal)
			}}, nil
		}}
	b.engine = engine.New(engine.Config{Model: "m", Generator: et.NewScript(et.Says("", calls...), et.Says("bye")),
		Tools: engine.Join(ts, engine.Tools{agent.Tool(cfg)}), Policy: b.shared, Approver: approver})
	return b
}

func invoke(id, name, prompt string) *genai.FunctionCall {
	return et.Call(id, agent.ToolName, "agent_name", name, "prompt", prompt)
}

func done(result string) et.Reply {
	return et.Says("", et.Call("c", "complete_task", "result", result))
}

// answers returns what the model is told of its calls.
func (b *bench) answers() (list []string) {
	for _, c := range b.engine.History() {
		for _, p := range c.Parts {
			if fr := p.FunctionResponse; fr != nil {
				for key, v := range fr.Response {
					list = append(list, fmt.Sprintf("%s: %v", key, v))
				}
			}
		}
	}
	return list
}

// However an agent's work ends, the model that has called it is told how, and how long that
// took is bounded.
func TestOutcomes(t *testing.T) {
	reads := func(d string) et.Reply { return et.Says("", et.Call("r", "read", "for", d)) }
	stalls := et.Reply{Stall: true}
	const finished = "Subagent 'x' finished.\nTermination Reason: "
	for _, test := range []struct {
		name  string
		agent agent.Definition
		said  []et.Reply
		want  string
		takes time.Duration
	}{
		{"a report", agent.Definition{}, []et.Reply{reads("1s"), done("all is well")}, "output: " + finished + "GOAL\nResult:\nall is well", time.Second},
		{"words alone", agent.Definition{}, []et.Reply{et.Says("All is well."), done("well")}, "output: " + finished + "GOAL\nResult:\nwell", 0},
		{"words for ever", agent.Definition{}, []et.Reply{et.Says("All"), et.Says("is"), et.Says("well.")},
			"error: " + finished + "ERROR_NO_COMPLETE_TASK_CALL\nResult:\nAgent stopped calling tools but did not call 'complete_task'.", 0},
		{"too many requests", agent.Definition{Limits: agent.Limits{Requests: 2}}, []et.Reply{reads("1s"), reads("1s"), done("half")}, "output: " + finished + "GOAL\nResult:\nhalf", 2 * time.Second},
		{"far too many", agent.Definition{Limits: agent.Limits{Requests: 2}}, []et.Reply{reads("1s"), reads("1s"), reads("1s"), reads("1s")},
			"error: " + finished + "MAX_TURNS\nResult:\nAgent reached max turns limit (2).", 2 * time.Second},
		{"too long", agent.Definition{Limits: agent.Limits{Time: 2 * time.Minute}}, []et.Reply{reads("1m"), reads("1h"), done("half")}, "output: " + finished + "GOAL\nResult:\nhalf", 2 * time.Minute},
		{"far too long", agent.Definition{Limits: agent.Limits{Time: 2 * time.Minute}}, []et.Reply{reads("1h"), stalls},
			"error: " + finished + "TIMEOUT\nResult:\nAgent timed out after 2 minutes.", 3 * time.Minute},
		{"a model that fails", agent.Definition{}, []et.Reply{et.Fails(errors.New("503"))}, "error: Subagent 'x' failed. Error: 503", 0},
		{"a report that does not fit", agent.Definition{Report: agent.Report{Name: "report", Schema: `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`}},
			[]et.Reply{et.Says("", et.Call("1", "complete_task", "report", map[string]any{"n": "many"})), et.Says("", et.Call("2", "complete_task", "report", map[string]any{"n": 3.0}))},
			"output: " + finished + "GOAL\nResult:\n{\n  \"n\": 3\n}", 0},
		{"an empty report", agent.Definition{}, []et.Reply{done("  "), done("x")}, "output: " + finished + "GOAL\nResult:\nx", 0},
		{"a flood", agent.Definition{}, []et.Reply{et.Says(strings.Repeat("x", 1<<20), et.Call("c", "complete_task", "result", strings.Repeat("y", 1<<20)))},
			"output: " + finished + "GOAL\nResult:\n" + strings.Repeat("y", 100), 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				test.agent.Name = "x"
				b := newBench(t, et.NewApprover(t), []agent.Definition{test.agent}, []*genai.FunctionCall{invoke("1", "x", "go")}, map[string][]et.Reply{"x": test.said})
				start := time.Now()
				r := et.Record(b.engine.Run(t.Context(), genai.NewPartFromText("go")))
				if got := b.answers(); len(got) != 1 || got[0] != test.want {
					t.Errorf("%q, not %q\n%.2000s", got, test.want, r)
				}
				if took := time.Since(start); took != test.takes {
					t.Errorf("it took %v, not %v", took, test.takes)
				}
				if len(b.ended) != 1 || strings.HasPrefix(test.want, "error") != (b.ended[0] == "x: ") {
					t.Errorf("over are %.200q", b.ended)
				}
				et.CheckHistory(t, b.engine.History())
			})
		})
	}
}

// What an agent can't do it is told, and what is wrong with a call of one the model is.
func TestRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		agents := []agent.Definition{{Name: "x", Access: agent.Access{Tools: []string{"read", "mcp_*"}}}, {Name: "gone", DisabledReason: "it is switched off"}}
		b := newBench(t, et.NewApprover(t), agents,
			[]*genai.FunctionCall{invoke("1", "x", "go"), invoke("2", "somebody", "go"), invoke("3", "gone", "go"), et.Call("4", agent.ToolName, "agent_name", "x")},
			map[string][]et.Reply{"x": {et.Says("", invoke("1", "x", "again"), et.Call("2", "write"), et.Call("3", "ask"), et.Call("4", "nothing")), done("ok")}})
		r := et.Record(b.engine.Run(t.Context(), genai.NewPartFromText("go")))
		for _, line := range []string{
			"Unauthorized tool call: 'invoke_agent' is not available to this agent.", "Unauthorized tool call: 'write' is not available to this agent.",
			"Unauthorized tool call: 'ask' is not available to this agent.", `Tool "nothing" not found.`,
			"Subagent 'somebody' not found. There are: x.", "denied: it is switched off", `params lacks "prompt"`} {
			if !strings.Contains(r.String(), line) {
				t.Errorf("nothing says %q in\n%s", line, r)
			}
		}
	})
}

// Agents that only look work side by side; others wait for each other. Questions come one
// after the other and say who asks, and nobody's time runs meanwhile. A refusal goes on.
func TestSideBySide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		look := []string{"read"}
		agents := []agent.Definition{{Name: "a", Access: agent.Access{Tools: look}}, {Name: "b", Access: agent.Access{Tools: look}}, {Name: "w", Limits: agent.Limits{Time: time.Minute}}, {Name: "v", Limits: agent.Limits{Time: time.Minute}}}
		reads, writes := et.Says("", et.Call("1", "read")), et.Says("", et.Call("1", "write"))
		user := &slowApprover{answers: []engine.Answer{engine.Allowed{}, engine.Refused{Note: "not that"}}}
		b := newBench(t, user, agents, []*genai.FunctionCall{invoke("1", "a", "x"), invoke("2", "b", "x"), invoke("3", "w", "x"), invoke("4", "v", "x")},
			map[string][]et.Reply{"a": {reads, done("A")}, "b": {reads, done("B")}, "w": {writes, done("W")}, "v": {writes, done("V")}})
		allow := policy.Rule{Tools: []string{agent.ToolName}, Verdict: engine.Allow, Priority: 100, Tier: policy.User}
		*b.shared = *policy.New(policy.Default, allow)
		start := time.Now()
		r := et.Record(b.engine.Run(t.Context(), genai.NewPartFromText("go")))
		if took := time.Since(start); took != time.Second+2*time.Hour+time.Second { // of a and b, of the answers, of what w writes
			t.Errorf("it took %v\n%s", took, r)
		}
		if want := "w write, v write"; strings.Join(user.asked, ", ") != want {
			t.Errorf("asked: %q", user.asked)
		}
		for _, line := range []string{"\na: called read#", "finished invoke_agent#1 success: A", "finished invoke_agent#4 success: V", " cancelled: refused (asked)\n"} {
			if !strings.Contains(r.String(), line) {
				t.Errorf("no line %q in\n%s", line, r)
			}
		}
	})
}

// A slowApprover thinks for an hour.
type slowApprover struct {
	answers []engine.Answer
	asked   []string
}

func (a *slowApprover) Approve(_ context.Context, p engine.Proposal) (engine.Answer, error) {
	time.Sleep(time.Hour)
	a.asked = append(a.asked, p.Agent+" "+p.Tool.Name())
	answer := a.answers[0]
	a.answers = a.answers[1:]
	return answer, nil
}

// Wherever the conversation is left or cancelled, the agents' are over with it, no goroutine
// survives (the bubble would not end), and each call has its answer.
func TestCancelled(t *testing.T) {
	for after := 1; after <= 40; after++ {
		for _, leave := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				reads := et.Says("looking", et.Call("1", "read"), et.Call("2", "read"))
				said := []et.Reply{reads, reads, done("ok")}
				b := newBench(t, et.NewApprover(t), []agent.Definition{{Name: "a", Access: agent.Access{Tools: []string{"read"}}}, {Name: "b", Access: agent.Access{Tools: []string{"read"}}}},
					[]*genai.FunctionCall{invoke("1", "a", "x"), invoke("2", "b", "x")}, map[string][]et.Reply{"a": said, "b": said})
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				seen := 0
				for _, err := range b.engine.Run(ctx, genai.NewPartFromText("go")) {
					if seen++; seen == after && leave {
						break
					} else if seen == after {
						cancel()
					}
					if err != nil && !errors.Is(err, context.Canceled) {
						t.Errorf("after %d events: %v", after, err)
					}
				}
				et.CheckHistory(t, b.engine.History())
				for _, over := range b.ended {
					if strings.HasSuffix(over, ": ok") && after < 10 {
						t.Errorf("after %d events: %s", after, over)
					}
				}
			})
		}
	}
}

// What changes nothing runs in plan mode, and nothing else does.
func TestPlanMode(t *testing.T) {
	for _, test := range []struct {
		tools []string
		want  string
	}{{[]string{"read"}, "output: Subagent 'x' finished."}, {nil, "error: Tool execution denied by policy. Plan mode is read-only, and this agent"},
		{[]string{}, "output: Subagent 'x' finished."}} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, et.NewApprover(t), []agent.Definition{{Name: "x", Access: agent.Access{Tools: test.tools}}}, []*genai.FunctionCall{invoke("1", "x", "go")}, map[string][]et.Reply{"x": {done("ok")}})
			b.shared.SetMode(policy.Plan)
			et.Record(b.engine.Run(t.Context(), genai.NewPartFromText("go")))
			if got := b.answers(); len(got) != 1 || !strings.HasPrefix(got[0], test.want) {
				t.Errorf("%q: %q", test.tools, got)
			}
		})
	}
}
