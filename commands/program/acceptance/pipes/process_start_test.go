package pipes

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	"gemline/commands/program/acceptance/teletype"
	et "gemline/engine/enginetest"
)

// A session that only begins and ends looks at nothing it does not need: it
// opens no directory of the project but the topmost and .gemini, talks to nobody and starts no
// program. What is there is many directories, context files and extensions.
func TestStartLooksAtLittle(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root sees what names a program uses that conceals its memory")
	}
	tracer := pt.Tracing(t)
	for _, c := range []struct{ name, trust, answer string }{{"trusted", "true", ""}, {"unknown", "", "n"}} {
		t.Run(c.name, func(t *testing.T) {
			server := et.NewServer()
			cmd := crowded(t, server)
			cmd.Env = append(cmd.Env, "GEMINI_CLI_TRUST_WORKSPACE="+c.trust)
			trace := filepath.Join(t.TempDir(), "trace")
			cmd.Args = append(tracer(trace), append([]string{cmd.Path}, cmd.Args...)...)
			cmd.Path, cmd.Args = cmd.Args[0], cmd.Args[1:]
			s := teletype.Start(t, cmd)
			if c.answer != "" {
				s.Expect("not now")
				s.Line(c.answer)
			}
			s.Say("/quit")
			pt.Succeeds(t, s)
			opened, other := calls(t, trace, cmd.Dir)
			listed := "<" + cmd.Dir + ">"
			if slices.ContainsFunc(other, func(call string) bool { return strings.Contains(call, listed) }) {
				t.Error("the names in the project are read")
			}
			other = slices.DeleteFunc(other, func(call string) bool { return strings.HasPrefix(call, "getdents64(") })
			if len(opened) == 0 || len(other) != 1 || !strings.HasPrefix(other[0], "execve(") {
				t.Errorf("%d files opened, and %q", len(opened), other)
			}
			for _, path := range opened {
				rel, err := filepath.Rel(cmd.Dir, path)
				if err != nil || !filepath.IsLocal(rel) {
					continue
				}
				switch first, _, _ := strings.Cut(rel, "/"); first {
				case ".gemini", ".env":
				case ".", ".geminiignore": // what is below is reached from the open directory; what it hides is known at once
				case ".agents": // to say what is not in use
				case ".mcp.json": // to say what the folder brings
					if c.answer == "" {
						t.Errorf("%s is opened", rel)
					}
				default:
					t.Errorf("%s is opened", rel)
				}
			}
			for _, path := range opened { // of extensions only what says what is not in use
				_, rel, ok := strings.Cut(path, "/extensions/x/")
				if ok && !slices.Contains([]string{"gemini-extension.json", "hooks/hooks.json", "commands", "agents", "skills"}, rel) {
					t.Errorf("%s is opened", path)
				}
			}
		})
	}
}

// What needs no settings reads none.
func TestVersionReadsNothing(t *testing.T) {
	t.Parallel()
	tracer := pt.Tracing(t)
	for _, flag := range []string{"--version", "--help"} {
		cmd := crowded(t, et.NewServer())
		trace := filepath.Join(t.TempDir(), "trace")
		args := append(tracer(trace), cmd.Path, flag)
		run := exec.Command(args[0], args[1:]...)
		run.Dir, run.Env = cmd.Dir, cmd.Env
		if out, err := run.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		opened, other := calls(t, trace, cmd.Dir)
		if len(other) != 1 {
			t.Errorf("%s: %q", flag, other)
		}
		for _, path := range opened {
			if strings.HasPrefix(path, filepath.Dir(cmd.Dir)) || strings.Contains(path, "gemini") {
				t.Errorf("%s opens %s", flag, path)
			}
		}
	}
}

// The first collection of garbage comes after the first turn, but as GOGC says.
func TestStartCollectsNothing(t *testing.T) {
	t.Parallel()
	for _, gogc := range []string{"", "50"} {
		var out, errs bytes.Buffer
		cmd := pt.Headless(t, et.NewServer(et.Says("hello")), t.TempDir(), &out, &errs, "-p", "hi")
		cmd.Env = append(cmd.Env, "GODEBUG=gctrace=1", "GOGC="+gogc)
		if err := cmd.Run(); err != nil || out.String() != "hello\n" {
			t.Fatalf("%v: %s%s", err, out.String(), errs.String())
		}
		if collects := strings.Contains(errs.String(), "gc 1 @"); collects != (gogc != "") {
			t.Errorf("with GOGC=%s: %s", gogc, errs.String())
		}
	}
}

// crowded returns a command in a project and a home with much in them.
func crowded(t *testing.T, server *et.Server) teletype.Command {
	cmd := pt.Terminal(t, server)
	dir, err := filepath.EvalSymlinks(cmd.Dir)
	if err != nil {
		t.Fatal(err)
	}
	cmd.Dir = dir
	files := map[string]string{
		".git/HEAD":               "ref: refs/heads/main\n",
		"GEMINI.md":               "@./d0001/x.md",
		".gitignore":              "d0002\n",
		".env":                    "A=b\n",
		".gemini/settings.json":   `{"context": {"fileName": "AGENTS.md"}}`,
		".gemini/commands/x.toml": `prompt = "x"`,
	}
	for i := range 2000 {
		files[fmt.Sprintf("d%04d/x.md", i)] = "x"
	}
	pt.Write(t, dir, files)
	pt.Write(t, pt.HomeOf(cmd), map[string]string{
		".gemini/GEMINI.md":                          "be kind",
		".gemini/settings.json":                      `{}`,
		".gemini/extensions/x/gemini-extension.json": `{"name": "x", "version": "1"}`,
		".gemini/extensions/x/GEMINI.md":             "x",
	})
	return cmd
}

var openedFile = regexp.MustCompile(`\b(?:open\(|openat2?\([^,<]*(?:<([^>]*)>)?, )"((?:[^"\\]|\\.)*)"`)

// calls returns the files that a traced program opened, or tried to, and its
// other calls.
func calls(t *testing.T, trace, dir string) (opened, other []string) {
	t.Helper()
	b, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		_, call, _ := strings.Cut(line, " ")
		call = strings.TrimSpace(call)
		if m := openedFile.FindStringSubmatch(call); m != nil {
			from, path := m[1], m[2]
			if !filepath.IsAbs(path) {
				path = filepath.Join(cmp.Or(from, dir), path)
			}
			opened = append(opened, path)
		} else if !strings.HasPrefix(call, "<...") && !strings.HasPrefix(call, "???") && // of a thread that ended just then
			!strings.HasPrefix(call, "---") && !strings.HasPrefix(call, "+++") {
			other = append(other, call)
		}
	}
	return opened, other
}
