package docs_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
)

// importTable reads from docs/internals/packages.md which of our packages each may import.
func importTable(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile("docs/internals/packages.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "# Packages\n")
	table, _, _ = strings.Cut(table, "\n## ")
	allowed := map[string][]string{}
	for row := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(row, "| \n"), " | ")
		if len(cells) != 3 || !strings.HasPrefix(cells[0], "`") {
			continue
		}
		var may []string
		for name := range strings.SplitSeq(strings.Replace(cells[2], "everything", "*", 1), ", ") {
			may = append(may, "gemline/"+name)
		}
		for name := range strings.SplitSeq(cells[0], ", ") {
			allowed[strings.TrimSuffix("gemline/"+strings.Trim(name, "`"), "/main.go")] = may
		}
	}
	return allowed
}

// rowOf returns the most exact name of the table that covers a package, or "".
func rowOf(allowed map[string][]string, path string) (row string) {
	for name := range allowed {
		if covers(name, path) && len(name) > len(row) {
			row = name
		}
	}
	return row
}

// covers reports whether a name in the table, which may end in /*, is or holds
// a package.
func covers(name, path string) bool {
	below, all := strings.CutSuffix(name, "*")
	return name == path || all && strings.HasPrefix(path, below)
}

// TestImports holds the packages to the table of docs/internals/packages.md.
func TestImports(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports,GoFiles", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	allowed := importTable(t)
	// Of other packages, what the engine may never reach for: it runs in a
	// test with no world around it.
	worldly := []string{"os", "os/exec", "os/signal", "net/http", "flag", "log", "golang.org/x/term"}
	// That only types of genai are used, and no client, is checked by
	// TestNoClient.
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath       string
			Imports, GoFiles []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if len(p.GoFiles) == 0 {
			continue // tests alone
		}
		row := rowOf(allowed, p.ImportPath)
		may := allowed[row]
		if row == "" {
			t.Errorf("%s has no row in the table of docs/internals/packages.md", p.ImportPath)
		}
		for _, imp := range p.Imports {
			if strings.HasPrefix(imp, "gemline") && !slices.ContainsFunc(may, func(one string) bool { return covers(one, imp) }) {
				t.Errorf("%s imports %s", p.ImportPath, imp)
			}
			if p.ImportPath == "gemline/engine" && slices.Contains(worldly, imp) {
				t.Errorf("%s imports %s", p.ImportPath, imp)
			}
		}
	}
}

// TestProcessInMainAlone holds the process's own streams, environment and exit to
// commands/program/main.go, so that everything else can be tested in one process. What stands
// between it and a command is a process of its own.
func TestProcessInMainAlone(t *testing.T) {
	t.Parallel()
	const world = `(^|[^.A-Za-z])(os\.(Exit|Getenv|LookupEnv|Environ|Args|Stdin|Stdout|Stderr)\b|fmt\.Print(ln|f)?\(|log\.(Print|Fatal|Panic))`
	out := pt.Grep(t, "-nE", world, "--", "*.go", ":!main.go", ":!commands/program/main.go", ":!*_test.go", ":(exclude,glob)**/testdata/**", ":!docs/examples", ":!docs/demo", ":!engine/enginetest", ":!commands/program/project/projecttest", ":!commands/program/acceptance", ":!commands/program/release", ":!tools/web/weblab", ":!tools/sandbox/helper", ":!tools/sandbox/stage")
	if len(out) > 0 {
		t.Errorf("outside main.go:\n%s", out)
	}
}

// TestNoClient holds the library of the API to its types: engine/model makes the
// requests.
func TestNoClient(t *testing.T) {
	if out := pt.Grep(t, "-n", `genai\.NewClient`, "--", "*.go", ":!docs/packages_test.go"); len(out) > 0 {
		t.Errorf("a client of the library:\n%s", out)
	}
}

// TestFilesByTheWorkspaceAlone holds the tools, and what @path reads, to looking at files
// through the workspace: it may show more than the disk has. Outputs of
// commands are no files of the workspace, nor is what they make outside of it,
// and what is kept from them, or put aside, or what git runs, is that of the kernel or the disk. Plans
// are gemline's own.
func TestFilesByTheWorkspaceAlone(t *testing.T) {
	const disk = `os\.(Stat|Lstat|Open|OpenFile|Create|ReadFile|WriteFile|ReadDir)\(`
	out := pt.Grep(t, "-nE", disk, "--", ":(glob)tools/*.go", "tools/files", "tools/plan", ":(glob)tools/command/*.go", "repl/input", ":!*_test.go", ":!tools/command/readonly*.go", ":!tools/command/run_by_git.go", ":!tools/plan/folder.go", ":!tools/command/made.go")
	if len(out) > 0 {
		t.Errorf("past the workspace:\n%s", out)
	}
}
