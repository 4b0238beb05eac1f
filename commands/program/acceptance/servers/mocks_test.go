package servers

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
)

// TestMocks asks two servers that others wrote. The first speaks all protocols, the second
// streams the answers of its configuration.
func TestMocks(t *testing.T) {
	t.Parallel()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	modules := filepath.Join(cache, "gemline-tests", "mcp", "node_modules")
	for _, name := range []string{"@copilotkit/aimock", "@dwmkerr/mock-llm"} {
		if _, err := os.Stat(filepath.Join(modules, filepath.FromSlash(name))); err != nil {
			pt.Lack(t, err)
		}
	}
	mocks := exec.Command(pt.Need(t, "node"), filepath.Join("commands/program/acceptance/testdata/mocks/mocks.mjs"), modules)
	mocks.Stderr = os.Stderr
	in, err := mocks.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := mocks.StdoutPipe()
	if err == nil {
		err = mocks.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer mocks.Wait()
	defer in.Close()
	lines := bufio.NewScanner(out)
	lines.Scan()
	all := lines.Text()
	lines.Scan()
	streams := lines.Text()

	dir := t.TempDir()
	home, project := filepath.Join(dir, "home"), filepath.Join(dir, "project")
	pt.Write(t, home, map[string]string{".gemini/settings.json": `{"providers": {
		"compatible": {"protocol": "openai", "baseUrl": "` + all + `/v1", "keyVariable": "MOCK_KEY"},
		"anthropic": {"baseUrl": "` + all + `"}, "ollama": {"baseUrl": "` + all + `"},
		"streams": {"protocol": "openai", "baseUrl": "` + streams + `/v1"}}}`})
	pt.Write(t, project, map[string]string{"a.txt": "Hello.\n", "b.txt": ""})
	for _, c := range []struct{ model, prompt, out, errs string }{
		{"compatible/gpt-4o", "list them", "Two files are there.\n", ""},
		{"compatible/gpt-4o", "think of it", "It is so.\n", ""},
		{"compatible/gpt-4o", "refuse", "", "no such thing"},
		{"anthropic/claude-sonnet-5", "list them", "Two files are there.\n", ""},
		{"anthropic/claude-sonnet-5", "think of it", "It is so.\n", ""},
		{"anthropic/claude-sonnet-5", "refuse", "", "no such thing"},
		{"ollama/qwen3:4b", "list them", "Two files are there.\n", ""},
		{"ollama/qwen3:4b", "think of it", "It is so.\n", ""},
		{"ollama/qwen3:4b", "refuse", "", "no such thing"},
		{"streams/echo", "say a line", "A line that comes in pieces.\n", ""},
		{"streams/echo", "refuse", "", "no such thing"},
	} {
		cmd := exec.Command(pt.Self(t), "-m", c.model, "-p", c.prompt)
		cmd.Dir = project
		cmd.Env = pt.Environment(home, nil, "GEMINI_CLI_TRUST_WORKSPACE=true", "MOCK_KEY=key", "ANTHROPIC_API_KEY=key")
		var errs strings.Builder
		cmd.Stderr = &errs
		said, err := cmd.Output()
		if string(said) != c.out || !strings.Contains(errs.String(), c.errs) || (err != nil) != (c.errs != "") {
			t.Errorf("%s, %q: %v\n%s%s", c.model, c.prompt, err, said, errs.String())
		}
	}
	in.Close()
	lines.Scan()
	for _, path := range []string{"/v1/chat/completions", "/v1/messages", "/api/chat"} {
		if n := strings.Count(lines.Text(), `["`+path+`",200]`); n != 3 {
			t.Errorf("%d answers at %s: %s", n, path, lines.Text())
		}
	}
}
