package front

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	protocol "github.com/coder/acp-go-sdk"
	"google.golang.org/genai"

	"gemline/commands"
	"gemline/commands/cli"
	"gemline/commands/program/ending"
	"gemline/commands/program/project"
	"gemline/commands/program/session"
	"gemline/engine"
	"gemline/engine/auth"
	"gemline/engine/journal"
	"gemline/engine/lists"
	"gemline/engine/model/preset"
	"gemline/engine/policy"
	"gemline/engine/steer"
	"gemline/repl/acp"
	"gemline/repl/input"
	"gemline/repl/report"
	"gemline/settings"
	dirs "gemline/settings/project"
)

// An acpServer serves an editor.
type acpServer struct {
	opts    *project.Options
	run     *Run
	mu      sync.Mutex
	gateway map[string]string // variables from the editor, which override the environment
	listing sync.Mutex        // one list at a time, so that waiting lists can end with the editor
}

// serveACP is the agent of the editor at the standard streams.
func (r *Run) serveACP(ctx context.Context) error {
	e := &acpServer{opts: r.Options, run: r, gateway: map[string]string{}}
	lookup := r.Options.Env.Process.Lookup
	r.Options.Env.Process.Lookup = func(name string) (string, bool) {
		e.mu.Lock()
		v, ok := e.gateway[name]
		e.mu.Unlock()
		if ok {
			return v, true
		}
		return lookup(name)
	}
	if isTerminal(r.Options.Env.Process.Stdin) {
		r.Status.PrintInfo("an editor that speaks the Agent Client Protocol is waited for at standard input; gemline help acp says how editors are set up, and Ctrl-D ends this")
	}
	acp.Serve(ctx, acp.Config{Version: r.Options.Env.Process.Version, Methods: signInMethods, Outcome: r.outcome, Redact: r.Options.Secrets.Text,
		Authenticate: e.authenticate, Begin: e.begin, List: e.list}, stdioStream(r.Options.Env.Process))
	return context.Cause(ctx)
}

// signInMethods are the sign-in methods that an editor offers its user.
var signInMethods = []acp.Method{
	{ID: string(auth.APIKey), Name: "Gemini API key", About: "Use a key of the Gemini API",
		Meta: map[string]any{"api-key": map[string]any{"provider": "google"}}},
	{ID: string(auth.Vertex), Name: "Vertex AI", About: "Use Vertex AI of a Google Cloud project"},
	{ID: string(auth.Gateway), Name: "AI API gateway", About: "Use a server in the place of the Gemini API",
		Meta: map[string]any{"gateway": map[string]any{"protocol": "google", "restartRequired": "false"}}},
	{ID: "terminal", Name: "At a terminal", About: "Type a key of the Gemini API at a terminal", Words: []string{"auth", "signin"}},
}

// authenticate stores the user's sign-in method and a key. It does not store a gateway, which
// belongs to the editor.
func (e *acpServer) authenticate(ctx context.Context, l acp.Login) error {
	m, known := auth.ParseMethod(l.Method)
	if !known || !slices.Contains(auth.Methods(), m) {
		return &input.Error{Message: fmt.Sprintf("there is no method %.100q here", l.Method),
			Advice: "gemline help credentials says which there are"}
	}
	out, ask := &cli.Output{Out: io.Discard, Notify: func(string) {}}, &cli.Asker{}
	if l.Gateway != nil {
		given := map[string]string{"GOOGLE_GEMINI_BASE_URL": l.Gateway.BaseURL}
		headers := lists.Map(slices.Sorted(maps.Keys(l.Gateway.Headers)),
			func(name string) string { return name + ":" + l.Gateway.Headers[name] })
		if len(headers) > 0 {
			given["GEMINI_CLI_CUSTOM_HEADERS"] = strings.Join(headers, ",")
		}
		e.mu.Lock()
		e.gateway = given
		e.mu.Unlock()
	}
	if err := cli.Run(ctx, out, ask, []string{"auth", "use", string(m)}, e.opts.Folder()); err != nil || l.Key == "" || m != auth.APIKey {
		return err
	}
	ask.Secret = func(context.Context, string) (string, error) { return l.Key, nil }
	return cli.Run(ctx, out, ask, []string{"auth", "set-key"}, e.opts.Folder())
}

// list returns the stored sessions of a directory, or of all directories if dir is "", the latest first.
func (e *acpServer) list(ctx context.Context, dir string) (all []protocol.SessionInfo, err error) {
	e.listing.Lock()
	defer e.listing.Unlock()
	stores := e.opts.Paths.All()
	if dir != "" {
		stores = nil
		if s, known := dirs.New(e.opts.Paths.Home, "", dir).Registered(); known {
			stores = []dirs.Store{s}
		}
	}
	for _, s := range stores {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		list, err := journal.List(s.Chats())
		if err != nil {
			return nil, err
		}
		for _, one := range list {
			at := one.Updated.UTC().Format(time.RFC3339)
			all = append(all, protocol.SessionInfo{SessionId: protocol.SessionId(one.ID),
				Cwd: cmp.Or(dir, s.Root), Title: &one.Title, UpdatedAt: &at, AdditionalDirectories: one.Directories})
		}
	}
	slices.SortStableFunc(all, func(a, b protocol.SessionInfo) int { return cmp.Compare(*b.UpdatedAt, *a.UpdatedAt) })
	return all, nil
}

// begin begins a session of an editor, in a separate project: the editor names the session's
// servers.
func (e *acpServer) begin(ctx context.Context, w acp.SessionRequest) (*acp.Session, error) {
	if info, err := os.Stat(w.Dir); err != nil || !info.IsDir() {
		return nil, &input.Error{Message: w.Dir + " is not a folder"}
	}
	o, err := e.opts.In(w.Dir)
	if err != nil {
		return nil, err
	}
	o.User.Editor, o.User.EditorServers = w.Editor, serversOf(w.Servers)
	r := &Run{Options: o, Status: project.NewStatus(), count: ending.NewTally(), onBroken: e.run.onBroken}
	var known atomic.Bool // the editor knows the session; earlier notices come with the first answer
	telling := func(tell func(string), info bool) func(string) {
		return r.Options.Redacting(func(text string) {
			if known.Load() {
				tell(text)
			} else {
				r.Status.Queue.Add(engine.Notice{Text: text, Info: info})
			}
		})
	}
	r.Status.PrintWarning, r.Status.PrintInfo = telling(w.Notify, false), telling(w.Tell, true)
	if r.store, err = o.Paths.Register(ctx); err != nil {
		r.notify(err.Error())
	}
	f := newFrontend(r)
	if err := e.open(ctx, f, w); err != nil {
		f.close()
		return nil, err
	}
	known.Store(true)
	return e.conversation(f, w), nil
}

// open begins the conversation of f.
func (e *acpServer) open(ctx context.Context, f *frontend, w acp.SessionRequest) error {
	p, err := f.run.openProject()
	if err != nil {
		return err
	}
	f.closers = append(f.closers, p.Close)
	if find := p.Model.Setup.API.FindKey; find != nil { // before the first prompt, so that the editor can offer to sign in
		if _, err := find(ctx); err != nil {
			return err
		}
	}
	choice := journal.OpenOptions{}
	if w.Session != "" { // only an id identifies it, not a number or a name
		list, err := journal.List(p.Store.Chats())
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(list, func(s journal.Session) bool { return s.ID == w.Session }) {
			return &input.Error{Message: fmt.Sprintf("no session %.100q was kept of %s", w.Session, p.Options.Paths.Cwd)}
		}
		choice = journal.OpenOptions{Resume: true, Selector: w.Session}
	}
	approver := w.Approver
	if f.opts.Flags.NoInput {
		approver = nil
	}
	if err := f.beginIn(ctx, p, choice, approver); err != nil {
		return err
	}
	for _, dir := range w.Directories {
		p.AddDirectory(dir)
	}
	f.session.AddContext(ctx, f.startContext)
	return nil
}

// errEditorsSession is the error of a command that would leave the session.
var errEditorsSession = &input.Error{Message: "another session is for the editor to begin or to resume"}

// refuseQuit makes /quit an error: it does not end a session of an editor.
func refuseQuit(next input.Processor) input.Processor {
	return func(ctx context.Context, parts []*genai.Part) ([]*genai.Part, error) {
		parts, err := next(ctx, parts)
		if errors.Is(err, input.ErrQuit) {
			err = &input.Error{Message: "the session is for the editor to end"}
		}
		return parts, err
	}
}

// conversation returns the session of f for the editor.
func (e *acpServer) conversation(f *frontend, w acp.SessionRequest) *acp.Session {
	app := f.commands(writer(w.Write), w.Show)
	app.Restart = func(context.Context) (*commands.Conversation, error) { return nil, errEditorsSession }
	app.Sessions.Resume = func(context.Context,
		journal.OpenOptions) (*commands.Conversation, error) {
		return nil, errEditorsSession
	}
	var hints *steer.Hints
	if f.opts.Settings.Steering {
		hints = &f.session.Hints
	}
	return &acp.Session{ID: f.session.Journal.File.ID(), Hints: hints, Tally: f.run.count, Close: f.close,
		Run:       report.FailTruncated(f.say),
		Expand:    input.Chain(refuseQuit, commands.Step(app), f.references),
		History:   func() []*genai.Content { return journal.Transcript(f.session.Journal.File, f.session.Engine.History()) },
		Shown:     func() map[string]string { return journal.DisplayedResults(f.session.Journal.File.Path()) },
		Title:     f.session.Tools.Title,
		Kind:      f.session.Tools.Kind,
		Commands:  func() []protocol.AvailableCommand { return availableCommands(app.Commands()) },
		Permanent: f.opts.Settings.Enabled("security.enablePermanentToolApproval") && !f.opts.Settings.NoAlways,
		Mode: acp.Switch{Now: func() string { return string(f.session.Rules.Policy.Mode()) },
			All: func() []acp.Position { return modePositions(f.session) },
			Set: func(_ context.Context, id string) error { return f.session.Rules.SetMode(policy.Mode(id)) }},
		Model: acp.Switch{Turn: true, Now: f.session.Models.Router.Wanted, All: func() []acp.Position { return modelPositions(f.session) },
			Set: func(_ context.Context, id string) error {
				if id == "" || strings.ContainsAny(id, "/?# \t\r\n") || strings.HasPrefix(id, "-") {
					return &input.Error{Message: fmt.Sprintf("%.100q is not the name of a model", id)}
				}
				f.session.Models.Choose(f.session.Engine, id)
				return nil
			}},
	}
}

// modelPositions returns the models for the editor's menu.
func modelPositions(s *session.Session) (all []acp.Position) {
	all = lists.Map(s.Project.Model.Presets.Choices(), func(c preset.ListedModel) acp.Position {
		return acp.Position{ID: c.Name, Name: c.Name, About: c.Note}
	})
	if now := s.Models.Router.Wanted(); !slices.ContainsFunc(all, func(p acp.Position) bool { return p.ID == now }) {
		all = append(all, acp.Position{ID: now, Name: now})
	}
	return all
}

// modePositions returns the allowed approval modes for the editor's menu.
func modePositions(s *session.Session) []acp.Position {
	modes := lists.Filter(policy.Modes[:], func(m policy.Mode) bool { return s.Rules.CheckMode(m) == nil || m == s.Rules.Policy.Mode() })
	return lists.Map(modes, func(m policy.Mode) acp.Position { return acp.Position{ID: string(m), About: session.ModeMeanings[m]} })
}

// terminalCommands are commands for a terminal, or for another session than the editor's.
var terminalCommands = []string{"accessible", "again", "brief", "chat", "clear", "copy", "detach",
	"detail", "editor", "fork", "history", "ide", "last", "quit", "resume", "show", "stream", "vim"}

// availableCommands returns the commands that an editor offers, without [terminalCommands].
func availableCommands(set commands.Set) []protocol.AvailableCommand {
	all := []protocol.AvailableCommand{}
	for _, c := range set {
		if slices.Contains(terminalCommands, c.Name) {
			continue
		}
		one := protocol.AvailableCommand{Name: c.Name, Description: c.Summary}
		hint := c.Args
		if len(c.Sub) > 0 {
			names := lists.Map(c.Sub, func(sub *commands.Command) string { return sub.Name })
			hint = strings.TrimSpace(hint + " " + strings.Join(names, "|"))
		}
		if hint != "" {
			one.Input = &protocol.AvailableCommandInput{Unstructured: &protocol.UnstructuredCommandInput{Hint: hint}}
		}
		all = append(all, one)
	}
	return all
}

// serversOf returns the servers that an editor names, as settings name them.
func serversOf(named []acp.Server) (list []settings.Server) {
	for _, s := range named {
		pairs := func(in []struct{ Name, Value string }) map[string]string {
			out := map[string]string{}
			for _, p := range in {
				out[p.Name] = p.Value
			}
			return out
		}
		one := settings.Server{Name: s.Name, Scope: settings.User, Command: s.Command, Args: s.Args,
			Env: pairs(s.Env), Headers: pairs(s.Headers)}
		switch {
		case s.Name == "":
			one.Err = errors.New("the editor says no name of it")
		case s.Command == "" && s.URL == "":
			one.Err = errors.New("the editor says neither a command nor an address of it")
		case s.Type == "http", s.Type == "" && s.Command == "":
			one.HTTPURL, one.Command = s.URL, ""
		case s.Type == "sse":
			one.URL, one.Type, one.Command = s.URL, "sse", ""
		case s.Type != "" && s.Type != "stdio":
			one.Err = fmt.Errorf("the editor says that its type is %.40q; there are stdio, http and sse", s.Type)
		}
		list = append(list, one)
	}
	return list
}

// A writer calls a function with each write.
type writer func(string)

// Write implements [io.Writer].
func (w writer) Write(b []byte) (int, error) {
	w(string(b))
	return len(b), nil
}
