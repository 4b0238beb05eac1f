package prompt

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the files in testdata")

// golden compares got with a file in testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.WriteFile(path, []byte(got+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(strings.ReplaceAll(string(want), "\r\n", "\n"), got+"\n"); d != "" {
		t.Errorf("%s (-want +got; go test -update rewrites it):\n%s", path, d)
	}
}

var (
	looking = []string{"read_file", "list_directory", "glob", "grep_search"}
	all     = append([]string{"write_file", "replace", "run_shell_command", "web_fetch", "write_todos", "ask_user", "invoke_agent", "activate_skill"}, looking...)
)

func full() Config {
	return Config{Tools: all, Interactive: true, Mode: "yolo", Git: true, Sandbox: "landlock", Hooks: true,
		Agents: []Entry{{Name: "scout", Description: "finds things"}}, Skills: []Entry{{Name: "pdf", Description: "reads PDF files", Location: "/s/pdf/SKILL.md"}},
		Context: Context{Global: "--- Context from: /h/.gemini/GEMINI.md ---\nbe kind\n\n\n\nand brief\n--- End of Context from: /h/.gemini/GEMINI.md ---", Private: "The tests need a free port.", Names: []string{"AGENTS.md", "GEMINI.md"}},
		Files:   Files{Global: "/h/.gemini/GEMINI.md", Notes: "/h/.gemini/tmp/app/memory/MEMORY.md"}}
}

func TestSystem(t *testing.T) {
	for name, cfg := range map[string]Config{
		"headless":    {Tools: looking, Git: true, Mode: "default"},
		"interactive": {Tools: all[:len(all)-len(looking)-2], Interactive: true, Git: true, Mode: "default"},
		"everything":  full(),
		"plan":        {Tools: append([]string{"write_file", "exit_plan_mode", "ask_user"}, looking...), Interactive: true, Mode: "plan", Files: Files{Plans: "/h/.gemini/tmp/app/1/plans"}},
		"planless":    {Tools: looking, Mode: "plan", Sandbox: "sandbox-exec"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := System(cfg)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, name, got)
			for _, bad := range []string{"{", "}", "\n\n\n", "\u2014"} {
				if strings.Contains(got, bad) {
					t.Errorf("the text contains %q", bad)
				}
			}
		})
	}
}

// TestShort holds the text to what it may cost: it goes out with every request.
func TestShort(t *testing.T) {
	headless, _ := System(Config{Tools: append([]string{"write_file", "replace", "run_shell_command", "web_fetch"}, looking...), Git: true, Sandbox: "landlock"})
	if n := len(headless); n >= 5000 {
		t.Errorf("headless: %d bytes, want fewer than 5000", n)
	}
	everything, _ := System(full())
	if n := len(everything); n >= 6500 {
		t.Errorf("with everything: %d bytes, want fewer than 6500", n)
	}
}

func TestOnlyWhatExists(t *testing.T) {
	got, _ := System(Config{})
	for _, absent := range []string{"run_shell_command", "write_todos", "ask_user", "untrusted_context", "hook_context", "skill", "# Git", "# Sandbox", "/help", "loaded_context", "is_background"} {
		if strings.Contains(got, absent) {
			t.Errorf("%q is mentioned", absent)
		}
	}
	got, _ = System(full())
	for _, present := range []string{"untrusted_context", "hook_context", "activate_skill", "# Git", "# Sandbox", "/help", "be kind", "scout", "(AGENTS.md, GEMINI.md)"} {
		if !strings.Contains(got, present) {
			t.Errorf("%q is not mentioned", present)
		}
	}
}

// TestSections checks that every section has a text, and every text a section
// that can be left out.
func TestSections(t *testing.T) {
	entries, err := texts.ReadDir("section")
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != len(sections()) {
		t.Errorf("%d texts for %d sections", len(entries), len(sections()))
	}
	for _, s := range sections() {
		cfg := full()
		if s.key == "PLANNINGWORKFLOW" {
			cfg.Mode = "plan"
		}
		with, _ := System(cfg)
		cfg.Override.Disabled = Disabled(func(name string) string {
			if name == "GEMINI_PROMPT_"+s.key {
				return "False"
			}
			return ""
		})
		without, _ := System(cfg)
		if len(cfg.Override.Disabled) != 1 || len(without) >= len(with) {
			t.Errorf("%s can't be left out", s.key)
		}
	}
	if off := Disabled(func(string) string { return "1" }); len(off) != 0 {
		t.Errorf("1 disables %v", off)
	}
}

func TestChoose(t *testing.T) {
	holds := func(c string) bool { return c == "yes" || c == "so" }
	for in, want := range map[string]string{
		"plain\n":                     "plain\n",
		"{yes} a\n{no} b\n{!no} c\n":  "a\nc\n",
		"{yes}{so} a\n{yes}{no} b\n":  "a\n",
		"{no|so} a\n{!no|so} b\n{}c":  "a\n",
		"{yes}   a\n{unclosed\n":      "  a\n{unclosed\n",
		"a {yes} stays, ${too}\n{no}": "a {yes} stays, ${too}\n",
	} {
		if got := applyConditions(in, holds); got != want {
			t.Errorf("applyConditions(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzChoose(f *testing.F) {
	f.Add("{yes}{!no|so} a\n{\n}{")
	f.Fuzz(func(t *testing.T, text string) {
		if got := applyConditions(text, func(string) bool { return true }); len(got) > len(text) {
			t.Errorf("applyConditions(%q) = %q", text, got)
		}
	})
}

func TestOverride(t *testing.T) {
	root, home := t.TempDir(), t.TempDir()
	os.Mkdir(filepath.Join(root, ".gemini"), 0o755)
	own := "Tools:\n${AvailableTools}\nUse ${read_file_ToolName}, not ${nosuch_ToolName}.\n${SubAgents}|${AgentSkills}|"
	os.WriteFile(filepath.Join(root, ".gemini", "system.md"), []byte(own), 0o644)
	os.WriteFile(filepath.Join(home, "mine.md"), []byte("mine \xff"), 0o644)
	os.WriteFile(filepath.Join(root, "large.md"), make([]byte, maxReplacement+1), 0o644)
	for _, c := range []struct{ name, value, want, err string }{
		{"on", "TRUE", "Tools:\n- read_file\n- glob\nUse read_file, not ${nosuch_ToolName}.\n||", ""},
		{"one", "1", "Tools:\n- read_file\n- glob\nUse read_file, not ${nosuch_ToolName}.\n||", ""},
		{"path", filepath.Join(".gemini", "system.md"), "Tools:\n- read_file\n- glob\nUse read_file, not ${nosuch_ToolName}.\n||", ""},
		{"home", "~/mine.md", "mine \ufffd", ""},
		{"off", "0", "You are gemline", ""},
		{"false", "false", "You are gemline", ""},
		{"missing", "nowhere.md", "", "missing system prompt file '" + filepath.Join(root, "nowhere.md") + "'"},
		{"directory", ".", "", ": is a directory"},
		{"too large", "large.md", "", "is larger than"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := System(Config{Override: Override{SystemMD: c.value}, Environment: Environment{Roots: []string{root}, Home: home}, Tools: []string{"read_file", "glob"}, Context: Context{Global: "GLOBAL"}})
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) || got != "" {
					t.Errorf("got %q, %v", got, err)
				}
				return
			}
			if err != nil || !strings.HasPrefix(got, c.want) || !strings.Contains(got, "GLOBAL") {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

func TestWrite(t *testing.T) {
	root := t.TempDir()
	cfg := Config{Environment: Environment{Roots: []string{root}}, Override: Override{WriteSystemMD: "1"}}
	text, err := System(cfg)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(root, ".gemini", "system.md"))
	if err != nil || string(b) != text {
		t.Errorf("written %q, %v", b, err)
	}
	cfg.Override.WriteSystemMD = filepath.Join(root, ".gemini", "system.md", "x")
	if again, err := System(cfg); err == nil || again != text {
		t.Errorf("into a file that can't be: %v, %d bytes", err, len(again))
	}
}
