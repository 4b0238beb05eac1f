package program

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"google.golang.org/genai"

	"gemline/commands/program/project"
	"gemline/engine"
	et "gemline/engine/enginetest"
	"gemline/engine/journal"
	"gemline/engine/policy"
	"gemline/engine/tally"
	"gemline/settings/trust"
)

// start returns a run in a home of its own.
func start(t *testing.T, args ...string) *run {
	t.Helper()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { null.Close() })
	env := map[string]string{"GEMINI_CLI_HOME": t.TempDir(), "GEMINI_API_KEY": "k", "GEMINI_MODEL": "gemini-2.5-pro"}
	r, _, err := newRun(project.Process{Args: args, Stdin: null, Stdout: null, Stderr: null,
		Environ: func() []string { return []string{"PATH=" + os.Getenv("PATH")} },
		Lookup:  func(name string) (string, bool) { v, ok := env[name]; return v, ok }})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// open returns a project in a new directory, which tells warn what is odd.
func open(t *testing.T, r *run, warn func(string)) *Project {
	t.Helper()
	return openIn(t, r, t.TempDir(), warn)
}

func openIn(t *testing.T, r *run, dir string, warn func(string)) *Project {
	t.Helper()
	o, err := r.opts.In(dir)
	if err != nil {
		t.Fatal(err)
	}
	store, err := o.Paths.Register(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	told := newStatus()
	told.warn = warn
	p, err := Open(o, told, store)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// Conversations in two directories, and two in each, go on side by side in one
// process: what is written, recorded and allowed is each one's own.
func TestSideBySide(t *testing.T) {
	r := start(t, "--skip-trust", "--sandbox=off", "-p", "x")
	var all sync.WaitGroup
	seen := map[string]bool{}
	for range 2 {
		p := open(t, r, func(string) {})
		for _, name := range []string{"a.txt", "b.txt"} {
			p.model.generator = et.NewScript(et.Says("", et.Call("1", "write_file", "file_path", name, "content", p.opts.Paths.Cwd+"\n")), et.Says("Done."))
			s, err := p.Begin(t.Context(), Choice{Tally: &tally.Tally{}})
			if err != nil {
				t.Fatal(err)
			}
			if name == "a.txt" { // the other one is asked, and there is nobody
				s.Policy.SetMode(policy.AutoEdit)
			}
			if seen[s.chat.file.ID()] {
				t.Error("one journal for two conversations")
			}
			seen[s.chat.file.ID()] = true
			all.Go(func() {
				defer s.Close()
				for _, err := range s.Run(t.Context(), genai.NewPartFromText("go")) {
					if err != nil {
						t.Error(err)
					}
				}
				b, err := os.ReadFile(filepath.Join(p.opts.Paths.Cwd, name))
				if wrote := err == nil; wrote != (name == "a.txt") || wrote && strings.TrimSpace(string(b)) != p.opts.Paths.Cwd {
					t.Errorf("%s: %q, %v", name, b, err)
				}
				if n := len(s.engine.History()); n != 5 { // the opening, the question, a call, its answer, the end
					t.Errorf("%d messages", n)
				}
			})
		}
	}
	all.Wait()
}

// changing is a Toolset that has other tools for every request.
type changing struct {
	sets []engine.Tools
	now  int
}

func (c *changing) Tools() []engine.Tool { return c.sets[c.now].Tools() }

// A tool that comes while the conversation goes on is like one that was there from
// the start: the model is told of it, what it shows has no secrets, the context of
// the directories that it touches comes with it, rules judge it, and a dry run does
// not carry it out. One that has gone is not there any more.
func TestLateTools(t *testing.T) {
	const secret = "correct-horse-battery"
	for _, dry := range []bool{false, true} {
		t.Run(fmt.Sprintf("dry %v", dry), func(t *testing.T) {
			rules := filepath.Join(t.TempDir(), "rules.toml")
			args := []string{"--sandbox=off", "-y", "-p", "x", "--policy", rules}
			if dry {
				args = append(args, "--dry-run")
			}
			write(t, rules, "[[rule]]\ntoolName = 'mcp_late_*'\ndecision = 'deny'\npriority = 100\ndenyMessage = 'not this server'\n")
			p := open(t, start(t, args...), func(string) {})
			p.opts.Trust.State = trust.Trusted
			p.opts.Secrets.Add("API key", secret)
			write(t, filepath.Join(p.opts.Paths.Cwd, "sub", "GEMINI.md"), "Look twice in here.")

			ran := map[string]bool{}
			tool := func(name, server string, kind engine.Kind) engine.Tool {
				return engine.Tool{Declaration: &genai.FunctionDeclaration{Name: name}, Server: server, Kind: kind,
					Prepare: func(context.Context, map[string]any) (engine.Call, error) {
						return engine.Call{Intent: engine.Intent{Title: name, Paths: []string{filepath.Join(p.opts.Paths.Cwd, "sub")}},
							Run: func(context.Context, engine.Host) (engine.Result, error) {
								ran[name] = true
								return engine.Result{Text: "the key is " + secret}, nil
							}}, nil
					}}
			}
			late := &changing{sets: []engine.Tools{
				{tool("read_file", "", engine.Read)},
				{tool("send", "", engine.Execute)},
				{tool("mcp_late_look", "late", engine.Read)},
				{},
				{},
			}}
			script := et.NewScript(et.Says("", et.Call("1", "read_file")), et.Says("", et.Call("2", "send")),
				et.Says("", et.Call("3", "mcp_late_look")), et.Says("", et.Call("4", "send")), et.Says("Done."))
			p.model.generator = script

			s := &Session{project: p, notices: newNotices(p.status, nil), Choice: Choice{Tally: &tally.Tally{}, Policy: p.policy}}
			var err error
			if s.chat, err = openChat(p, s.Choice, s.notices.notify); err != nil {
				t.Fatal(err)
			}
			s.agents = newAgents(p, s.chat)
			defer s.Close()
			s.newHooks(nil)
			s.models = newModels(p, s.Choice, nil, s.hooks, s.modelName, func() bool { return false }, s.chat.resume)
			s.newTools(nil)
			s.tools.all = s.tools.wrapped(late, s.chat.sync)
			s.newEngine()
			answers := map[string]string{}
			for ev, err := range s.Run(t.Context(), genai.NewPartFromText("go")) {
				if err != nil {
					t.Fatal(err)
				}
				if ev, ok := ev.(engine.Requested); ok {
					late.now = ev.Number - 1
				}
			}
			for _, c := range s.engine.History() {
				for _, part := range c.Parts {
					if fr := part.FunctionResponse; fr != nil {
						answers[fr.ID] = fmt.Sprint(fr.Response)
					}
				}
			}

			if got := answers["1"]; !strings.Contains(got, "[redacted: API key]") || !strings.Contains(got, "Look twice in here.") {
				t.Errorf("read_file answered %s", got)
			}
			if got := answers["2"]; ran["send"] == dry || dry && !strings.Contains(got, "dry run") || !dry && !strings.Contains(got, "[redacted: API key]") {
				t.Errorf("send ran: %v, and answered %s", ran["send"], got)
			}
			if got := answers["3"]; ran["mcp_late_look"] || !strings.Contains(got, "not this server") {
				t.Errorf("mcp_late_look answered %s", got)
			}
			if got := answers["4"]; !strings.Contains(got, "not found") {
				t.Errorf("send answered %s when it had gone", got)
			}
			var declared []string
			for _, req := range script.Requests() {
				names := []string{}
				for _, set := range req.Config.Tools {
					for _, f := range set.FunctionDeclarations {
						names = append(names, f.Name)
					}
				}
				declared = append(declared, strings.Join(names, ","))
			}
			if got := strings.Join(declared, " "); got != "read_file send   " {
				t.Errorf("declared %q", got)
			}
		})
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// The template of new repositories is the user's to name, not the project's.
func TestHooks(t *testing.T) {
	r := start(t, "-p", "x")
	home := t.TempDir()
	t.Chdir(home)
	if err := os.WriteFile(".gitconfig", []byte("[init]\n\ttemplateDir = ~/template\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.opts.Paths.Home = home
	if got, want := project.NewUserDirs(r.opts).Hooks(), filepath.Join(home, "template", "hooks"); got != want {
		t.Errorf("got %q, not %q", got, want)
	}
	if err := os.WriteFile(".gitconfig", []byte("[init]\n\ttemplateDir = "+home+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.opts.Paths.Home = ""
	if got := project.NewUserDirs(r.opts).Hooks(); got != "" {
		t.Errorf("without a home directory: %q", got)
	}
}

// What is wrong with the ignore files is told of all directories, also of those
// that only the conversation brings which is gone on with.
func TestComplaintsOfAResumedSession(t *testing.T) {
	r := start(t, "--skip-trust", "--sandbox=off", "-p", "x")
	user := filepath.Join(r.opts.Env.Process.Getenv("GEMINI_CLI_HOME"), ".gemini")
	here, more := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{
		filepath.Join(user, "settings.json"): `{"context": {"fileFiltering": {"customIgnoreFilePaths": ["hide.me"]}}}`,
		filepath.Join(more, "hide.me"):       "secret.txt\n",
	} {
		write(t, name, text)
	}
	for _, resumed := range []bool{false, true} {
		var told []string
		p := openIn(t, r, here, func(text string) { told = append(told, text) })
		p.model.generator = et.NewScript(et.Says("Hello."))
		s, err := p.Begin(t.Context(), Choice{OpenOptions: journal.OpenOptions{Resume: resumed, Which: "latest"}, Tally: &tally.Tally{}})
		if err != nil {
			t.Fatal(err)
		}
		if !resumed {
			s.project.add(more)
			if err := s.chat.file.SetDirectories([]string{more}); err != nil {
				t.Fatal(err)
			}
			for _, err := range s.Run(t.Context(), genai.NewPartFromText("hi")) {
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		if wrong := strings.Contains(strings.Join(told, "\n"), "hide.me hides nothing"); wrong == resumed {
			t.Errorf("resumed: %v, told %q", resumed, told)
		}
		s.Close()
	}
}
