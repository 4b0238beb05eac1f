package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	et "gemline/engine/enginetest"
	"gemline/repl/teletype"
)

// A folder that nobody has decided about is asked about before anything of it
// is used. What is in it can't forge the question.
func TestUnknownFolder(t *testing.T) {
	for _, c := range []struct {
		name, answer, model, rule string
	}{
		{"not now", "", "gemini-2.5-flash", ""},
		{"trusted", "1", "gemini-of-the-folder", `"TRUST_FOLDER"`},
		{"parent trusted", "2", "gemini-of-the-folder", `"TRUST_PARENT"`},
		{"never", "3", "gemini-2.5-flash", `"DO_NOT_TRUST"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := et.NewServer(et.Says("Hello."))
			cmd := terminal(t, s)
			cmd.Args, cmd.Term = nil, "dumb"
			cmd.Env = append(cmd.Env, "GEMINI_CLI_TRUST_WORKSPACE=")
			dir := filepath.Join(cmd.Dir, ".gemini")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			home := filepath.Join(filepath.Dir(cmd.Dir), "home", ".gemini")
			if err := os.Mkdir(home, 0o700); err != nil {
				t.Fatal(err)
			}
			os.WriteFile(filepath.Join(home, "settings.json"), []byte(`{"model": {"name": "gemini-2.5-flash"}}`), 0o600)
			os.WriteFile(filepath.Join(dir, "settings.json"), []byte(`{"model": {"name": "gemini-of-the-folder"}, "x\nerror: \u001b[2J": 1}`), 0o600)
			p := teletype.Start(t, cmd)
			p.Expect("Enter for not now: ")
			if n := len(s.Requests()); n > 0 {
				t.Errorf("%d requests before the answer", n)
			}
			p.Line(c.answer)
			p.Expect("\n> ")
			p.Line("hi")
			p.Expect("Hello.")
			p.Expect("> ")
			p.Send("\x04")
			if code := p.Exit(); code != 0 {
				t.Errorf("exit code %d", code)
			}
			for _, fault := range teletype.Lint(p.Transcript(), teletype.Rules{Quiet: true}) {
				t.Error(fault)
			}
			if got := s.Requests()[0].Model; got != c.model {
				t.Errorf("the model is %s", got)
			}
			b, _ := os.ReadFile(filepath.Join(home, "trustedFolders.json"))
			if c.rule == "" && len(b) > 0 || !strings.Contains(string(b), c.rule) {
				t.Errorf("the list of folders is %q", b)
			}
		})
	}
}
