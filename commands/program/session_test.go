package program

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"google.golang.org/genai"

	et "gemline/engine/enginetest"
	"gemline/engine/journal"
	"gemline/engine/policy"
	"gemline/engine/tally"
)

// start returns a run in a home of its own.
func start(t *testing.T, args ...string) *run {
	t.Helper()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { null.Close() })
	env := map[string]string{"GEMINI_CLI_HOME": t.TempDir(), "GEMINI_API_KEY": "k"}
	r, _, err := begin(Process{Args: args, Stdin: null, Stdout: null, Stderr: null,
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
	o, err := r.In(dir)
	if err != nil {
		t.Fatal(err)
	}
	store, err := o.paths.Project(t.Context())
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
			p.generator = et.NewScript(et.Says("", et.Call("1", "write_file", "file_path", name, "content", p.paths.Cwd+"\n")), et.Says("Done."))
			s, err := p.Begin(t.Context(), Choice{Tally: &tally.Tally{}})
			if err != nil {
				t.Fatal(err)
			}
			if name == "a.txt" { // the other one is asked, and there is nobody
				s.policy.SetMode(policy.AutoEdit)
			}
			if seen[s.journal.ID()] {
				t.Error("one journal for two conversations")
			}
			seen[s.journal.ID()] = true
			all.Go(func() {
				defer s.Close()
				for _, err := range s.Run(t.Context(), genai.NewPartFromText("go")) {
					if err != nil {
						t.Error(err)
					}
				}
				b, err := os.ReadFile(filepath.Join(p.paths.Cwd, name))
				if wrote := err == nil; wrote != (name == "a.txt") || wrote && strings.TrimSpace(string(b)) != p.paths.Cwd {
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

// The template of new repositories is the user's to name, not the project's.
func TestHooks(t *testing.T) {
	r := start(t, "-p", "x")
	home := t.TempDir()
	t.Chdir(home)
	if err := os.WriteFile(".gitconfig", []byte("[init]\n\ttemplateDir = ~/template\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.paths.Home = home
	if got, want := r.places().hooks(), filepath.Join(home, "template", "hooks"); got != want {
		t.Errorf("got %q, not %q", got, want)
	}
	if err := os.WriteFile(".gitconfig", []byte("[init]\n\ttemplateDir = "+home+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.paths.Home = ""
	if got := r.places().hooks(); got != "" {
		t.Errorf("without a home directory: %q", got)
	}
}

// What is wrong with the ignore files is told of all directories, also of those
// that only the conversation brings which is gone on with.
func TestComplaintsOfAResumedSession(t *testing.T) {
	r := start(t, "--skip-trust", "--sandbox=off", "-p", "x")
	user := filepath.Join(r.os.getenv("GEMINI_CLI_HOME"), ".gemini")
	here, more := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{
		filepath.Join(user, "settings.json"): `{"context": {"fileFiltering": {"customIgnoreFilePaths": ["hide.me"]}}}`,
		filepath.Join(more, "hide.me"):       "secret.txt\n",
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, resumed := range []bool{false, true} {
		var told []string
		p := openIn(t, r, here, func(text string) { told = append(told, text) })
		p.generator = et.NewScript(et.Says("Hello."))
		s, err := p.Begin(t.Context(), Choice{Choice: journal.Choice{Resume: resumed, Which: "latest"}, Tally: &tally.Tally{}})
		if err != nil {
			t.Fatal(err)
		}
		if !resumed {
			s.add(more)
			if err := s.journal.SetDirectories([]string{more}); err != nil {
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
