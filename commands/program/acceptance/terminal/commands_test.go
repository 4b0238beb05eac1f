package terminal

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"gemline/commands"
	"gemline/commands/cli"
	pt "gemline/commands/program/acceptance/programtest"
	"gemline/commands/program/acceptance/teletype"
	et "gemline/engine/enginetest"
)

// A typed line, and what the program shows last before it waits again.
type typed struct{ line, until string }

// ready ends what a command shows.
const ready = "\n> "

// uses is how every slash command is used, in a sensible way at least once, by
// its words. A command that is not here has not been looked at on a terminal.
var uses = map[string][]typed{
	"about":                     {{"/about", ready}},
	"accessible":                {{"/accessible", ready}, {"/accessible maybe", ready}},
	"again":                     {{"/again", ready}},
	"agents":                    {{"/agents", ready}},
	"agents list":               {{"/agents list", ready}},
	"agents show":               {{"/agents show generalist", ready}},
	"agents reload":             {{"/agents reload", ready}},
	"agents enable":             {{"/agents enable nothing", ready}},
	"agents disable":            {{"/agents disable nothing", ready}},
	"agents config":             {{"/agents config cli_help", ready}},
	"auth":                      {{"/auth", ready}},
	"auth status":               {{"/auth status", ready}},
	"auth use":                  {{"/auth use gemini-api-key", ready}, {"/auth use nothing", ready}},
	"auth signin":               {{"/auth signin", "not shown: "}, {"a-key-typed-unseen", ready}},
	"auth signout":              {{"/auth signout", ready}},
	"brief":                     {{"/brief", ready}}, // nothing has happened yet
	"chat":                      {{"/chat", ready}, {"/chat nothing like it", ready}},
	"chat list":                 {{"/chat list", ready}},
	"chat save":                 {{"/chat save tag", ready}},
	"chat resume":               {{"/chat resume tag", ready}},
	"chat delete":               {{"/chat delete tag", ready}},
	"chat share":                {{"/chat share", ready}},
	"chat checkpoints":          {{"/chat checkpoints", ready}},
	"chat checkpoints list":     {{"/chat checkpoint list", ready}},
	"chat checkpoints save":     {{"/chat checkpoint save tag", ready}},
	"chat checkpoints resume":   {{"/chat checkpoint resume nothing", ready}},
	"chat checkpoints delete":   {{"/chat checkpoint delete tag", ready}},
	"chat checkpoints share":    {{"/chat checkpoint share", ready}},
	"export":                    {{"/export talk.md", ready}, {"/export talk", ready}},
	"extensions":                {{"/extensions", ready}},
	"extensions list":           {{"/extensions list", ready}},
	"extensions install":        {{"/extensions install nowhere", ready}},
	"extensions link":           {{"/extensions link nowhere", ready}},
	"extensions update":         {{"/extensions update nothing", ready}},
	"extensions uninstall":      {{"/extensions uninstall nothing", ready}},
	"extensions enable":         {{"/extensions enable nothing", ready}},
	"extensions disable":        {{"/extensions disable nothing", ready}},
	"extensions config":         {{"/extensions config nothing", ready}},
	"extensions reload":         {{"/extensions reload", ready}},
	"fork":                      {{"/fork", ready}, {"/fork what", ready}},
	"name":                      {{"/name", ready}, {"/name Not long", ready}, {"/name latest", ready}, {"/name --remove", ready}},
	"resume":                    {{"/resume", "Enter for none: "}, {"99", "Enter for none: "}, {"", ready}},
	"resume list":               {{"/resume list", ready}},
	"resume save":               {{"/resume save tag", ready}, {"/resume save tag", "y or n: "}, {"n", ready}},
	"resume resume":             {{"/resume resume tag", ready}, {"/name Work", ready}},
	"resume delete":             {{"/resume delete tag", "y or n: "}, {"y", ready}},
	"resume share":              {{"/resume share all.md", ready}, {"/resume share talk.txt", ready}},
	"resume checkpoints":        {{"/resume checkpoints", ready}},
	"resume checkpoints list":   {{"/resume checkpoint list", ready}},
	"resume checkpoints save":   {{"/resume checkpoint save tag", ready}},
	"resume checkpoints resume": {{"/resume checkpoint resume nothing", ready}},
	"resume checkpoints delete": {{"/resume checkpoint delete tag", "y or n: "}, {"y", ready}},
	"resume checkpoints share":  {{"/resume checkpoint share talk.html", ready}},
	"clear":                     {{"/clear", ready}},
	"commands":                  {{"/commands", ready}},
	"commands list":             {{"/commands list", ready}},
	"commands reload":           {{"/commands reload", ready}},
	"compress":                  {{"/compress what counts", ready}}, // nothing has happened yet
	"copy":                      {{"/copy", ready}},
	"detach":                    {{"/detach now", ready}},
	"detail":                    {{"/detail", ready}, {"/detail full", ready}, {"/detail normal", ready}},
	"directory":                 {{"/directory", ready}},
	"directory show":            {{"/directory show", ready}},
	"directory add":             {{"/directory add ..", ready}, {"/directory add nowhere", ready}},
	"editor":                    {{"/editor", ready}},
	"help":                      {{"/help", ready}, {"/help environment", ready}, {"/help nothing", ready}},
	"history":                   {{"/history", ready}, {"/history help", ready}},
	"hooks":                     {{"/hooks", ready}},
	"hooks panel":               {{"/hooks panel", ready}},
	"hooks enable":              {{"/hooks enable nothing", ready}},
	"hooks disable":             {{"/hooks disable nothing", ready}},
	"hooks enable-all":          {{"/hooks enable-all", ready}},
	"hooks disable-all":         {{"/hooks disable-all", ready}},
	"hooks test":                {{"/hooks test SessionEnd", ready}, {"/hooks test nothing", ready}},
	"ide":                       {{"/ide", ready}},
	"ide status":                {{"/ide status", ready}},
	"ide enable":                {{"/ide enable", ready}},
	"ide disable":               {{"/ide disable", ready}},
	"ide install":               {{"/ide install", ready}},
	"init":                      {{"/init", ready}},
	"last":                      {{"/last", ready}},
	"last csv":                  {{"/last csv", ready}},
	"mcp":                       {{"/mcp", ready}},
	"mcp list":                  {{"/mcp list", ready}},
	"mcp desc":                  {{"/mcp desc", ready}},
	"mcp schema":                {{"/mcp schema", ready}},
	"mcp auth":                  {{"/mcp auth", ready}, {"/mcp auth nothing", ready}},
	"mcp reload":                {{"/mcp reload", ready}},
	"mcp enable":                {{"/mcp enable nothing", ready}},
	"mcp disable":               {{"/mcp disable nothing", ready}},
	"memory":                    {{"/memory", ready}},
	"memory show":               {{"/memory show", ready}},
	"memory list":               {{"/memory list", ready}},
	"memory refresh":            {{"/memory refresh", ready}},
	"memory add":                {{"/memory add tea, not coffee", ready}},
	"model":                     {{"/model", "Enter for no change: "}, {"flash", ready}, {"/model", "Enter for no change: "}, {"", ready}},
	"mode":                      {{"/mode", ready}, {"/mode plan", "\nplan> "}, {"/mode default", ready}, {"/mode nonsense", ready}},
	"model list":                {{"/model list", ready}},
	"model set":                 {{"/model set pro", ready}},
	"permissions":               {{"/permissions", ready}},
	"permissions status":        {{"/permissions status", ready}},
	"permissions trust":         {{"/permissions trust", "not now: "}, {"what?", "not now: "}, {"", ready}},
	"permissions list":          {{"/permissions list", ready}},
	"permissions add":           {{"/permissions add", ready}},
	"permissions deny":          {{"/permissions deny ..", ready}},
	"permissions remove":        {{"/permissions remove ..", ready}},
	"plan":                      {{"/plan", "\nplan> "}, {"/mode default", ready}},
	"quit":                      nil, // ends the session, so it comes last
	"settings":                  {{"/settings", ready}},
	"settings list":             {{"/settings list --origin --all", ready}},
	"settings get":              {{"/settings get ui.accessibility.screenReader", ready}, {"/settings get nothing", ready}},
	"settings set":              {{"/settings set ui.accessibility.screenReader true", ready}},
	"settings unset":            {{"/settings unset ui.accessibility.screenReader", ready}},
	"settings path":             {{"/settings path", ready}},
	"settings validate":         {{"/settings validate", ready}},
	"setup-github":              {{"/setup-github", ready}}, // no repository is here
	"show":                      {{"/show", ready}, {"/show 99", ready}},
	"skills":                    {{"/skills", ready}},
	"skills list":               {{"/skills list all", ready}},
	"skills reload":             {{"/skills reload", ready}},
	"skills enable":             {{"/skills enable nothing", ready}},
	"skills disable":            {{"/skills disable nothing", ready}},
	"skills link":               {{"/skills link nowhere", ready}},
	"stats":                     {{"/stats", ready}},
	"stats session":             {{"/stats session", ready}},
	"stats model":               {{"/stats model", ready}},
	"stats tools":               {{"/stats tools", ready}},
	"stream":                    {{"/stream", ready}, {"/stream final", ready}, {"/stream slowly", ready}},
	"tasks":                     {{"/tasks", ready}},
	"tasks list":                {{"/tasks list", ready}},
	"tasks show":                {{"/tasks show 1", ready}},
	"tasks stop":                {{"/tasks stop 1", ready}},
	"todos":                     {{"/todos", ready}},
	"policies":                  {{"/policies", ready}},
	"policies list":             {{"/policies list", ready}},
	"policies test":             {{"/policies test git log | rm \\x1b", ready}},
	"policies revoke":           {{"/policies revoke", ready}},
	"policies explain":          {{"/policies explain write_file", ready}},
	"tools":                     {{"/tools", ready}},
	"tools list":                {{"/tools list", ready}},
	"tools desc":                {{"/tools desc", ready}},
	"undo":                      {{"/undo", ready}, {"/undo 99", ready}},
	"redo":                      {{"/redo", ready}},
	"changes":                   {{"/changes", ready}},
	"diff":                      {{"/diff", ready}},
	"rewind":                    {{"/rewind", ready}, {"/rewind 99", ready}},
	"restore":                   {{"/restore", ready}, {"/restore 99", ready}},
	"trash":                     {{"/trash", ready}},
	"trash list":                {{"/trash list", ready}},
	"trash restore":             {{"/trash restore nothing", ready}},
	"vim":                       {{"/vim", ready}, {"/vim off", ready}},
}

// others are what a line may be that is no command.
var others = []typed{
	{"/nothing of the kind", ready}, // goes to the model
	{"/hlep", ready},
	{"what does @notes.txt say?", ready},
	{"@nothing.txt and !{", ready},
	{"!echo out; echo err >&2; exit 3", ready},
	{"!printf unended", ready},
	{"!", "\n! "},
	{"pwd", "\n! "},
	{"!", ready},
	{`"""`, "\n... "},
	{"a block", "\n... "},
	{`"""`, ready},
	{`one line \`, "\n... "},
	{"and another", ready},
}

// spelled returns the words of every command, sub-commands included.
func spelled(prefix string, set commands.Set) (all []string) {
	for _, c := range set {
		all = append(append(all, prefix+c.Name), spelled(prefix+c.Name+" ", c.Sub)...)
	}
	return all
}

// everything returns what is typed to use everything once.
func everything(t *testing.T) (lines []typed) {
	t.Helper()
	known := spelled("", commands.Builtin(&commands.Deps{}))
	for _, name := range known {
		use, ok := uses[name]
		if !ok {
			t.Errorf("nobody has looked at /%s on a plain terminal: it needs an entry among the uses", name)
		}
		lines = append(lines, use...)
	}
	for name := range uses {
		if !slices.Contains(known, name) {
			t.Errorf("there is no /%s", name)
		}
	}
	return append(lines, others...)
}

// remarks answer what everything sends to the model.
func remarks() []et.Reply {
	return []et.Reply{et.Says("One."), et.Says("Two."), et.Says("Three."), et.Says("Four."), et.Says("Five.")}
}

// Every command there is, in one session on a terminal that can only append:
// next to nothing at the start, the characters that are typed, text and line
// ends, and every label where a line begins.
func TestEveryCommandInPlainMode(t *testing.T) {
	t.Parallel()
	for _, term := range []string{"dumb", "xterm-256color"} {
		t.Run(term, func(t *testing.T) {
			server := et.NewServer(remarks()...)
			c := pt.Terminal(t, server)
			c.Env = append(c.Env, "EDITOR=true")
			if c.Term = term; term != "dumb" {
				c.Env = append(c.Env, "ACCESSIBLE=1") // plain mode where more is possible
			}
			s := teletype.Start(t, c)
			s.Expect("> ")
			start := s.Transcript()
			if len(start) > 200 {
				t.Errorf("%d bytes before anything was typed: %q", len(start), start)
			}
			shows := string(start)
			for _, key := range "hello world" {
				s.Send(string(key))
				s.Expect(string(key))
				if shows += string(key); string(s.Transcript()) != shows {
					t.Errorf("typing %c shows %q, want %q", key, s.Transcript(), shows)
				}
			}
			s.Send("\x15") // Ctrl-U, which the terminal itself carries out
			session := len(shows)
			for _, l := range everything(t) {
				s.Line(l.line)
				s.Expect(l.until)
			}
			s.Line("/quit")
			pt.Succeeds(t, s)
			pt.CheckPlain(t, afterRubout(s.Transcript()[session:]))
			if bytes.Contains(s.Transcript(), []byte("a-key-typed")) {
				t.Error("the key is on the screen")
			}
			if n := len(pt.Streamed(server)); n != len(remarks()) {
				t.Errorf("%d requests", n)
			}
		})
	}
}

// afterRubout returns a transcript without what the terminal does to take a
// line back.
func afterRubout(b []byte) []byte {
	for len(b) > 2 && string(b[:3]) == "\b \b" {
		b = b[3:]
	}
	return b
}

// managing is how the sub-commands of the command line are used.
var managing = map[string][][]string{
	"config":       {{"list", "--all", "--origin"}, {"get", "nothing"}, {"path"}, {"validate"}, {"--help"}},
	"trust":        {{"status"}, {"list"}, {"add"}},
	"auth":         {{"status"}, {"use", "nothing"}},
	"schema":       {{}, {"result"}},
	"sessions":     {{"list"}, {"show", "latest"}, {"delete", "3"}},
	"models":       {{}, {"--online"}},
	"policy":       {{}, {"test", "--", "ls"}, {"revoke"}, {"explain", "glob"}},
	"tools":        {{}, {"show", "read_file"}},
	"sandbox":      {{}, {"status"}, {"run"}, {"run", "--", "echo", "hello"}},
	"doctor":       {{}, {"--online"}},
	"help":         {{}, {"environment"}, {"me"}, {"config", "set"}},
	"completion":   {{"bash"}, {"tcsh"}},
	"hooks":        {{}, {"list"}, {"test", "SessionEnd"}, {"migrate"}},
	"hook":         {{"list"}},
	"inspect":      {{}, {"nothing.jsonl"}},
	"man":          {{}},
	"mcp":          {{"list"}, {"test", "nothing"}, {"remove", "nothing"}},
	"worktree":     {{}, {"list"}, {"remove", "nothing"}, {"prune"}},
	"undo":         {{}, {"--dry-run"}},
	"update":       {{}},
	"a2a":          {{"serve", "--help"}},
	"attach":       {{}, {"nothing"}},
	"agents":       {{}, {"list"}, {"show", "generalist"}, {"validate"}},
	"skills":       {{}, {"list", "--all"}, {"uninstall", "nothing"}},
	"skill":        {{"list"}},
	"extensions":   {{}, {"list"}, {"update", "nothing"}, {"validate", "."}},
	"extension":    {{"list"}},
	"setup-github": {{}},
	"trash":        {{}, {"list"}, {"restore", "nothing"}},
}

// The sub-commands of the command line keep to the same rules.
func TestEverySubCommandInPlainMode(t *testing.T) {
	t.Parallel()
	for _, name := range cli.Names() {
		calls, ok := managing[name]
		if !ok {
			t.Errorf("nobody has looked at gemline %s on a plain terminal: it needs an entry here", name)
		}
		for _, args := range calls {
			t.Run(strings.Join(append([]string{name}, args...), " "), func(t *testing.T) {
				c := pt.Terminal(t, et.NewServer())
				c.Args = append([]string{name}, args...)
				s := teletype.Start(t, c)
				s.Exit()
				if len(s.Transcript()) == 0 {
					t.Error("nothing is shown")
				}
				pt.CheckPlain(t, s.Transcript())
			})
		}
	}
}

// In smart mode a key costs what it shows: two bytes at most on average, and
// nothing is erased or drawn again.
func TestTypingInSmartMode(t *testing.T) {
	t.Parallel()
	const text = "hello world"
	for _, term := range []string{"xterm", "xterm-256color", "screen", "linux", "vt100"} {
		t.Run(term, func(t *testing.T) {
			server := et.NewServer(et.Says("Hi."))
			c := pt.Terminal(t, server)
			c.Term = term
			s := teletype.Start(t, c)
			s.Expect("> ")
			if n := len(s.Transcript()); n > 200 {
				t.Errorf("%d bytes before anything was typed: %q", n, s.Transcript())
			}
			s.Send("a") // the editor begins
			s.Expect("a")
			s.Send("\x7f")
			s.Expect("\b \b")
			before := len(s.Transcript())
			for _, key := range text {
				s.Send(string(key))
				s.Expect(string(key))
			}
			if added := s.Transcript()[before:]; len(added) > 2*len(text) || strings.ContainsAny(string(added), "\x1b\r\b") {
				t.Errorf("typing %q writes %d bytes: %q", text, len(added), added)
			}
			s.Send("\r")
			s.Expect("Hi.")
			s.Say("/quit")
			s.Exit()
		})
	}
}

// A word that everybody knows for a command is one where it stands alone on a
// line, and so is one behind a slash, unless there is such a file. None of them
// is sent to the model, and all else is. After -p they are words.
func TestWordsThatAreCommands(t *testing.T) {
	t.Parallel()
	for _, leave := range []string{"exit", "quit"} {
		server := et.NewServer()
		server.Respond = func(r et.Received) et.Reply { return et.Says("Heard.") }
		c := pt.Terminal(t, server)
		s := teletype.Start(t, c)
		s.Expect("> ")
		for _, line := range []struct{ typed, answer string }{
			{"?", "Type a question or a task"},
			{"help", "Type a question or a task"},
			{"/frobnicate", "error: unknown command /frobnicate; /help lists those there are\r\n"},
			{"/hlep", "error: unknown command /hlep; did you mean /help?\r\n"},
			{"/tmp", "gemini: Heard."},
			{"/frobnicate the list", "gemini: Heard."},
			{"/usr/bin/true", "gemini: Heard."},
			{"help me", "gemini: Heard."},
		} {
			before := len(server.Requests())
			s.Line(line.typed)
			s.Expect(line.answer)
			s.Expect("> ")
			if sent := len(server.Requests()) > before; sent != strings.HasPrefix(line.answer, "gemini") {
				t.Errorf("%s: sent to the model is %v", line.typed, sent)
			}
		}
		s.Line(leave)
		if code := s.Exit(); code != 0 {
			t.Errorf("%s: exit code %d", leave, code)
		}
		for _, word := range []string{"?", "help", leave, "/frobnicate"} {
			c.Args = []string{"-p", word}
			if out := pt.Printed(t, c); out != "Heard.\n" {
				t.Errorf("-p %s: %q", word, out)
			}
		}
	}
}

// What a hook says about a command of a custom command is printed at once, whether or not the prompt is sent.
func TestHookOfACustomCommand(t *testing.T) {
	t.Parallel()
	c := pt.Terminal(t, et.NewServer())
	pt.Write(t, pt.HomeOf(c), map[string]string{".gemini/commands/greet.toml": "prompt = 'say !{echo hello}'",
		".gemini/settings.json": `{"hooks": {"BeforeTool": [{"hooks": [{"type": "command", "name": "strict", "command": "echo '{\"decision\":\"deny\",\"reason\":\"no\",\"systemMessage\":\"seen\"}'"}]}]}}`})
	s := teletype.Start(t, c)
	s.Expect("> ")
	s.Line("/greet")
	s.Expect("error: ")
	s.Expect("> ")
	if shown := string(s.Transcript()); !strings.Contains(shown, "info: hook strict: seen") {
		t.Errorf("printed: %q", shown)
	}
	s.Line("/quit")
	pt.Succeeds(t, s)
}

// A custom command may be the first thing of a session, and its name completed: what is
// wrong with the files is told below the line, not in it, and what it runs is shown.
func TestCustomCommandOnATerminal(t *testing.T) {
	t.Parallel()
	server := et.NewServer(et.Says("Heard."))
	c := pt.Terminal(t, server)
	c.Term = "xterm"
	pt.Write(t, pt.HomeOf(c), map[string]string{".gemini/commands/greet.toml": "prompt = 'say !{echo hello} back'",
		".gemini/commands/help.toml": "prompt = 'x'"})
	s := teletype.Start(t, c)
	s.Expect("> ")
	s.Send("/gre\t")
	s.Expect("/greet")
	s.Send("\r")
	s.Expect("User command /help is /user.help here")
	s.Expect("run: echo hello")
	s.Expect("Heard.")
	s.Expect("> ")
	s.Line("/quit")
	pt.Succeeds(t, s)
	if shown := string(s.Transcript()); strings.Contains(shown, "/grewarning") {
		t.Errorf("the warning is in the line that is typed: %q", shown)
	}
	if sent := string(server.Requests()[0].Body); !strings.Contains(sent, "say hello back") {
		t.Errorf("sent: %s", sent)
	}
}
