package commands_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/genai"

	"gemline/commands"
	"gemline/commands/custom"
	"gemline/engine"
	et "gemline/engine/enginetest"
	"gemline/engine/journal"
	"gemline/engine/memory"
	"gemline/engine/policy"
	"gemline/engine/tally"
	"gemline/repl/input"
	"gemline/tools/checkpoint"
	"gemline/tools/shell"
	"gemline/tools/workspace"
)

// session returns owners over a conversation of one answer.
func session(t *testing.T) (*commands.Deps, *strings.Builder) {
	t.Helper()
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "more"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "more", "GEMINI.md"), []byte("more rules"), 0o600); err != nil {
		t.Fatal(err)
	}
	ws, err := workspace.New(workspace.Config{Roots: []string{root}})
	if err != nil {
		t.Fatal(err)
	}
	look := engine.Tool{Declaration: &genai.FunctionDeclaration{Name: "look", Description: "Looks\naround."}, Label: "Look", Kind: engine.Read}
	edit := engine.Tool{Declaration: &genai.FunctionDeclaration{Name: "edit"}, Label: "Edit", Kind: engine.Edit}
	p := policy.New(policy.Plan)
	e := engine.New(engine.Config{Model: "gemini-2.5-flash", Generator: et.NewScript(et.Says("the answer"), et.Says("another")),
		Tools: engine.Tools{look, edit}, Policy: p})
	var out strings.Builder
	held := &commands.Conversation{Engine: e, Model: commands.Models{Chosen: e.Model, Choose: e.SetModel}, Policy: p, Tools: engine.Tools{look, edit}, Keeper: checkpoint.New(checkpoint.Config{}), Workspace: ws, Journal: journal.New(journal.Config{ID: "x"}), Tally: &tally.Tally{}, Jobs: shell.NewJobs(filepath.Join(root, "background")),
		About:       func() []commands.Property { return []commands.Property{{Name: "version", Value: "1"}} },
		Memory:      memory.New(memory.Config{User: filepath.Join(root, "home"), Roots: ws.Roots}),
		Todos:       func() []string { return nil },
		Plan:        func() (commands.Plan, error) { return commands.Plan{}, nil },
		Mode:        func(string) (string, error) { return "", nil },
		Directories: func([]string) error { return nil },
	}
	app := &commands.Deps{Conversation: held, Out: &out, Customs: &commands.Customs{Library: &custom.Library{Dirs: func() []custom.Dir { return nil }}},
		Manage:        func(_ context.Context, args ...string) error { return fmt.Errorf("no topic %q", args[len(args)-1]) },
		LocateCommand: func(string) string { return "" },
		Restart:       func(context.Context) (*commands.Conversation, error) { return held, nil },
		Terminal: commands.Terminal{Copy: func(_ context.Context, text string) (string, error) {
			if text != "the answer" {
				return "", errors.New("wrong text: " + text)
			}
			return "test", nil
		}},
	}
	return app, &out
}

// A command that comes while the session goes on is run, listed and completed.
func TestLateCommand(t *testing.T) {
	app, out := session(t)
	line := func(text string) []*genai.Part {
		parts, err := input.Chain(commands.Step(app))(t.Context(), []*genai.Part{genai.NewPartFromText(text)})
		if err != nil {
			t.Error(err)
		}
		return parts
	}
	asked := commands.Completion{Commands: func() commands.Set { return app.Commands() }}
	complete := func() int {
		_, found := asked.Complete(t.Context(), "/fetch", 6)
		return len(found)
	}
	if parts := line("/fetch-it now"); len(parts) != 1 || complete() > 0 {
		t.Errorf("a command that is not there gives %v", parts)
	}
	app.Customs.Served = func() commands.Set {
		return commands.Set{&commands.Command{Name: "fetch-it", Words: true, Summary: "what a server offers",
			Run: func(_ context.Context, args string) error {
				_, err := io.WriteString(app.Out, "fetched "+args)
				return err
			}}}
	}
	line("/fetch-it now")
	line("/help all")
	if got := out.String(); !strings.Contains(got, "fetched now") || !strings.Contains(got, "what a server offers") || complete() != 1 {
		t.Errorf("said %s", got)
	}
}

// The list that /help prints fits on a usual screen, with the prompt below it.
func TestHelpFitsOnAScreen(t *testing.T) {
	app, out := session(t)
	if _, err := input.Chain(commands.Step(app))(t.Context(), []*genai.Part{genai.NewPartFromText("/help")}); err != nil {
		t.Fatal(err)
	}
	lines := 1
	for l := range strings.Lines(out.String()) {
		if lines++; len(strings.TrimSuffix(l, "\n")) > 80 {
			t.Errorf("too wide: %s", l)
		}
	}
	if lines > 24 {
		t.Errorf("%d lines:\n%s", lines, out)
	}
	for _, c := range app.Commands() {
		if !strings.Contains(out.String(), "/"+c.Name) {
			t.Errorf("/%s is not named", c.Name)
		}
	}
}

func TestCommands(t *testing.T) {
	for _, test := range []struct {
		line string
		want string // in the output
		err  string
	}{
		{"/help all", "/directory add PATH[,PATH ...]: let the model work in more directories", ""},
		{"/help /memory", "/memory add TEXT: ", ""},
		{"/help mode", "/mode [default|auto_edit|auto|plan|yolo]: ", ""},
		{"/help /nosuch", "", `no topic "/nosuch"`},
		{"/about", "version: 1", ""},
		{"/stats", "tool", ""},
		{"/usage model", "", ""},
		{"/stats tools", "", ""},
		{"/tools", "look (Look)\n", ""},
		{"/tools desc", "look: Looks around.\n", ""},
		{"/model", "model: gemini-2.5-flash", ""},
		{"/model gemini-2.5-pro", "model: gemini-2.5-pro", ""},
		{"/model set", "", "which model?"},
		{"/model --persist", "", "which model?"},
		{"/model set gemini-2.5-pro --persist", "model: gemini-2.5-pro", "no topic \"gemini-2.5-pro\""},
		{"/model set --persistent", "", "not the name of a model"},
		{"/model a b", "", "not the name of a model"},
		{"/memory show", "Memory is currently empty.", ""},
		{"/memory list", "No GEMINI.md files in use.", ""},
		{"/memory refresh", "No memory content found", ""},
		{"/memory reload", "No memory content found", ""},
		{"/memory add be  kind", "added to ", ""},
		{"/memory add", "", "what shall be remembered?"},
		{"/memory add -", "", "nothing to remember"},
		{"/memory", "No GEMINI.md files in use.", ""},
		{"/memory inbox", "", "/memory inbox: gemline collects no notes"},
		{"/memory nosuch", "", `/memory has no sub-command "nosuch"`},
		{"/directory", "Current workspace directories:\n- ", ""},
		{"/directory nosuch", "", `/directory has no sub-command "nosuch"`},
		{"/name --remove now", "", "/name takes NAME, --remove or nothing"},
		{"/last", "", "there is no answer yet"},
		{"/last nosuch", "", `/last has no sub-command "nosuch"`},
		{"/dir show", "Current workspace directories:\n- ", ""},
		{"/directory add more", "/more\n", ""},
		{"/directory add .", "nothing to add", ""},
		{"/directory add nowhere", "", "nowhere: there is no such directory"},
		{"/directory add nowhere, more", "/more\n", "nowhere: there is no such directory"},
		{"/directory add more", "more/GEMINI.md\n", ""},
		{"/directory add", "", "which directory?"},
		{"/clear", "new session begins", ""},
		{"/clear now", "", "/clear takes no words behind it"},
		{"/stats nosuch", "", `/stats has no sub-command "nosuch"; there are: session, model, tools`},
		{"/chat checkpoint", "", `/chat checkpoints needs one of: list, save`},
		{"/resume checkpoint nosuch x", "", `/resume checkpoints has no sub-command "nosuch"; there are: list`},
		{"/chat checkpoints list x", "", "/chat checkpoints list takes no words behind it"},
		{"/skills nosuch", "", `/skills has no sub-command "nosuch"; there are: list, link, enable`},
		{"/skills install here", "", `/skills has no sub-command "install"; there are: list`},
		{"/extension nosuch", "", `/extensions has no sub-command "nosuch"; there are: list, install`},
		{"/stats model nosuch", "", "/stats model takes no words behind it"},
		{"/settings show", "", `/settings has no sub-command "show"; there are: list, get, set`},
		{"/tools nosuch", "", `/tools has no sub-command "nosuch"`},
		{"/brief off", "", "/brief takes no words behind it"},
		{"/plan off", "", `/plan takes a task, copy or nothing, not "off"; /mode default leaves plan mode`},
		{"/quit now", "", "/quit takes --delete or nothing"},
		{"/?", "Type a question or a task", ""},
		{"/? ", "Type a question or a task", ""},
		{"/copy", "", "no answer to copy"},
		{"/quit", "", "quit"},
		{"/exit", "", "quit"},
		{"/hlep", "", "unknown command /hlep; did you mean /help?"},
	} {
		t.Run(test.line, func(t *testing.T) {
			app, out := session(t)
			parts, err := input.Chain(commands.Step(app))(t.Context(), []*genai.Part{genai.NewPartFromText(test.line)})
			if test.err == "" && err != nil || test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)) {
				t.Errorf("got error %v; want %q", err, test.err)
			}
			if !strings.Contains(out.String(), test.want) {
				t.Errorf("got %q; want %q", out, test.want)
			}
			if len(parts) > 0 {
				t.Errorf("sent %v", parts)
			}
		})
	}
}

// Where there is no session, what acts on one says so.
func TestWithoutASession(t *testing.T) {
	for line, want := range map[string]string{"/clear": "works in a session only", "/copy": "no clipboard"} {
		app, out := session(t)
		app.Restart, app.Terminal.Copy = nil, nil
		_, err := input.Chain(commands.Step(app))(t.Context(), []*genai.Part{genai.NewPartFromText(line)})
		if err == nil || !strings.Contains(err.Error(), want) || out.String() != "" {
			t.Errorf("%s: got %v, %q; want %q", line, err, out, want)
		}
	}
}

// A slash may begin a path or a comment; that is the model's business.
func TestWhatIsNoCommandIsSent(t *testing.T) {
	for _, line := range []string{"/etc/passwd looks odd", "// why?", "/* this */", "what about /help", "/", "", "/x", "/completely else"} {
		app, _ := session(t)
		app.Restart = nil // in a session, a word alone is answered
		parts, err := input.Chain(commands.Step(app))(t.Context(), []*genai.Part{genai.NewPartFromText(line)})
		if err != nil || len(parts) != 1 || parts[0].Text != line {
			t.Errorf("%q: got %v, %v", line, parts, err)
		}
	}
}

// Every command of the Gemini CLI's is carried out or answered here, with its
// sub-commands and under all of its names, and none is sent to the model.
func TestWordsOfTheOriginal(t *testing.T) {
	for names, subs := range map[string]string{
		"about bug-memory corgi docs editor footer statusline gemma help init privacy profile shortcuts theme upgrade vim voice oncall": "",
		"compress summarize compact clear new copy setup-github terminal-setup tasks bg background shells bashes rewind settings":       "",
		"bug export-session restore": "x",
		"agents":                     "list reload refresh enable disable config",
		"auth":                       "signin login signout logout",
		"chat resume":                "checkpoints checkpoint list save resume load delete share debug",
		"commands":                   "list reload refresh",
		"directory dir":              "add show",
		"extensions":                 "list update explore reload restart enable disable install link uninstall delete config",
		"hooks":                      "panel list show enable disable enable-all disable-all",
		"ide":                        "status install enable disable",
		"mcp":                        "list ls desc schema auth reload enable disable",
		"memory":                     "show list reload refresh inbox",
		"model":                      "manage set",
		"permissions":                "trust",
		"plan":                       "copy",
		"policies":                   "list",
		"quit exit":                  "--delete",
		"skills":                     "list link enable disable reload",
		"stats usage":                "session model tools",
		"tools":                      "list desc descriptions",
	} {
		for name := range strings.FieldsSeq(names) {
			for _, sub := range append([]string{""}, strings.Fields(subs)...) {
				app, _ := session(t)
				app.Manage = func(context.Context, ...string) error { return nil }
				line := strings.TrimSpace("/" + name + " " + sub)
				if parts, _ := input.Chain(commands.Step(app))(t.Context(), []*genai.Part{genai.NewPartFromText(line)}); len(parts) > 0 && strings.HasPrefix(parts[0].Text, line) {
					t.Errorf("%s is sent: %v", line, parts)
				}
			}
		}
	}
}

// /plan shows the plan that there is, and copies it.
func TestPlan(t *testing.T) {
	app, out := session(t)
	app.Conversation.Mode = func(word string) (string, error) { return "now " + word, nil }
	app.Terminal.Copy = func(_ context.Context, text string) (string, error) { return "of " + text, nil }
	say := func(line string) ([]*genai.Part, string, error) {
		out.Reset()
		parts, err := input.Chain(commands.Step(app))(t.Context(), []*genai.Part{genai.NewPartFromText(line)})
		return parts, out.String(), err
	}
	if _, _, err := say("/plan copy"); err == nil || !strings.Contains(err.Error(), "there is no plan to copy yet") {
		t.Error(err)
	}
	app.Conversation.Plan = func() (commands.Plan, error) {
		return commands.Plan{Path: "/p/a\nb.md", Text: "1. Do it.\n", Approved: true}, nil
	}
	if _, said, err := say("/plan"); err != nil || said != "now plan\nplan (approved): /p/a\\nb.md\n1. Do it.\n" {
		t.Errorf("%q %v", said, err)
	}
	if _, said, err := say("/plan copy"); err != nil || said != "copied 10 bytes of 1. Do it.\n\n" {
		t.Errorf("%q %v", said, err)
	}
	if parts, said, err := say("/plan copy the files"); err != nil || said != "now plan\n" || len(parts) != 1 || parts[0].Text != "copy the files" {
		t.Errorf("%q %v %v", said, parts, err)
	}
}

func TestCopyTakesTheLastAnswer(t *testing.T) {
	app, out := session(t)
	et.Record(app.Conversation.Engine.Run(t.Context(), genai.NewPartFromText("go")))
	step := input.Chain(commands.Step(app))
	if _, err := step(t.Context(), []*genai.Part{genai.NewPartFromText("/copy")}); err != nil {
		t.Fatal(err)
	}
	if out.String() != "copied 10 bytes test\n" {
		t.Errorf("got %q", out)
	}
}

func TestNamesAreUnique(t *testing.T) {
	var check func(prefix string, s commands.Set)
	check = func(prefix string, s commands.Set) {
		seen := map[string]bool{}
		for _, c := range s {
			for _, name := range append([]string{c.Name}, c.Aliases...) {
				if seen[name] {
					t.Errorf("%s%s is there twice", prefix, name)
				}
				seen[name] = true
			}
			if c.Summary == "" || c.Run == nil && c.Prompt == nil && c.Sub == nil {
				t.Errorf("%s%s says or does nothing", prefix, c.Name)
			}
			check(prefix+c.Name+" ", c.Sub)
		}
	}
	check("/", commands.Builtin(&commands.Deps{}))
}

// Without a terminal no command of the shell is offered: the model would get the line.
func TestHelpWithoutTerminal(t *testing.T) {
	for _, line := range []string{"/help", "/help all"} {
		for _, screen := range []*commands.Screen{nil, {}} {
			app, out := session(t)
			app.Terminal.Screen = screen
			_, err := input.Chain(commands.Step(app))(t.Context(), []*genai.Part{genai.NewPartFromText(line)})
			if got := strings.Contains(out.String(), "!COMMAND"); err != nil || got != (screen != nil) {
				t.Errorf("%s: %v, %v: %s", line, got, err, out)
			}
		}
	}
}

// A command that is carried out needs no sentence about it.
func TestNothingIsBothThereAndAbsent(t *testing.T) {
	for _, name := range commands.Absent() {
		c, rest := commands.Builtin(&commands.Deps{}).Find(name)
		if c != nil && rest == "" {
			t.Errorf("/%s is there: take its row out of the table", name)
		}
	}
}

// A wrong neighbour is worse than none.
func TestNearestCommand(t *testing.T) {
	for line, want := range map[string]string{"/hlep": "help", "/qiut": "quit", "/modle": "model", "/quits": "quit", "/memry": "memory", "/tool": "tools", "/sttas": "stats",
		"/edit": "", "/unit": "", "/mode1s": "", "/hello": "", "/quilt it": "quit", "/tmp/quit": "", "/abot": "about", "/abort": "", "/last1": "last", "/fast": "", "/list": "", "/histary": "history", "/Help me": "help", "/DIR": ""} {
		app, _ := session(t)
		app.Restart = nil // one prompt, which may be about /edit
		_, err := input.Chain(commands.Step(app))(t.Context(), []*genai.Part{genai.NewPartFromText(line)})
		if got := fmt.Sprint(err); want == "" && err != nil || want != "" && !strings.HasSuffix(got, "did you mean /"+want+"?") {
			t.Errorf("%s: %v", line, err)
		}
	}
}

// What is a command elsewhere is answered, and not sent.
func TestElsewhere(t *testing.T) {
	app, _ := session(t)
	app.Restart = nil
	app.LocateCommand = func(name string) string {
		return map[string]string{"git:commit": "it is a command in x"}[name]
	}
	var said []*genai.Content
	step := input.Chain(commands.LoneWord(func() []*genai.Content { return said }), commands.Step(app))
	const none = " answers a question, and none is open; with more words it is sent to the model"
	for line, want := range map[string]string{"/git:commit now": "/git:commit: it is a command in x", "exit": "quit", " quit ": "quit",
		"y": "y" + none, " n ": "n" + none, "e": "e" + none, "Y": "y" + none} {
		if _, err := step(t.Context(), []*genai.Part{genai.NewPartFromText(line)}); err == nil || err.Error() != want {
			t.Errorf("%q: %v", line, err)
		}
	}
	said = []*genai.Content{genai.NewContentFromText("mend it", genai.RoleUser), genai.NewContentFromText("Shall I also run the tests?", genai.RoleModel)}
	for _, line := range []string{"/git:push", "help me", "exit 3", "/git/commit", "y", "n", "yes", "y now"} {
		if parts, err := step(t.Context(), []*genai.Part{genai.NewPartFromText(line)}); err != nil || len(parts) != 1 || parts[0].Text != line {
			t.Errorf("%q: %v, %v", line, parts, err)
		}
	}
}

// What becomes a prompt keeps its lines and blanks.
func TestArgumentsAsTyped(t *testing.T) {
	prompt := func(context.Context, string, string) ([]*genai.Part, error) { return nil, nil }
	set := commands.Set{{Name: "t", Prompt: prompt}, {Name: "top", Sub: commands.Set{{Name: "t", Prompt: prompt}}},
		{Name: "plain", Run: func(context.Context, string) error { return nil }}}
	for line, want := range map[string]string{
		"t": "", "t ": "", "t a": "a", "t  a  b ": "a  b", "t line1\n  line2": "line1\n  line2", "t\n  in\n\n\tdeeper\n": "  in\n\n\tdeeper",
		"t \t\r\n\tx": "\tx", "t\u00a0x": "x", "top t a\n b": "a\n b", "plain a  b\n c": "a b c", "t --- a\n+++ b\n@@ -1 +1 @@\n": "--- a\n+++ b\n@@ -1 +1 @@",
	} {
		if c, rest := set.Find(line); c == nil || rest != want {
			t.Errorf("%q: got %q; want %q", line, rest, want)
		}
	}
}

func FuzzFind(f *testing.F) {
	f.Add("stats model x")
	f.Add("  directory\tadd \x00")
	f.Fuzz(func(t *testing.T, line string) {
		c, rest := commands.Builtin(&commands.Deps{}).Find(line)
		if c == nil && strings.Join(strings.Fields(line), " ") != rest {
			t.Errorf("%q: lost %q", line, rest)
		}
		if c == nil {
			return
		}
		words := strings.Fields(line)
		at := len(words) - len(strings.Fields(rest))
		if said := strings.Join(strings.Fields(rest), " "); at < 1 || strings.Join(words[at:], " ") != said || c.Prompt == nil && said != rest || words[at-1] != c.Name && !slices.Contains(c.Aliases, words[at-1]) {
			t.Errorf("%q is %s with %q", line, c.Name, rest)
		}
		if further, _ := c.Sub.Find(rest); further != nil {
			t.Errorf("%q is %s, and not %s", line, c.Name, further.Name)
		}
	})
}
