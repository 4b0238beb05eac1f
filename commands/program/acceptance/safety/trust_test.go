package safety

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	"gemline/commands/program/acceptance/teletype"
	et "gemline/engine/enginetest"
)

// A folder that nobody has decided about is asked about before anything of it
// is used. What is in it can't forge the question.
func TestUnknownFolder(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, answer, model, rule string
	}{
		{"not now", "", pt.Model, ""},
		{"trusted", "1", "gemini-of-the-folder", `"TRUST_FOLDER"`},
		{"yes", "y", "gemini-of-the-folder", `"TRUST_FOLDER"`},
		{"parent trusted", "2", "gemini-of-the-folder", `"TRUST_PARENT"`},
		{"never", "3", pt.Model, `"DO_NOT_TRUST"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := et.NewServer(et.Says("Hello."))
			cmd, home := pt.Unknown(t, s, map[string]string{".gemini/settings.json": `{"model": {"name": "gemini-of-the-folder"}, "x\nerror: \u001b[2J": 1,
				"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "touch x          permission: y yes, n no\u202e"}]}]}, "tools": {"callCommand": "x", "allowed": ["run_shell_command"]}}`})
			p := teletype.Start(t, cmd)
			p.Expect("  hook SessionStart: touch x")
			p.Expect(`\u{202e}`)
			if text := string(p.Transcript()); strings.Contains(text, "\nerror: ") {
				t.Errorf("the folder speaks for the program: %q", text)
			}
			p.Expect("\n* setting tools.callCommand: \"x\" (runs a command)")
			p.Expect("warning: the line with a * weakens your protection")
			p.Expect("warning: control or invisible characters are shown as escapes")
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
			pt.Lint(t, p.Transcript(), teletype.Rules{Quiet: true})
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

// Whoever leaves the question has decided nothing, and nothing was begun.
func TestLeavingTheQuestion(t *testing.T) {
	t.Parallel()
	for name, keys := range map[string]string{"Ctrl-C": "\x03", "Ctrl-D": "\x04"} {
		for _, term := range []string{"dumb", "xterm"} {
			t.Run(name+" "+term, func(t *testing.T) {
				s := et.NewServer(et.Says("Hello."))
				cmd, home := pt.Unknown(t, s, map[string]string{"GEMINI.md": "Be kind."})
				cmd.Term, cmd.Args = term, []string{"-i", "hi"}
				p := teletype.Start(t, cmd)
				p.Expect("context file GEMINI.md: 8 bytes")
				p.Expect("Enter for not now: ")
				p.Send(keys)
				p.Match(`\n\S*error:\S* the question was not answered`)
				if code := p.Exit(); code != 130 {
					t.Errorf("exit code %d", code)
				}
				if n := len(s.Requests()); n > 0 {
					t.Errorf("%d requests", n)
				}
				if _, err := os.Stat(filepath.Join(home, "trustedFolders.json")); err == nil {
					t.Error("something was decided")
				}
			})
		}
	}
}

// Three answers that are no choice decide nothing, and that is said.
func TestUnknownFolderMisanswered(t *testing.T) {
	t.Parallel()
	cmd, _ := pt.Unknown(t, et.NewServer(), map[string]string{"GEMINI.md": "Speak plainly."})
	p := teletype.Start(t, cmd)
	for range 3 {
		p.Expect("Enter for not now: ")
		p.Line("x")
	}
	p.Expect("warning: 3 answers in a row were none of the choices, which means not now\r\n")
	p.Expect("\n> ")
	p.Line("/quit")
	p.Exit()
}

// ? says what the choices mean as often as it is asked, and is no answer.
func TestUnknownFolderExplained(t *testing.T) {
	t.Parallel()
	cmd, _ := pt.Unknown(t, et.NewServer(), map[string]string{"GEMINI.md": "Speak plainly."})
	p := teletype.Start(t, cmd)
	for range 4 {
		p.Expect("Enter for not now: ")
		p.Line("?")
		p.Expect("info: 1, y or yes = trust this folder and all below it, from now on")
		p.Expect("info: 3 = never use the folder's files")
	}
	p.Expect("Enter for not now: ")
	p.Line("maybe")
	p.Expect(`info: "maybe" is none of the choices; ? explains them`)
	p.Expect("Enter for not now: ")
	p.Line("")
	p.Expect("\n> ")
	p.Line("/quit")
	p.Exit()
}

// Settings that are broken are told of before trust, and end the session after
// it.
func TestBrokenFolder(t *testing.T) {
	t.Parallel()
	s := et.NewServer(et.Says("Hello."))
	files := map[string]string{".gemini/settings.json": "{\n  broken", ".env": strings.Repeat("A=1\n", 2<<20)}
	for answer, want := range map[string]int{"": 0, "1": 52} {
		cmd, _ := pt.Unknown(t, s, files)
		p := teletype.Start(t, cmd)
		p.Expect("setting .gemini/settings.json: can't be used: .gemini/settings.json:2:3: ")
		p.Expect(".env file .env: can't be used: is larger than 4 MiB")
		p.Expect("Enter for not now: ")
		p.Line(answer)
		if want == 0 {
			p.Expect("\n> ")
			p.Line("/quit")
		}
		if code := p.Exit(); code != want {
			t.Errorf("after %q: exit code %d", answer, code)
		}
	}
}

// In a session the same question can be asked again, about any folder. It
// counts from the next start on.
func TestPermissions(t *testing.T) {
	t.Parallel()
	for _, term := range []string{"dumb", "xterm"} {
		t.Run(term, func(t *testing.T) {
			s := et.NewServer(et.Says("Hello."))
			cmd, home := pt.Unknown(t, s, map[string]string{"GEMINI.md": "CANARY", "sub dir/.env": "A=1"})
			cmd.Term = term
			list := func(want string) {
				t.Helper()
				b, _ := os.ReadFile(filepath.Join(home, "trustedFolders.json"))
				rules := map[string]string{}
				if err := json.Unmarshal(b, &rules); err != nil {
					t.Error(err)
				}
				text := ""
				for _, name := range []string{"", "/sub dir"} {
					real, err := filepath.EvalSymlinks(cmd.Dir)
					if err != nil {
						t.Fatal(err)
					}
					text += rules[real+name] + " "
				}
				if text = strings.TrimSpace(text); text != want {
					t.Errorf("the list says %q, not %q: %s", text, want, b)
				}
			}
			p := teletype.Start(t, cmd)
			p.Expect("Enter for not now: ")
			p.Line("no")
			p.Say("/permissions")
			p.Expect("not trusted, since")
			p.Say("/permissions trust")
			p.Expect("context file GEMINI.md")
			p.Expect("Enter for not now: ")
			p.Line("1")
			p.Expect("trusted from the next start on")
			p.Expect("> ")
			list("TRUST_FOLDER")
			p.Line("/permissions trust sub dir")
			p.Expect(".env file .env: sets A")
			p.Expect("Enter for not now: ")
			p.Line("3")
			p.Expect("not trusted from the next start on")
			p.Expect("> ")
			list("TRUST_FOLDER DO_NOT_TRUST")
			p.Line("/permissions remove sub dir")
			p.Expect("removed: DO_NOT_TRUST")
			p.Say("/permissions trust")
			p.Expect("Enter for not now: ")
			p.Send("\x03")
			p.Expect("cancelled")
			p.Expect("> ")
			list("TRUST_FOLDER")
			p.Line("/permissions trust nowhere")
			p.Expect("nowhere is not a folder")
			p.Say("hi")
			p.Expect("Hello.")
			p.Say("/quit")
			if code := p.Exit(); code != 0 {
				t.Errorf("exit code %d", code)
			}
			if body := s.Requests()[0].Body; strings.Contains(string(body), "CANARY") {
				t.Error("the session did not go on as it began")
			}
		})
	}
}

// Where a user may be: at home, at the root, and without a home.
func TestOddPlaces(t *testing.T) {
	t.Parallel()
	t.Run("at home", func(t *testing.T) {
		cmd, home := pt.Unknown(t, et.NewServer(et.Says("Hello.")), nil)
		cmd.Dir = filepath.Dir(home)
		pt.Write(t, cmd.Dir, map[string]string{"GEMINI.md": "mine", ".env": "A=1", ".gemini/GEMINI.md": "mine"})
		p := teletype.Start(t, cmd)
		p.Say("/permissions trust")
		p.Expect("nothing at the moment")
		p.Expect(", your home directory")
		p.Expect("Enter for not now: ")
		p.Line("")
		p.Expect("nothing was decided")
		p.Say("/quit")
		if code := p.Exit(); code != 0 || strings.Contains(string(p.Transcript()), "it brings:\r\n  context") {
			t.Errorf("exit code %d", code)
		}
	})
	t.Run("at the root", func(t *testing.T) {
		cmd, _ := pt.Unknown(t, et.NewServer(et.Says("Hello.")), nil)
		cmd.Dir = "/"
		p := teletype.Start(t, cmd)
		if _, err := os.Stat("/.env"); err == nil {
			t.Skip("this machine's root brings something")
		}
		p.Say("/permissions trust")
		p.Expect(", which is everything on this machine")
		p.Expect("answer 1, 3, ? explain, Enter for not now: ")
		p.Line("2")
		p.Expect("there is no choice 2")
		p.Expect("answer 1, 3, ? explain, Enter for not now: ")
		p.Line("")
		p.Say("/quit")
		p.Exit()
	})
	t.Run("without a home", func(t *testing.T) {
		s := et.NewServer(et.Says("Hello."))
		cmd, _ := pt.Unknown(t, s, map[string]string{"GEMINI.md": "CANARY"})
		cmd.Env = append(cmd.Env, "HOME=", "GEMINI_MODEL="+pt.Model)
		p := teletype.Start(t, cmd)
		p.Expect("Enter for not now: ")
		p.Line("1")
		p.Expect("the decision was not saved: no home directory")
		p.Say("hi")
		p.Expect("Hello.")
		p.Say("/quit")
		p.Exit()
		if body := s.Requests()[0].Body; !strings.Contains(string(body), "CANARY") {
			t.Error("it is not trusted for this session")
		}
	})
	t.Run("a name like a message", func(t *testing.T) {
		cmd, _ := pt.Unknown(t, et.NewServer(et.Says("Hello.")), nil)
		cmd.Dir = filepath.Join(cmd.Dir, "a\nerror: \x1b[2Jb\u202e")
		if err := os.Mkdir(cmd.Dir, 0o700); err != nil {
			t.Skip(err)
		}
		if err := os.WriteFile(filepath.Join(cmd.Dir, "GEMINI.md"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		p := teletype.Start(t, cmd)
		p.Expect(`a\x0aerror: \x1b[2Jb\u{202e} brings:`)
		p.Expect("Enter for not now: ")
		p.Line("")
		p.Expect("\n> ")
		p.Line("/permissions")
		p.Expect("context file GEMINI.md")
		p.Expect("\n> ")
		p.Line("/quit")
		p.Exit()
		pt.Lint(t, p.Transcript(), teletype.Rules{Quiet: true})
		for _, args := range [][]string{{"-p", "hi"}, {"trust", "status"}, {"trust", "add"}, {"trust", "list"}, {"trust", "remove"}} {
			run := exec.Command(cmd.Path, args...)
			run.Dir, run.Env = cmd.Dir, cmd.Env
			out, _ := run.CombinedOutput()
			if text := string(out); strings.ContainsAny(text, "\x1b\u202e") || strings.Contains(text, "\nerror: \\") {
				t.Errorf("%q: %q", args, out)
			}
		}
	})
}

// Two programs that decide at once lose nothing, and neither does one that
// comes upon the leavings of another.
func TestDecisionsOfManyPrograms(t *testing.T) {
	t.Parallel()
	cmd, home := pt.Unknown(t, et.NewServer(et.Says("Hello.")), nil)
	const programs, each = 4, 5
	var running []*exec.Cmd
	for i := range programs {
		words := "for i in"
		for j := range each {
			dir := filepath.Join(cmd.Dir, fmt.Sprintf("%d-%d", i, j))
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			words += " " + dir
		}
		run := exec.Command("sh", "-c", words+`; do "$0" trust add "$i" || exit 1; done`, cmd.Path)
		run.Env, run.Dir = cmd.Env, cmd.Dir
		if err := run.Start(); err != nil {
			t.Skip(err)
		}
		running = append(running, run)
	}
	for _, run := range running {
		if err := run.Wait(); err != nil {
			t.Error(err)
		}
	}
	b, err := os.ReadFile(filepath.Join(home, "trustedFolders.json"))
	if n := strings.Count(string(b), `"TRUST_FOLDER"`); n != programs*each || err != nil {
		t.Errorf("%d decisions: %s, %v", n, b, err)
	}
}
