package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"slices"
	"strings"
	"time"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/journal"
	"gemline/engine/policy"
	"gemline/engine/steer"
	"gemline/engine/tally"
	"gemline/engine/text"
	"gemline/repl/input"
	"gemline/repl/mcp"
	"gemline/repl/report"
	"gemline/repl/serve"
	"gemline/settings/flags"
	"gemline/tools/mcp/rpc"
)

// unserved returns why flags can't go with what serves clients, nil if they can.
func unserved(f *flags.Set, server string) error {
	for _, one := range []struct {
		set  bool
		name string
	}{
		{f.Text() != "" || f.Dash(), "a prompt"}, {f.Batch != "", "--batch"}, {f.Talks(), "--input-format stream-json"}, {f.Output != "", "--output"},
		{f.JSONSchema != "", "--json-schema"}, {f.Extract.Set, "--extract"}, {f.Patch, "--patch"}, {f.DryRun, "--dry-run"}, {f.JSONFd != nil, "--json-fd"},
		{f.Resume.Set, "--resume"}, {f.Session != "", "--session"}, {f.SessionID != "", "--session-id"}, {f.SessionFile != "", "--session-file"},
		{f.AskTTY, "--ask-tty"}, {f.AskTrust, "--ask-trust"}, {f.ACP && server != acpFlag, acpFlag},
		{f.PromptInteractive != "" && server == acpFlag, "--prompt-interactive"}, {f.Worktree.Set && server == acpFlag, "--worktree"},
	} {
		if one.set {
			return &flags.UsageError{Message: one.name + " does not go with " + server +
				": its clients say what is to be done"}
		}
	}
	return nil
}

// acpFlag has an editor be served.
const acpFlag = "--acp"

// served serves other programs: the one at the standard streams, or all that come by HTTP.
func (r *run) served(ctx context.Context) error {
	p, err := r.openProject()
	if err != nil {
		return err
	}
	defer p.Close()
	if r.opts.User.Serving.A2A {
		return r.serveA2A(ctx, p)
	}
	return r.serveIn(ctx, p)
}

// serveIn serves other programs that work in p.
func (r *run) serveIn(ctx context.Context, p *Project) error {
	cfg := mcp.Config{Version: r.opts.Env.Process.Version, Dir: p.opts.Paths.Cwd, Outcome: r.outcome, Clean: r.opts.Secrets.Text,
		Begin: func(ctx context.Context, w serve.SessionRequest) (*serve.Conversation, error) {
			return r.converse(ctx, p, w)
		},
		Reporter: func(out io.Writer, count *tally.Tally) report.Reporter {
			return report.New("json", report.Config{Out: out, Err: io.Discard, Tally: count, Now: time.Now,
				RunInfo: report.RunInfo{Version: r.opts.Env.Process.Version,
					Dir: func() string { return p.opts.Paths.Cwd }, Sandbox: r.status.sandbox, Unused: r.status.notInUse}})
		}}
	if r.opts.User.Serving.HTTP {
		return serve.HTTP(ctx, r.opts.Env.Process.Stdout, r.opts.User.Serving.Port, "/mcp",
			func(ctx context.Context, g *serve.Group, at serve.Address) (http.Handler, error) {
				mux := http.NewServeMux()
				mux.Handle("/mcp", serve.Keyed(at.Token,
					&rpc.Host{Begin: func(s rpc.Stream) { g.Go(func() { mcp.Serve(ctx, cfg, s) }) }}))
				return mux, nil
			})
	}
	if isTerminal(r.opts.Env.Process.Stdin) {
		r.status.tell("a client of the Model Context Protocol is waited for at standard input; gemline help mcp says how clients are set up, and Ctrl-D ends this")
	}
	mcp.Serve(ctx, cfg, lines(r.opts.Env.Process))
	return context.Cause(ctx)
}

// converse begins a conversation for a client.
func (r *run) converse(ctx context.Context, p *Project, w serve.SessionRequest) (*serve.Conversation, error) {
	count := newTally()
	if r.opts.Flags.NoInput {
		w.Approver = nil
	}
	s, err := p.Begin(ctx, Choice{OpenOptions: journal.OpenOptions{Session: w.Name}, Tally: count,
		Approver: count.Asking(w.Approver),
		Notify:   r.opts.Redacting(w.Notify)})
	if err != nil {
		return nil, err
	}
	if w.Unasked && w.Approver != nil {
		if err := s.rules.setMode(policy.Yolo); err != nil {
			s.notices.notify(err.Error())
		}
	}
	begun := false
	c := &serve.Conversation{ID: s.chat.file.ID(), Tally: count, Model: s.modelName, Tools: s.tools.forClients, Offered: s.tools.forModel}
	c.Ask = func(ctx context.Context, to report.Reporter, prompt string) error {
		p := report.Prompt{Text: prompt}
		if !begun {
			begun, p.Context = true, s.start(ctx, s.chat.source())
		}
		plain := func(_ context.Context, parts []*genai.Part) ([]*genai.Part, error) { return parts, nil }
		once := &report.Once{Model: s.models.router.Shown(), Reporter: to, Tally: count,
			Session: s.chat.file.ID(), Now: time.Now, FailOnDeny: r.opts.Flags.FailOnDeny,
			Ask: report.FailTruncated(s.promptRun()), Expand: input.Processor(plain)}
		return once.Run(ctx, p)
	}
	c.Call = func(ctx context.Context, t engine.Tool, args map[string]any, show func(engine.Event)) error {
		return s.callAside(ctx, "call of "+t.Name()+" by another program", t, args, w.Name != "", show)
	}
	c.Again = func(ctx context.Context, name string, args map[string]any, show func(engine.Event)) (bool, error) {
		tools := s.tools.all.Tools()
		i := slices.IndexFunc(tools, func(t engine.Tool) bool { return t.Name() == name })
		if i < 0 {
			return false, nil
		}
		return true, s.callAside(ctx, "the call of "+name+" that was interrupted while the user was asked about it", tools[i], args, true, show)
	}
	if r.opts.Settings.Steering {
		c.Hint = func(text string) { s.hints.Add(steer.Hint{Text: text}) }
		c.Late = func() string { return strings.Join(late(&s.hints), "\n") }
	}
	c.Close = func() {
		if begun {
			s.end(ctx, "exit")
		}
		s.Close()
	}
	return c, nil
}

// callAside makes a call of another program's, as one prompt would be carried out. What it
// did is in the session if something may have changed, and for a model that goes on with it.
func (s *Session) callAside(ctx context.Context, title string, t engine.Tool, args map[string]any,
	known bool, show func(engine.Event)) (failed error) {
	run := engine.Run(func(ctx context.Context, _ ...*genai.Part) iter.Seq2[engine.Event, error] {
		return func(yield func(engine.Event, error) bool) {
			over, left := false, errors.New("nobody listens")
			_, err := s.engine.Do(ctx, t.Name(), args, func(ev engine.Event) error {
				f, ok := ev.(engine.Finished)
				if ok && (known || !t.Kind.ReadOnly()) {
					if err := s.engine.Add(ctx, genai.NewPartFromText(aside(title, f))); err != nil {
						s.notices.notify(err.Error())
					}
				}
				if over = over || ok; !yield(ev, nil) {
					return left
				}
				return nil
			})
			if err != nil && !over && err != left {
				yield(nil, err)
			}
		}
	})
	run = s.keeper.Run(s.models.watch(s.models.recorder.Run(journal.Synced(run, s.chat.sync))))
	for ev, err := range run(ctx, genai.NewPartFromText(title)) {
		if err != nil {
			return err
		}
		s.Tally.Observe(ev, time.Now())
		show(ev)
	}
	return nil
}

// aside tells the model of a call that another program has made.
func aside(title string, f engine.Finished) string {
	const most = 10_000 // characters
	args, _ := text.JSON(f.Args, "")
	said := f.Result.Text
	if f.Err != nil {
		said += "\n" + f.Err.Error()
	}
	return fmt.Sprintf("(%s) %s %s\n\nIt gave:\n%s", title, f.Name, args, text.Shorten(said, most))
}
