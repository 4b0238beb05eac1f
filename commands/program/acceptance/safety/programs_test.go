//go:build unix

package safety

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	"gemline/commands/program/acceptance/teletype"
	et "gemline/engine/enginetest"
)

// No program that gemline starts gets its key: those of the model's and of the
// user's, and those it starts for itself.
func TestChildrenHaveNoKey(t *testing.T) {
	t.Parallel()
	server := et.NewServer(pt.Work()[0], et.Says("Fine.", et.Call("2", "run_shell_command", "command", "env >model.env; test -r /dev/fd/3; echo fd3=$? >>model.env")),
		et.Says("", et.Call("3", "run_shell_command", "command", "env >background.env", "is_background", true)), et.Says("Goodbye."))
	c := pt.Terminal(t, server)
	bin, seen := t.TempDir(), t.TempDir()
	for _, name := range []string{"code", "xclip", "git", "rg", "announce"} {
		script := "#!/bin/sh\nenv >>" + seen + "/" + name + "\ncat /proc/$$/cmdline >>" + seen + "/" + name + " 2>&-\nexit 0\n"
		if err := os.WriteFile(filepath.Join(bin, name), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	c = pt.Configured(t, c, `{"general": {"preferredEditor": "vscode", "enableNotifications": true, "notificationCommand": "announce"}}`)
	c.Env = append(c.Env, "GEMINI_API_KEY="+keyCanary, "DEPLOY_TOKEN="+envCanary, "DISPLAY=:9", "PATH="+bin+":"+os.Getenv("PATH"))
	s := teletype.Start(t, c)
	s.Say("mend it")
	s.Expect(pt.Asking)
	s.Line("e")
	s.Expect(pt.Asking)
	s.Line("yes")
	for range 2 {
		s.Expect(pt.Asking)
		s.Line("yes")
	}
	s.Expect("Goodbye.")
	s.Expect("> ")
	s.Line("!until test -s background.env; do :; done; env >user.env") // the end of the session would stop it
	s.Say("/copy")
	s.Say("/quit")
	pt.Succeeds(t, s)
	doctor := exec.Command(c.Path, "doctor")
	doctor.Dir, doctor.Env = c.Dir, c.Env
	doctor.Run()                              // it finds fault with these programs
	for path, token := range map[string]bool{ // and whether another's key is the program's to have
		filepath.Join(c.Dir, "model.env"): false, filepath.Join(c.Dir, "background.env"): false, filepath.Join(c.Dir, "user.env"): false,
		filepath.Join(seen, "code"): true, filepath.Join(seen, "xclip"): true, filepath.Join(seen, "git"): true, filepath.Join(seen, "rg"): true,
	} {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Errorf("it did not run: %v", err)
		}
		if bytes.Contains(b, []byte(keyCanary)) {
			t.Errorf("%s has the key: %s", path, b)
		}
		if !token && bytes.Contains(b, []byte(envCanary)) {
			t.Errorf("%s has a token: %s", path, b)
		}
	}
}

// What a shell takes from the environment before it reads a command does not
// make the command another one.
func TestShellsBeginEmpty(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ran := filepath.Join(dir, "ran")
	evil := filepath.Join(dir, "evil.sh")
	if err := os.WriteFile(evil, []byte("touch "+ran+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	env := []string{"BASH_ENV=" + evil, "ENV=" + evil, "BASH_FUNC_cat%%=() { touch " + ran + "; }", "SHELLOPTS=xtrace", "PS4=$(touch " + ran + ")", "CDPATH=/tmp"}
	control := exec.Command("bash", "-c", "cat /dev/null")
	control.Env = append(os.Environ(), env...)
	control.Run()
	if err := os.Remove(ran); err != nil {
		t.Fatalf("nothing would be noticed: %v", err)
	}
	s := et.NewServer(et.Says("", et.Call("1", "run_shell_command", "command", "cat /dev/null; echo over")), et.Says("Done."))
	t.Cleanup(s.Close)
	var errs bytes.Buffer
	run := pt.Headless(t, s, dir, io.Discard, &errs, "-y", "-p", "go")
	run.Env = append(run.Env, env...)
	if err := run.Run(); err != nil {
		t.Fatalf("%v: %s", err, errs.Bytes())
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("it was another command")
	}
	if got := pt.AnswerOf(t, s, "run_shell_command"); !strings.Contains(got, "over") {
		t.Errorf("the model was told %s", got)
	}
}

// hostileRepository makes dir a repository whose settings have git run touch in
// every way that they can.
func hostileRepository(t *testing.T, dir, ran string) {
	t.Helper()
	git := func(args ...string) {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "HOME="+dir)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v: %s", args, err, out)
		}
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	git("init", "-q")
	write("a.txt", "one\n")
	git("add", "a.txt")
	git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "one")
	touch := "touch " + ran
	for _, hook := range []string{"post-index-change", "pre-commit", "post-checkout", "post-commit", "reference-transaction", "fsmonitor-watchman"} {
		write(".git/hooks/"+hook, "#!/bin/sh\n"+touch+"\n")
	}
	write(".gitattributes", "* filter=evil diff=evil merge=evil\n")
	write("a.txt", "two\n")
	write("touch.sh", "#!/bin/sh\n"+touch+"\ncat\n")
	for key, value := range map[string]string{
		"core.fsmonitor": touch, "core.pager": touch, "core.editor": touch, "core.sshCommand": touch, "core.gitProxy": touch, "core.askPass": touch,
		"core.alternateRefsCommand": touch, "credential.helper": "!" + touch, "gpg.program": filepath.Join(dir, "touch.sh"), "log.showSignature": "true",
		"diff.external": filepath.Join(dir, "touch.sh"), "diff.evil.textconv": touch, "diff.evil.command": touch, "filter.evil.clean": touch, "filter.evil.smudge": touch, "filter.evil.process": touch,
		"merge.evil.driver": touch, "alias.status": "!" + touch, "sequence.editor": touch, "interactive.diffFilter": touch, "pager.log": touch,
	} {
		git("config", key, value)
	}
}

// A repository has no program run by being worked in. gemline runs no git of
// its own there, and the model's git is asked about.
func TestProgramsOfARepository(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	work := filepath.Join(dir, "work")
	ran := filepath.Join(dir, "ran")
	if err := os.Mkdir(work, 0o700); err != nil {
		t.Fatal(err)
	}
	hostileRepository(t, work, ran)
	control := exec.Command("git", "status")
	control.Dir = work
	control.Run()
	if err := os.Remove(ran); err != nil {
		t.Fatalf("nothing would be noticed: %v", err)
	}
	sh := func(id, command string) et.Reply {
		return et.Says("", et.Call(id, "run_shell_command", "command", command))
	}
	for _, args := range [][]string{{"-p", "hi"}, {"--approval-mode", "auto_edit", "-p", "hi"}, {"--approval-mode", "plan", "-p", "hi"}, {"--patch", "-p", "hi"}, {"doctor"}, {"--list-sessions"}, {"--resume", "latest", "-p", "hi"}} {
		s := et.NewServer(
			et.Says("", et.Call("1", "list_directory", "dir_path", "."), et.Call("2", "grep_search", "pattern", "two"), et.Call("3", "glob", "pattern", "**/*.txt"), et.Call("4", "read_file", "file_path", "a.txt")),
			sh("5", "git status"), sh("6", "git log -p"), sh("7", "git diff"), sh("8", "git show"), sh("9", "git blame a.txt"),
			et.Says("", et.Call("10", "replace", "file_path", "a.txt", "instruction", "count", "old_string", "two", "new_string", "three")),
			et.Says("Done."))
		var out bytes.Buffer
		run := pt.Headless(t, s, work, &out, &out, args...)
		run.Env = append(run.Env, "HOME="+filepath.Join(dir, "home"))
		run.Run()
		s.Close()
		if _, err := os.Stat(ran); err == nil {
			t.Fatalf("%q had a program run: %s", args, out.Bytes())
		}
	}
}

// Whoever starts a program says which environment it gets: what is not said is
// everything, the key included.
func TestProgramsAreGivenAnEnvironment(t *testing.T) {
	t.Parallel()
	files := strings.Fields(string(pt.Grep(t, "-l", `exec\.Command`, "--", "*.go", ":!*_test.go", ":(exclude,glob)**/testdata/**", ":!docs/examples", ":!docs/demo", ":!commands/program/acceptance", ":!tools/sandbox/sandboxtest", ":!tools/web/weblab")))
	if len(files) < 8 {
		t.Errorf("only %q start programs", files)
	}
	for _, name := range files {
		switch name {
		case "tools/shell/first_linux.go", // which is gemline once more
			"tools/shell/process_windows.go": // where process.go says it, and taskkill comes with the system
			continue
		}
		if b, err := os.ReadFile(name); err != nil || !bytes.Contains(b, []byte("Env = ")) {
			t.Errorf("%s starts programs with all there is in the environment (%v)", name, err)
		}
	}
}
