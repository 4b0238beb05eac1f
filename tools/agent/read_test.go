package agent_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gemline/tools/agent"
)

func Example() {
	list, err := agent.Parse("reviewer.md", `---
name: reviewer
description: Reviews a change.
tools: [read_file, "mcp_git_*"]
max_turns: 5
---
You review.
`)
	fmt.Println(list[0].Name, list[0].Access.Tools, list[0].Turns(), list[0].Limit(), list[0].Prompt.Text, err)
	list, err = agent.Parse("reviewer.md", "---\nname: reviewer\ndescription: x\nmax_turn: 5\n---\n")
	fmt.Println(list[0].Misread[0], err)
	// Output:
	// reviewer [read_file mcp_git_*] 5 10m0s You review. <nil>
	// reviewer.md:4: "max_turn" means nothing; did you mean max_turns? <nil>
}

func TestParse(t *testing.T) {
	t.Parallel()
	all := "---\nkind: local\nname: a_1-b\ndescription: >\n  two\n  lines\ndisplay_name: A\ntools: []\nmodel: inherit\ntemperature: 0\n" +
		"timeout_mins: 3\nmcp_servers:\n  git:\n    command: git-mcp\n    args: [a]\n    http_url: x\n    include_tools: [b]\n    auth: {type: oauth, client_id: c}\n---\r\n\r\nBe.\r\n"
	list, err := agent.Parse("f", all)
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	d := list[0]
	if d.Name != "a_1-b" || d.Description != "two lines" || d.Label != "A" || d.Access.Tools == nil || len(d.Access.Tools) > 0 || d.Model.Name != "" || *d.Model.Config.Temperature != 0 ||
		d.Limit() != 3*time.Minute || d.Turns() != agent.DefaultTurns || d.Prompt.Text != "Be." ||
		fmt.Sprint(d.Access.Servers) != "map[git:map[args:[a] command:git-mcp httpUrl:x includeTools:[b] oauth:map[clientId:c enabled:true]]]" {
		t.Errorf("%+v", d)
	}
	for body, want := range map[string]string{
		"":                                                 "f:1: it does not begin with a line ---",
		"name: x":                                          "f:1: it does not begin with a line ---",
		"---\nname: x\n":                                   "f:1: it does not begin with a line ---",
		"---\n---\n":                                       "f:1: nothing stands between the lines ---",
		"---\n- a\n---\n":                                  "f:2: what stands between the lines --- is no mapping",
		"---\njust words\n---\n":                           "f:2: what stands between the lines --- is no mapping",
		"---\nname: x\n---\n":                              "f:2: description is missing",
		"---\ndescription: x\n---\n":                       "f:2: name is missing",
		"---\nname: ../x\n---":                             "f:2: name is made of small letters",
		"---\nname: 12\n---":                               "f:2: name is no text",
		"---\nname: x\nname: y\n---":                       "f:3: name stands there twice",
		"---\nname: x\nmax_turns: 0\n---":                  "f:3: max_turns is no number from 1",
		"---\nname: x\nmax_turns: 1.5\n---":                "f:3: max_turns is no whole number",
		"---\nname: x\nmax_turns: many\n---":               "f:3: max_turns is no number",
		"---\nname: x\ntemperature: 3\n---":                "f:3: temperature is no number from 0 to 2",
		"---\nname: x\ntemperature: .nan\n---":             "f:3: temperature is no number",
		"---\nname: x\nkind: far\n---":                     "f:3: kind is local or remote",
		"---\nname: x\n\tdescription: y\n---":              "f:2: name is made of small letters",
		"---\nname: [x\n---":                               "f:",
		"---\na: &a [*a]\n---":                             "f:",
		"---\nname: x\nmcp_servers: {a: {comand: b}}\n---": "f:3: unknown key \"comand\"; did you mean command?",
		"---\nname: x\nmcp_servers: {a: {auth: {type: x}}}\n---": "f:3: the type of auth is",
		"---\nname: x\nmcp_servers: {a: {env: &e {a: *e}}}\n---": "f:3: ",
		"---\nname: x\ndescription: y\x80\n---":                  "f:1: it is not UTF-8",
		"---\n- name: x\n  description: y\n---":                  "f:2: a list holds agents on other servers",
	} {
		_, err := agent.Parse("f", body)
		if fe := (*agent.FileError)(nil); !errors.As(err, &fe) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, not %s", body, err, want)
		}
	}
	list, err = agent.Parse("f", "---\n- name: one\n  agent_card_url: http://127.0.0.1/card\n- {kind: remote, name: two, agent_card_json: '{\"url\": \"https://example.com\", \"description\": \"Does.\"}', auth: {type: apiKey, key: k}}\n---\n")
	if err != nil || len(list) != 2 || list[1].Name != "two" || list[1].Description != "Does." || list[0].Remote == nil || list[1].Remote == nil || list[1].Remote.Auth.Key != "k" {
		t.Errorf("%+v, %v", list, err)
	}
}

// Whatever a file holds, it is an agent that can be told of or an error with a line.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"---\nname: a\ndescription: b\n---\nc", "---\n- &a {x: *a}\n---\n", "---\n? !!map {a}\n: 1\n---", "---\nname: !!binary aa\n<<: {a: 1}\n---\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, source string) {
		list, err := agent.Parse("f", source)
		if fe := (*agent.FileError)(nil); err != nil && (!errors.As(err, &fe) || fe.Line < 1) {
			t.Error(err)
		}
		for _, d := range list {
			if err == nil && (d.Name == "" || d.Turns() < 1 || d.Limit() < time.Minute || strings.ContainsAny(d.Name, "\x1b\n/")) {
				t.Errorf("%+v", d)
			}
		}
	})
}

// Of a folder that is not as it should be, what can be used is.
func TestLoad(t *testing.T) {
	t.Parallel()
	dir, other, outside := t.TempDir(), t.TempDir(), t.TempDir()
	put := func(path, content string) {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	agentOf := func(name string) string { return "---\nname: " + name + "\ndescription: x\n---\n" + name }
	put(filepath.Join(outside, "out.md"), agentOf("out"))
	put(filepath.Join(dir, "good.md"), agentOf("good"))
	put(filepath.Join(dir, "again.md"), agentOf("good"))
	put(filepath.Join(dir, "shadow.md"), agentOf(agent.Investigator))
	put(filepath.Join(dir, "_draft.md"), "no agent")
	put(filepath.Join(dir, "notes.txt"), "no agent")
	put(filepath.Join(dir, "bad.md"), "no agent")
	put(filepath.Join(dir, "huge.md"), agentOf("huge")+strings.Repeat("x", 10<<20))
	os.Mkdir(filepath.Join(dir, "sub.md"), 0o700)
	os.Symlink(filepath.Join(outside, "out.md"), filepath.Join(dir, "link.md"))
	for i := range 1000 {
		put(filepath.Join(other, fmt.Sprintf("a%04d.md", i)), agentOf(fmt.Sprintf("a%d", i)))
	}
	reads := 0
	l := agent.Library{Sources: func() []agent.Source {
		reads++
		return []agent.Source{{Name: "project", Dir: dir, Within: true}, {Name: "user", Dir: other}, {Name: "none", Dir: filepath.Join(dir, "none")}}
	}}
	list, problems := l.Find(agent.BuiltIn()...)
	var names, said []string
	for _, d := range list {
		names = append(names, d.Source+":"+d.Name)
	}
	for _, err := range problems {
		said = append(said, strings.ReplaceAll(err.Error(), dir, "DIR"))
	}
	if got := strings.Join(names[:5], " "); got != "built-in:codebase_investigator built-in:cli_help built-in:generalist project:good user:a0" || len(list) != 204 {
		t.Errorf("%d: %s", len(list), got)
	}
	if list[3].Prompt.Text != "good" || !strings.HasSuffix(list[3].File, "again.md") {
		t.Errorf("%+v", list[3])
	}
	for i, want := range []string{"DIR/bad.md:1: it does not begin", "DIR/huge.md:1: is larger than", "DIR/link.md:1: it is a link that leads out of the folder",
		"holds more than 200 files", "DIR/good.md: the agent good is not used, since DIR/again.md has that name",
		"DIR/shadow.md: the agent codebase_investigator is not used, since one that is built in has that name"} {
		if i >= len(said) || !strings.Contains(said[i], want) {
			t.Errorf("%q is not in %q", want, said)
		}
	}
	l.Find()
	if l.Forget(); reads != 1 {
		t.Errorf("read %d times", reads)
	}
	put(filepath.Join(dir, "_late.md"), "")
	if list, _ := l.Find(); reads != 2 || len(list) != 202 {
		t.Errorf("%d agents, read %d times", len(list), reads)
	}
}

// Files that were written for other agents are used, with their lists, names of tools and
// models; what has no effect is noted.
func TestParseForeign(t *testing.T) {
	t.Parallel()
	const (
		noModel = "f:4: the model is no text, or an empty one; quotes make one of a number; the model of the conversation answers"
		noName  = "f:4: the name of a tool is no text, or an empty one; quotes make one of a number; it is left out"
	)
	for name, c := range map[string]struct{ head, want string }{
		"Claude Code's": {"name: r\ndescription: Use when: asked\ntools: Read, Grep\nmodel: opus\ncolor: red",
			"r [read_file grep_search] not [] opus | f:5: the model opus is another vendor's; the model of the conversation answers | f:6: unknown, and without effect: color"},
		"all of its keys": {"name: r\ndescription: x\ndisallowedTools: Write, Edit\npermissionMode: plan\nmaxTurns: 7\nskills:\n  - a\nmemory: user\nhooks: {}\nmodel: inherit",
			"r nil not [write_file replace] | f:5: unknown, and without effect: permissionMode, skills, memory and hooks"},
		"its tools": {"name: r\ndescription: x\ntools: Bash(git *), Bash(*), mcp__git__log, mcp__db, Task(a, b), NotebookEdit, TodoWrite, LS, WebFetch",
			`r [run_shell_command mcp_git_log mcp_db_* write_todos list_directory web_fetch] not [] | f:4: "Bash(git *)" is left out: an agent has a tool as a whole, and rules say for what | ` +
				`f:4: "Task(a, b)" is left out: an agent has a tool as a whole, and rules say for what | f:4: "NotebookEdit" is no tool here, and left out`},
		"blanks":     {"name: r\ndescription: x\ntools: Read Glob\n", "r [read_file glob] not []"},
		"no list":    {"name: r\ndescription: x\ntools:\n", "r nil not []"},
		"all":        {"name: r\ndescription: x\ntools: '*'\n", "r [*] not []"},
		"a list":     {"name: r\ndescription: x\ntools:\n  - Read\n  - mcp_git_*\n  - a b\n", `r [read_file mcp_git_*] not [] | f:7: "a b" is no name of a tool, and left out; a * stands for any ending`},
		"a name":     {"name: Code Reviewer\ndescription: x", "code-reviewer nil not [] | f:2: it is called code-reviewer: a name is made of small letters, digits, - and _"},
		"other keys": {"name: r\ndescription: x\nallowed-tools: Read\ncolour: red", "r [read_file] not [] | f:5: unknown, and without effect: colour"},
		"tools that are none": {"name: r\ndescription: x\ntools: [read_fil, nosuchtool, discovered_tool_x]\ndisallowedTools: [write_fil]",
			`r [read_fil nosuchtool discovered_tool_x] not [write_fil write_file] | f:4: "nosuchtool" is no tool here; a tool of a server is called mcp_SERVER_TOOL | ` +
				"f:4: there is no tool read_fil; did you mean read_file? | f:5: there is no tool write_fil; did you mean write_file? The agent has neither"},
		"tols":                  {"name: r\ndescription: x\ntols: [read_file]", `r [] not [] | f:4: "tols" means nothing; did you mean tools? The agent has no tools`},
		"tool_list":             {"name: r\ndescription: x\ntool_list: read_file, glob", `r [] not [] | f:4: "tool_list" means nothing; did you mean tools? The agent has no tools`},
		"tool_choice":           {"name: r\ndescription: x\ntool_choice: auto\ntitle: x\ntags: [a]\nhooks: [b]", "r nil not [] | f:4: unknown, and without effect: tool_choice, title, tags and hooks"},
		"a colon":               {"name: r\ndescription: Examples: <example>Context: a \"b\" it's</example>\nmax_turns: 3\ntools: [read_file]", "r [read_file] not []"},
		"a number for a list":   {"name: r\ndescription: x\ntools: 5", "r [] not [] | f:4: tools is no list of names, such as [read_file, grep_search]; the agent has none"},
		"a mapping for a list":  {"name: r\ndescription: x\ntools: {read: true}", "r [] not [] | f:4: tools is no list of names, such as [read_file, grep_search]; the agent has none"},
		"true for a list":       {"name: r\ndescription: x\ntools: true", "r [] not [] | f:4: tools is no list of names, such as [read_file, grep_search]; the agent has none"},
		"a number in a list":    {"name: r\ndescription: x\ntools: [1, Read, [a], '']", "r [read_file] not [] | " + noName + " | " + noName + " | " + noName},
		"a number for a denial": {"name: r\ndescription: x\ntools: Read\ndisallowedTools: 5", "r [read_file] not [*] | f:5: disallowedTools is no list of names, such as [write_file, replace]; the agent has no tools"},
		"a list for a model":    {"name: r\ndescription: x\nmodel: [a]", "r nil not [] | " + noModel},
		"no model":              {"name: r\ndescription: x\nmodel:", "r nil not [] | " + noModel},
		"an empty model":        {"name: r\ndescription: x\nmodel: ' '", "r nil not [] | " + noModel},
		"a number for a model":  {"name: r\ndescription: x\nmodel: 3.5", "r nil not [] | " + noModel},
		"a mapping for a model": {"name: r\ndescription: x\nmodel: {name: a}", "r nil not [] | " + noModel},
		"a tag for a model":     {"name: r\ndescription: x\nmodel: !a b", "r nil not [] | f:4: the model begins with !, and so has to stand in quotes; the model of the conversation answers"},
		"Google's model":        {"name: r\ndescription: x\nmodel: gemini-of-the-day", "r nil not [] gemini-of-the-day"},
	} {
		list, err := agent.Parse("f", "---\n"+c.head+"\n---\nP")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		d := list[0]
		got := fmt.Sprintf("%s %v not %v %s", d.Name, d.Access.Tools, d.Access.Except, d.Model.Name)
		if d.Access.Tools == nil {
			got = fmt.Sprintf("%s nil not %v %s", d.Name, d.Access.Except, d.Model.Name)
		}
		got = strings.TrimSpace(got)
		for _, n := range d.Notes {
			got += " | " + n.Error()
		}
		for _, err := range d.Misread {
			got += " | " + err.Error()
		}
		if got != c.want || d.Prompt.Text != "P" || d.Description == "" {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
	}
}

// A remote agent whose log-in is not in use yet can't be called. The others of its file can.
func TestOAuthAgent(t *testing.T) {
	list, err := agent.Parse("f", "---\n- name: a\n  agent_card_url: http://a.b/c\n  auth: {type: oauth, client_id: x, scopes: [s], audiences: [y]}\n"+
		"- name: b\n  agent_card_url: http://a.b/d\n---\n")
	if err != nil || len(list) != 2 || !strings.Contains(list[0].DisabledReason, "not in use yet") || list[1].DisabledReason != "" {
		t.Fatalf("%+v, %v", list, err)
	}
	if said := fmt.Sprint(list[0].Misread); !strings.Contains(said, "f:4: the agent can't be called: auth of the type oauth") {
		t.Error(said)
	}
}

func TestOtherVendor(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"opus": true, "Sonnet": true, "haiku": true, "sonnet[1m]": true, "opusplan": true, "claude-x-1": true, "anthropic/claude-x": true,
		"gpt-9": true, "gpt9-codex": true, "o3": true, "o4-mini": true, "openai/o1": true, "deepseek-chat": true, "qwen3-coder": true, "llama3": true,
		"": false, "pro": false, "flash": false, "auto": false, "gemini-9": false, "models/gemini-9": false, "gemma-9": false,
		"o365": false, "novel": false, "opuscule": false, "my-alias": false, "globus": false,
	} {
		if got := agent.OtherVendor(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
