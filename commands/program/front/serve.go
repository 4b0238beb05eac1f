package front

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"google.golang.org/genai"

	"gemline/commands/program/ending"
	"gemline/commands/program/project"
	"gemline/commands/program/session"
	"gemline/engine"
	"gemline/engine/journal"
	"gemline/engine/policy"
	"gemline/engine/steer"
	"gemline/engine/tally"
	"gemline/repl/input"
	"gemline/repl/mcp"
	"gemline/repl/report"
	"gemline/repl/serve"
	"gemline/settings/flags"
	"gemline/tools/mcp/rpc"
)

// checkServing returns the error of flags that can't be combined with a server, nil if they can.
func checkServing(f *flags.Set, server string) error {
	others := []string{"a prompt", "--batch", "--input-format stream-json", "--output", "--json-schema", "--extract", "--patch", "--dry-run",
		"--json-fd", "--resume", "--session", "--session-id", "--session-file", "--ask-tty", "--ask-trust"}
	if server == acpFlag {
		others = append(others, "--worktree")
	} else {
		others = append(others, acpFlag)
	}
	if other := f.First(others...); other != "" {
		return &flags.UsageError{Message: other + " does not go with " + server +
			": its clients say what is to be done"}
	}
	return nil
}

// acpFlag starts the server for editors.
const acpFlag = "--acp"

// serveMCP serves clients of the Model Context Protocol, which work in p.
func (r *Run) serveMCP(ctx context.Context, p *project.Project) error {
	cfg := mcp.Config{Version: r.Options.Env.Process.Version, Dir: p.Options.Paths.Cwd, Outcome: r.outcome, Redact: r.Options.Secrets.Text,
		Begin: func(ctx context.Context, w serve.SessionRequest) (*serve.Session, error) {
			return r.beginServed(ctx, p, w)
		},
		Reporter: func(out io.Writer, count *tally.Tally) report.Reporter {
			return report.New("json", report.Config{Out: out, Err: io.Discard, Tally: count, Now: time.Now,
				RunInfo: report.RunInfo{Version: r.Options.Env.Process.Version,
					Dir: func() string { return p.Options.Paths.Cwd }, Sandbox: r.Status.Sandbox, Unused: r.Status.Unused}})
		}}
	if r.Options.User.Serving.HTTP {
		return serve.HTTP(ctx, r.Options.Env.Process.Stdout, r.Options.User.Serving.Port, "/mcp",
			func(ctx context.Context, g *serve.Group, at serve.Address) (http.Handler, error) {
				mux := http.NewServeMux()
				mux.Handle("/mcp", serve.RequireToken(at.Token,
					&rpc.Host{Begin: func(s rpc.Stream) { g.Go(func() { mcp.Serve(ctx, cfg, s) }) }}))
				return mux, nil
			})
	}
	if isTerminal(r.Options.Env.Process.Stdin) {
		r.Status.PrintInfo("a client of the Model Context Protocol is waited for at standard input; gemline help mcp says how clients are set up, and Ctrl-D ends this")
	}
	mcp.Serve(ctx, cfg, stdioStream(r.Options.Env.Process))
	return context.Cause(ctx)
}

// beginServed begins a conversation for a client.
func (r *Run) beginServed(ctx context.Context, p *project.Project, w serve.SessionRequest) (*serve.Session, error) {
	count := ending.NewTally()
	if r.Options.Flags.NoInput {
		w.Approver = nil
	}
	s, err := session.Begin(ctx, p, session.Config{Open: journal.OpenOptions{Session: w.Name}, Tally: count,
		Approver: count.Asking(w.Approver),
		Notify:   r.Options.Redacting(w.Notify)})
	if err != nil {
		return nil, err
	}
	if w.Unasked && w.Approver != nil {
		if err := s.Rules.SetMode(policy.Yolo); err != nil {
			s.Notices.Notify(err.Error())
		}
	}
	begun := false
	c := &serve.Session{ID: s.Journal.File.ID(), Tally: count, Model: s.ModelName, Tools: s.Tools.OfferedToClients, Offered: s.Tools.OfferedToModel}
	c.Ask = func(ctx context.Context, to report.Reporter, prompt string) error {
		p := report.Prompt{Text: prompt}
		if !begun {
			begun, p.Context = true, s.RunStartHooks(ctx, s.Journal.Source())
		}
		plain := func(_ context.Context, parts []*genai.Part) ([]*genai.Part, error) { return parts, nil }
		once := &report.OneShot{Model: s.Models.Router.Shown(), Reporter: to, Tally: count,
			Session: s.Journal.File.ID(), Now: time.Now, FailOnDeny: r.Options.Flags.FailOnDeny,
			Ask: report.FailTruncated(s.PromptRun()), Expand: input.Processor(plain)}
		return once.Run(ctx, p)
	}
	c.Call = func(ctx context.Context, t engine.Tool, args map[string]any, show func(engine.Event)) error {
		return s.CallTool(ctx, "call of "+t.Name()+" by another program", t, args, w.Name != "", show)
	}
	c.Again = func(ctx context.Context, name string, args map[string]any, show func(engine.Event)) (bool, error) {
		tools := s.Tools.Toolset.Tools()
		i := slices.IndexFunc(tools, func(t engine.Tool) bool { return t.Name() == name })
		if i < 0 {
			return false, nil
		}
		return true, s.CallTool(ctx, "the call of "+name+" that was interrupted while the user was asked about it", tools[i], args, true, show)
	}
	if r.Options.Settings.Steering {
		c.Hint = func(text string) { s.Hints.Add(steer.Hint{Text: text}) }
		c.Late = func() string { return strings.Join(lateHints(&s.Hints), "\n") }
	}
	c.Close = func() {
		if begun {
			s.RunEndHooks(ctx, "exit")
		}
		s.Close()
	}
	return c, nil
}
