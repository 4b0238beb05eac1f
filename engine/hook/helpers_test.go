package hook_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"google.golang.org/genai"

	"gemline/engine"
	et "gemline/engine/enginetest"
	"gemline/engine/hook"
	"gemline/engine/policy"
)

// most is how many bytes of an output a test keeps.
const most = 1 << 20

// A limited keeps the first bytes that are written to it.
type limited struct {
	kept bytes.Buffer
	cut  bool
}

func (l *limited) Write(b []byte) (int, error) {
	room := most - l.kept.Len()
	l.cut = l.cut || len(b) > room
	l.kept.Write(b[:min(len(b), max(0, room))])
	return len(b), nil
}

// bash is a Runner of real processes. It ends them as a group.
func bash(ctx context.Context, p hook.Process) (o hook.Outcome) {
	ctx, cancel := context.WithTimeoutCause(ctx, p.Hook.Timeout, context.DeadlineExceeded)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", p.Command)
	cmd.Env = append(slices.Clip(os.Environ()), p.Env...)
	cmd.Stdin = bytes.NewReader(p.Input)
	var out, errs limited
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	if o.Stdout, o.Stderr = out.kept.String(), errs.kept.String(); out.cut || errs.cut {
		o.IgnoredOutput = "it printed too much"
	}
	if o.TimedOut = errors.Is(ctx.Err(), context.DeadlineExceeded); cmd.ProcessState == nil {
		o.Err = err
		return o
	}
	o.Code = cmd.ProcessState.ExitCode()
	if status := cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signaled() {
		o.Code, o.Signal = 0, unix.SignalName(status.Signal())
	}
	syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	return o
}

// on returns the hook that runs a command at an event.
func on(e hook.Event, command string) hook.Hook {
	return hook.Hook{Event: e, Name: "it", Command: command, Timeout: 20 * time.Second}
}

// A talk is a conversation with hooks.
type talk struct {
	*hook.Hooks
	t       *testing.T
	engine  *engine.Engine
	script  *et.Script
	journal et.Journal
	asked   *et.Approver
	dir     string
	ran     []map[string]any // arguments of the calls of the tool note
	calls   chan hook.Call   // that hooks have had
	run     engine.Run
}

// begin returns a conversation whose model answers with replies, and whose user allows
// everything.
func begin(t *testing.T, hooks []hook.Hook, replies ...et.Reply) *talk {
	return beginAsked(t, et.NewApprover(t, slices.Repeat([]engine.Answer{engine.Allowed{}}, 20)...), hooks, replies...)
}

// beginAsked is begin with a user who answers otherwise.
func beginAsked(t *testing.T, asked *et.Approver, hooks []hook.Hook, replies ...et.Reply) *talk {
	return beginRun(t, asked, bash, hooks, replies...)
}

// beginRun is beginAsked with another Runner.
func beginRun(t *testing.T, asked *et.Approver, run hook.Runner, hooks []hook.Hook, replies ...et.Reply) *talk {
	k := &talk{t: t, script: et.NewScript(replies...), dir: t.TempDir(), calls: make(chan hook.Call, 1000),
		asked: asked}
	k.Hooks = hook.New(hook.Config{Hooks: hooks, Run: run,
		Record: func(c hook.Call) { k.calls <- c },
		Session: func() hook.Session {
			return hook.Session{ID: "s", Transcript: k.dir + "/s.jsonl", Cwd: k.dir, Plans: k.dir}
		},
		Add:   func(ctx context.Context, parts ...*genai.Part) error { return k.engine.Add(ctx, parts...) },
		Clear: func() error { return k.engine.Rewrite(nil) }})
	tool := func(name string, kind engine.Kind) engine.Tool {
		return engine.Tool{Declaration: &genai.FunctionDeclaration{Name: name}, Kind: kind,
			Prepare: func(_ context.Context, args map[string]any) (engine.Call, error) {
				if args["bad"] != nil {
					return engine.Call{}, &engine.CallError{Type: engine.InvalidToolParams, Message: "bad is bad"}
				}
				in := engine.Intent{Title: name, Detail: fmt.Sprint(args["x"]),
					Grants: []engine.Grant{{Label: "always", Tool: name}}}
				return engine.Call{Intent: in, Run: func(context.Context, engine.Host) (engine.Result, error) {
					k.ran = append(k.ran, args)
					if args["x"] == "fail" {
						return engine.Result{}, &engine.CallError{Type: engine.ExecutionFailed, Message: "it failed", Display: "broken"}
					}
					return engine.Result{Text: name + " did " + fmt.Sprint(args["x"]), Display: "shown"}, nil
				}}, nil
			}}
	}
	tools := engine.Tools{tool("note", engine.Other), tool("list", engine.Read)}
	judge := k.Policy(policy.New(policy.Default))
	k.engine = engine.New(engine.Config{Model: "m", Generator: k.Generator(k.script), Tools: k.Tools(tools, judge),
		Policy: judge, Approver: k.Approver(k.asked), Journal: &k.journal})
	k.run = k.Run(k.engine.Run)
	return k
}

// say says a prompt, and returns what the user sees of the answer.
func (k *talk) say(prompt string) (user []string, err error) {
	k.t.Helper()
	for ev, err := range k.run(k.t.Context(), genai.NewPartFromText(prompt)) {
		if err != nil {
			return user, err
		}
		user = append(user, seen(ev)...)
	}
	et.CheckHistory(k.t, k.engine.History())
	return user, nil
}

// seen returns what the user sees of an event, in a line if in any.
func seen(ev engine.Event) []string {
	switch ev := ev.(type) {
	case engine.Notice:
		return []string{map[bool]string{true: "info: ", false: "warning: "}[ev.Info] + ev.Text}
	case engine.Text:
		return []string{"text: " + ev.Delta}
	case engine.CallFinished:
		if ev.Err != nil {
			return []string{strings.TrimSpace("failed: " + ev.Intent.Title + " " + engine.DisplayError(ev.Err))}
		}
		return []string{"did: " + ev.Result.Text}
	}
	return nil
}

// told returns what the model was told at the end of each request.
func (k *talk) told() (all []string) {
	for _, req := range k.script.Requests() {
		all = append(all, told(req.Contents[len(req.Contents)-1]))
	}
	return all
}

// told returns the words of a message.
func told(c *genai.Content) string {
	var words []string
	for _, p := range c.Parts {
		switch {
		case p.FunctionResponse != nil:
			for _, name := range []string{"output", "error"} {
				if text, ok := p.FunctionResponse.Response[name].(string); ok {
					words = append(words, name+": "+text)
				}
			}
		case p.FunctionCall != nil:
			words = append(words, "call "+p.FunctionCall.Name)
		default:
			words = append(words, p.Text)
		}
	}
	return strings.Join(words, " + ")
}

// history returns what was said, a line for each message.
func (k *talk) history() (lines []string) {
	for _, c := range k.engine.History() {
		lines = append(lines, string(c.Role)+": "+told(c))
	}
	return lines
}
