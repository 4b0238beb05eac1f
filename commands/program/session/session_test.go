package session

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"google.golang.org/genai"

	"gemline/commands/program/project/projecttest"
	"gemline/engine"
	et "gemline/engine/enginetest"
	"gemline/engine/journal"
	"gemline/engine/policy"
	"gemline/engine/tally"
	"gemline/settings/trust"
)

// Conversations in two directories, and two in each, go on side by side in one
// process: what is written, recorded and allowed is each one's own.
func TestSideBySide(t *testing.T) {
	o := projecttest.Options(t, "--skip-trust", "--sandbox=off", "-p", "x")
	var all sync.WaitGroup
	seen := map[string]bool{}
	for range 2 {
		p := projecttest.Open(t, o, t.TempDir(), func(string) {})
		for _, name := range []string{"a.txt", "b.txt"} {
			p.Model.Generator = et.NewScript(et.Says("", et.Call("1", "write_file", "file_path", name, "content", p.Options.Paths.Cwd+"\n")), et.Says("Done."))
			s, err := Begin(t.Context(), p, Config{Tally: &tally.Tally{}})
			if err != nil {
				t.Fatal(err)
			}
			if name == "a.txt" { // the other one is asked, and there is nobody
				s.Rules.Policy.SetMode(policy.AutoEdit)
			}
			if seen[s.Journal.File.ID()] {
				t.Error("one journal for two conversations")
			}
			seen[s.Journal.File.ID()] = true
			all.Go(func() {
				defer s.Close()
				for _, err := range s.Run(t.Context(), genai.NewPartFromText("go")) {
					if err != nil {
						t.Error(err)
					}
				}
				b, err := os.ReadFile(filepath.Join(p.Options.Paths.Cwd, name))
				if wrote := err == nil; wrote != (name == "a.txt") || wrote && strings.TrimSpace(string(b)) != p.Options.Paths.Cwd {
					t.Errorf("%s: %q, %v", name, b, err)
				}
				if n := len(s.Engine.History()); n != 5 { // the opening, the question, a call, its answer, the end
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
			projecttest.Write(t, rules, "[[rule]]\ntoolName = 'mcp_late_*'\ndecision = 'deny'\npriority = 100\ndenyMessage = 'not this server'\n")
			p := projecttest.Open(t, projecttest.Options(t, args...), t.TempDir(), func(string) {})
			p.Options.Trust.State = trust.Trusted
			p.Options.Secrets.Add("API key", secret)
			projecttest.Write(t, filepath.Join(p.Options.Paths.Cwd, "sub", "GEMINI.md"), "Look twice in here.")

			ran := map[string]bool{}
			tool := func(name, server string, kind engine.Kind) engine.Tool {
				return engine.Tool{Declaration: &genai.FunctionDeclaration{Name: name}, Server: server, Kind: kind,
					Prepare: func(context.Context, map[string]any) (engine.Call, error) {
						return engine.Call{Intent: engine.Intent{Title: name, Paths: []string{filepath.Join(p.Options.Paths.Cwd, "sub")}},
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
			p.Model.Generator = script

			s := &Session{Project: p, Notices: &Notices{status: p.Status}, Config: Config{policy: p.Policy, Tally: &tally.Tally{}}}
			var err error
			if s.Journal, err = openJournal(p, s.Config, s.Notices.Notify); err != nil {
				t.Fatal(err)
			}
			s.agents = newAgents(p, s.Journal)
			defer s.Close()
			s.newHooks(nil)
			s.Models = newModels(p, s.Config, nil, s.Hooks, s.ModelName, func() bool { return false }, s.Journal.ResumeCommand)
			s.newTools(nil)
			s.Tools.Toolset = s.Tools.wrap(late, s.Journal.sync)
			s.newEngine()
			answers := map[string]string{}
			for ev, err := range s.Run(t.Context(), genai.NewPartFromText("go")) {
				if err != nil {
					t.Fatal(err)
				}
				if ev, ok := ev.(engine.RequestStarted); ok {
					late.now = ev.Number - 1
				}
			}
			for _, c := range s.Engine.History() {
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

// What is wrong with the ignore files is told of all directories, also of those
// that only the conversation brings which is gone on with.
func TestComplaintsOfAResumedSession(t *testing.T) {
	o := projecttest.Options(t, "--skip-trust", "--sandbox=off", "-p", "x")
	user := filepath.Join(o.Env.Process.Getenv("GEMINI_CLI_HOME"), ".gemini")
	here, more := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{
		filepath.Join(user, "settings.json"): `{"context": {"fileFiltering": {"customIgnoreFilePaths": ["hide.me"]}}}`,
		filepath.Join(more, "hide.me"):       "secret.txt\n",
	} {
		projecttest.Write(t, name, text)
	}
	for _, resumed := range []bool{false, true} {
		var told []string
		p := projecttest.Open(t, o, here, func(text string) { told = append(told, text) })
		p.Model.Generator = et.NewScript(et.Says("Hello."))
		s, err := Begin(t.Context(), p, Config{Open: journal.OpenOptions{Resume: resumed, Selector: "latest"}, Tally: &tally.Tally{}})
		if err != nil {
			t.Fatal(err)
		}
		if !resumed {
			s.Project.AddDirectory(more)
			if err := s.Journal.File.SetDirectories([]string{more}); err != nil {
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
