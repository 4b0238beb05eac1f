package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestImports holds the packages to who may import whom. docs/design.md says
// why.
func TestImports(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	const anything = "*"
	// Of our own packages, what each may import. The longest prefix counts.
	allowed := map[string][]string{
		"gemline":                         {anything},
		"gemline/engine":                  {},
		"gemline/engine/auth":             {},
		"gemline/engine/disk":             {},
		"gemline/engine/enginetest":       {"gemline/engine"},
		"gemline/engine/journal":          {"gemline/engine"},
		"gemline/engine/limit":            {"gemline/engine"},
		"gemline/engine/memory":           {"gemline/engine/disk"},
		"gemline/engine/model":            {"gemline/engine", "gemline/engine/redact"},
		"gemline/engine/policy":           {"gemline/engine", "gemline/engine/disk"},
		"gemline/engine/prompt":           {},
		"gemline/engine/redact":           {},
		"gemline/engine/schema":           {},
		"gemline/engine/tally":            {"gemline/engine"},
		"gemline/settings":                {"gemline/engine/redact", "gemline/settings/jsonc"},
		"gemline/settings/jsonc":          {},
		"gemline/settings/extension":      {},
		"gemline/tools":                   {"gemline/engine", "gemline/engine/redact", "gemline/tools/edit", "gemline/tools/sandbox", "gemline/tools/shell", "gemline/tools/shell/safe", "gemline/tools/shell/script", "gemline/tools/web", "gemline/tools/workspace"},
		"gemline/tools/edit":              {},
		"gemline/tools/gitconfig":         {},
		"gemline/tools/shell":             {"gemline/engine/redact"},
		"gemline/tools/sandbox":           {"gemline/tools/sandbox/stage"},
		"gemline/tools/shell/safe":        {"gemline/engine", "gemline/tools/gitconfig", "gemline/tools/shell/script"},
		"gemline/tools/shell/script":      {"gemline/engine"},
		"gemline/tools/web":               {},
		"gemline/tools/web/weblab":        {},
		"gemline/tools/workspace":         {"gemline/engine/disk"},
		"gemline/commands":                {"gemline/commands/cli", "gemline/engine", "gemline/engine/memory", "gemline/engine/model", "gemline/engine/policy", "gemline/engine/tally", "gemline/repl/input", "gemline/repl/markdown", "gemline/tools/workspace"},
		"gemline/commands/program":        {anything},
		"gemline/commands/program/attack": {},
		"gemline/commands/cli":            {"gemline/docs", "gemline/engine", "gemline/engine/auth", "gemline/engine/journal", "gemline/engine/limit", "gemline/engine/model", "gemline/engine/policy", "gemline/repl/output", "gemline/repl/schema", "gemline/settings", "gemline/tools/sandbox"},
		"gemline/docs":                    {},
		"gemline/repl":                    {"gemline/commands", "gemline/engine", "gemline/engine/redact", "gemline/engine/schema", "gemline/engine/tally", "gemline/repl/input", "gemline/repl/internal/line", "gemline/repl/markdown", "gemline/repl/output", "gemline/repl/protocol", "gemline/engine/disk"},
		"gemline/repl/batch":              {"gemline/engine", "gemline/engine/model", "gemline/engine/tally", "gemline/repl", "gemline/repl/input", "gemline/repl/output"},
		"gemline/repl/input":              {"gemline/tools/workspace"},
		"gemline/repl/internal/line":      {"gemline/repl/output"},
		"gemline/repl/markdown":           {},
		"gemline/repl/output":             {},
		"gemline/repl/protocol":           {},
		"gemline/repl/schema":             {},
		"gemline/repl/schematest":         {"gemline/repl/schema"},
		"gemline/repl/teletype":           {},

		// The program that starts confined commands.
		"gemline/tools/sandbox/helper": {"gemline/tools/sandbox/stage"},
		"gemline/tools/sandbox/stage":  {"gemline/tools/gitconfig"},

		"gemline/tools/sandbox/sandboxtest": {"gemline/tools/sandbox"},
	}
	// Of other packages, what the engine may never reach for: it runs in a
	// test with no world around it.
	worldly := []string{"os", "os/exec", "os/signal", "net/http", "flag", "log", "golang.org/x/term"}
	// Where genai's client, rather than its types, may be used is a matter of
	// one package, which TestOneClient checks.
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		may, known := allowed[p.ImportPath]
		if !known {
			t.Errorf("%s is a package that no rule speaks of", p.ImportPath)
		}
		for _, imp := range p.Imports {
			if strings.HasPrefix(imp, "gemline") && !slices.Contains(may, imp) && !slices.Contains(may, anything) {
				t.Errorf("%s imports %s", p.ImportPath, imp)
			}
			if p.ImportPath == "gemline/engine" && slices.Contains(worldly, imp) {
				t.Errorf("%s imports %s", p.ImportPath, imp)
			}
		}
	}
}

// TestOneWorld holds the process's own streams, environment and exit to
// main.go, so that everything else can be tested in one process. What stands
// between it and a command is a process of its own.
func TestOneWorld(t *testing.T) {
	t.Parallel()
	const world = `(^|[^.A-Za-z])(os\.(Exit|Getenv|LookupEnv|Environ|Args|Stdin|Stdout|Stderr)\b|fmt\.Print(ln|f)?\(|log\.(Print|Fatal|Panic))`
	out := grep(t, "-nE", world, "--", "*.go", ":!main.go", ":!*_test.go", ":!testdata", ":!engine/enginetest", ":!repl/teletype", ":!tools/web/weblab", ":!tools/sandbox/helper", ":!tools/sandbox/stage")
	if len(out) > 0 {
		t.Errorf("outside main.go:\n%s", out)
	}
}

// grep returns the lines that git finds among the files of this directory, by
// no settings of whoever runs the tests.
func grep(t *testing.T, args ...string) []byte {
	t.Helper()
	cmd := exec.Command("git", append([]string{"grep", "--no-index", "--exclude-standard"}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState.ExitCode() != 1 { // which says that there are none
		t.Fatalf("%v: %s", err, out)
	}
	return out
}

// TestOneClient holds the making of genai clients to engine/model.
func TestOneClient(t *testing.T) {
	out := grep(t, "-n", `genai\.NewClient`, "--", "*.go", ":!engine/model", ":!imports_test.go")
	if len(out) > 0 {
		t.Errorf("outside engine/model:\n%s", out)
	}
}

// TestOneDisk holds the tools, and what @path reads, to looking at files
// through the workspace: it may show more than the disk has. Outputs of
// commands are no files of the workspace, nor is what they make outside of it.
func TestOneDisk(t *testing.T) {
	const disk = `os\.(Stat|Lstat|Open|OpenFile|Create|ReadFile|WriteFile|ReadDir)\(`
	out := grep(t, "-nE", disk, "--", ":(glob)tools/*.go", "repl/input", ":!*_test.go", ":!tools/run_shell_command.go", ":!tools/makes.go")
	if len(out) > 0 {
		t.Errorf("past the workspace:\n%s", out)
	}
}
