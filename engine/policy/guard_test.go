package policy_test

import (
	"os"
	"path/filepath"
	"testing"

	"gemline/engine"
	et "gemline/engine/enginetest"
	"gemline/engine/policy"
	"gemline/tools/shell/script"
)

func TestGuard(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "GEMINI.md"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("GEMINI.md", filepath.Join(dir, "link.md")); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	if err := os.Mkdir(filepath.Join(dir, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(".git", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "home/tmp/project"), 0o700); err != nil {
		t.Fatal(err)
	}
	// Those lead to what is not there yet, in a circle, or have a guarded name.
	for name, to := range map[string]string{"new.md": "sub/GEMINI.md", "newer.md": "new.md", "hook": ".git/hooks/../hooks/x", "rules": "home/policies/x.toml", "below": "home", "loop": "loop", ".envrc": "main.go", "plain": "sub/x"} {
		if err := os.Symlink(filepath.FromSlash(to), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(dir, "newer.md"), filepath.Join(dir, "absolute")); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(filepath.Join(dir, "GEMINI.md"), filepath.Join(dir, "hard-link")); err != nil {
		t.Skip("no hard links here:", err)
	}
	for _, c := range []struct {
		mode policy.Mode
		kind engine.Kind
		name string
		want engine.Verdict
	}{
		{policy.AutoEdit, engine.Edit, "GEMINI.md", engine.Ask},
		{policy.AutoEdit, engine.Edit, "sub/gemini.MD", engine.Ask},
		{policy.AutoEdit, engine.Edit, "docs/AI.md", engine.Ask},
		{policy.AutoEdit, engine.Edit, "link.md", engine.Ask},
		{policy.AutoEdit, engine.Edit, "GEMINI.md.txt", engine.Allow},
		{policy.AutoEdit, engine.Edit, "main.go", engine.Allow},
		{policy.Yolo, engine.Edit, "GEMINI.md", engine.Allow},
		{policy.AutoEdit, engine.Edit, ".git/hooks/pre-commit", engine.Ask},
		{policy.AutoEdit, engine.Edit, "sub/.Git/config", engine.Ask},
		{policy.AutoEdit, engine.Edit, ".git", engine.Ask},
		{policy.AutoEdit, engine.Edit, ".gi\u200ct/config", engine.Ask},
		{policy.AutoEdit, engine.Edit, ".GIT/hooks/x", engine.Ask},
		{policy.AutoEdit, engine.Edit, ".git /hooks/x", engine.Ask},
		{policy.AutoEdit, engine.Edit, ".git./hooks/x", engine.Ask},
		{policy.AutoEdit, engine.Edit, ".git::$INDEX_ALLOCATION/hooks/x", engine.Ask},
		{policy.AutoEdit, engine.Edit, "GIT~1/hooks/x", engine.Ask},
		{policy.AutoEdit, engine.Edit, "GI7EBA~1", engine.Ask},
		{policy.AutoEdit, engine.Edit, "\uff0e\uff27\uff29\uff34/hooks/x", engine.Ask},
		{policy.AutoEdit, engine.Edit, ".\u017f\u017fh/config", engine.Ask},
		{policy.AutoEdit, engine.Edit, ".\u00dfh/config", engine.Ask},
		{policy.AutoEdit, engine.Edit, ".env:stream", engine.Ask},
		{policy.AutoEdit, engine.Edit, "ENV~1.LOC", engine.Ask},
		{policy.AutoEdit, engine.Edit, "hard-link", engine.Ask},
		{policy.AutoEdit, engine.Edit, "GITHUB~1/WORKFL~1/ci.yml", engine.Ask},
		{policy.Yolo, engine.Edit, ".\uff27emini/settings.json", engine.Ask},
		{policy.Yolo, engine.Edit, "HOME./settings.json", engine.Ask},
		{policy.AutoEdit, engine.Edit, "%2egit/hooks/x", engine.Allow},
		{policy.AutoEdit, engine.Edit, ".git%20/hooks/x", engine.Allow},
		{policy.AutoEdit, engine.Edit, ".vscode/tasks.json", engine.Ask},
		{policy.AutoEdit, engine.Edit, ".hg/hgrc", engine.Ask},
		{policy.AutoEdit, engine.Edit, ".hg/hgrc-not-shared", engine.Ask},
		{policy.AutoEdit, engine.Edit, ".hgrc", engine.Ask},
		{policy.AutoEdit, engine.Edit, ".hg/store/00manifest.i", engine.Allow},
		{policy.AutoEdit, engine.Edit, ".mcp.json", engine.Ask},
		{policy.AutoEdit, engine.Edit, "sub/.claude/settings.json", engine.Ask},
		{policy.AutoEdit, engine.Edit, ".cursor/hooks.json", engine.Ask},
		{policy.AutoEdit, engine.Edit, "sub/.agents/skills/s/SKILL.md", engine.Ask},
		{policy.AutoEdit, engine.Edit, ".github/workflows/ci.yml", engine.Ask},
		{policy.AutoEdit, engine.Edit, ".github/CODEOWNERS", engine.Allow},
		{policy.AutoEdit, engine.Edit, "src/workflows/ci.yml", engine.Allow},
		{policy.AutoEdit, engine.Edit, ".env.local", engine.Ask},
		{policy.AutoEdit, engine.Edit, ".bashrc", engine.Ask},
		{policy.AutoEdit, engine.Edit, "link/config", engine.Ask},
		{policy.AutoEdit, engine.Edit, "package.json", engine.Allow},
		{policy.AutoEdit, engine.Edit, "gitignore", engine.Allow},
		{policy.AutoEdit, engine.Edit, "home/settings.json", engine.Ask},
		{policy.AutoEdit, engine.Edit, "home/tmp/x", engine.Allow},
		{policy.Yolo, engine.Edit, "home/policies/new.toml", engine.Ask},
		{policy.Yolo, engine.Edit, "home/tmp/x", engine.Allow},
		{policy.Yolo, engine.Edit, "home/tmp/project/x", engine.Allow},
		{policy.Yolo, engine.Edit, "home/tmp/project/chats/session.jsonl", engine.Ask},
		{policy.Yolo, engine.Edit, "home/tmp/project/CHATS./session.jsonl", engine.Ask},
		{policy.Yolo, engine.Edit, "home/tmp/project/sub/chats/x", engine.Allow},
		{policy.Yolo, engine.Edit, "home/tmp/chats", engine.Ask},
		{policy.Yolo, engine.Edit, "below/tmp/project/chats/session.jsonl", engine.Ask},
		{policy.AutoEdit, engine.Edit, "home/tmp/project/chats/session.jsonl", engine.Ask},
		{policy.AutoEdit, engine.Edit, "home/tmp/project/memory/MEMORY.md", engine.Ask},
		{policy.Yolo, engine.Edit, "home/tmp/project/memory/MEMORY.md", engine.Allow},
		{policy.AutoEdit, engine.Edit, "home/tmp/other/memory/x", engine.Allow},
		{policy.Yolo, engine.Edit, ".gemini/settings.json", engine.Ask},
		{policy.Yolo, engine.Edit, "sub/.Gemini/settings.json", engine.Ask},
		{policy.Yolo, engine.Edit, ".git/config", engine.Allow},
		{policy.Yolo, engine.Execute, "home/x", engine.Allow},
		{policy.AutoEdit, engine.Edit, "new.md", engine.Ask},
		{policy.AutoEdit, engine.Edit, "newer.md", engine.Ask},
		{policy.AutoEdit, engine.Edit, "absolute", engine.Ask},
		{policy.AutoEdit, engine.Edit, "hook", engine.Ask},
		{policy.AutoEdit, engine.Edit, ".envrc", engine.Ask},
		{policy.AutoEdit, engine.Edit, "loop", engine.Allow},
		{policy.AutoEdit, engine.Edit, "loop/GEMINI.md", engine.Ask},
		{policy.AutoEdit, engine.Edit, "plain", engine.Allow},
		{policy.Yolo, engine.Edit, "rules", engine.Ask},
		{policy.Yolo, engine.Edit, "below/policies/x.toml", engine.Ask},
		{policy.Yolo, engine.Edit, "below/tmp/x", engine.Allow},
		{policy.Plan, engine.Edit, "GEMINI.md", engine.Deny},
		{policy.Default, engine.Read, "GEMINI.md", engine.Allow},
		{policy.Default, engine.Edit, "GEMINI.md", engine.Ask}, // although it was granted
		{policy.Default, engine.Edit, "main.go", engine.Allow},
	} {
		p, _ := policy.Guard(policy.New(c.mode), nil, policy.GuardedFiles{Names: []string{"docs/AI.md"}, Roots: func() []string { return []string{dir} },
			Own: []string{filepath.Join(dir, ".gemini"), filepath.Join(dir, "home")}, Except: []string{filepath.Join(dir, "home", "tmp")},
			State: []string{"chats", "*/chats"}, Notes: []string{filepath.Join(dir, "home", "tmp", "project", "memory")}})
		grant := engine.Grant{Tool: "tool", Target: c.name}
		if err := p.Learn(grant, engine.Session); err != nil {
			t.Fatal(err)
		}
		got, _ := p.Judge(t.Context(), engine.Proposal{Tool: tool(c.kind), Intent: engine.Intent{
			Paths: []string{filepath.Join(dir, filepath.FromSlash(c.name))}, Grants: []engine.Grant{grant}}})
		if got != c.want {
			t.Errorf("%s of kind %d in mode %q: %d, want %d", c.name, c.kind, c.mode, got, c.want)
		}
	}
}

// A file that a command has made is judged by its name.
func TestGuardsName(t *testing.T) {
	for path, want := range map[string]bool{"GEMINI.md": true, "a/.git": true, "docs/AI.md": true, ".github/workflows": true, "a/.github/workflows": true,
		"main.go": false, ".github": false, "a/workflows": false, ".github/workflows/x": false, ".git/x": false} {
		if (policy.GuardedFiles{Names: []string{"AI.md"}}).GuardsName(path) != want {
			t.Errorf("%s: %t", path, !want)
		}
	}
}

// In Yolo nothing is written unasked where programs are found or configured, or around that.
func TestGuardedRights(t *testing.T) {
	p, _ := policy.Guard(policy.New(policy.Yolo), nil, policy.GuardedFiles{Programs: []string{"/home/u/bin"}, Names: []string{"AI.md"}})
	for path, want := range map[string]engine.Verdict{
		"/home/u/bin": engine.Ask, "/home/u/bin/x": engine.Ask, "/home/u": engine.Ask, "/": engine.Ask, "/home/u/.config/x": engine.Ask, "/x/.git": engine.Ask, "/x/AI.md": engine.Ask,
		"/home/u/binary": engine.Allow, "/home/other": engine.Allow, "/var/cache": engine.Allow,
	} {
		if got, _ := p.Judge(t.Context(), wanting("x", engine.Rights{Write: []string{path}})); got != want {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
	q := shell(engine.Plain, "x")
	q.Intent.Ask = "the sandbox is off"
	if got, _ := p.Judge(t.Context(), q); got != engine.Ask {
		t.Error("a tool that wants its call asked about:", got)
	}
	for looked, want := range map[bool]engine.Verdict{true: engine.Allow, false: engine.Ask} { // what failed while it could only look may run so that it can be taken back
		q := shell(engine.Plain, "make")
		q.Intent.Plan.Revertible, q.Intent.Plan.Failure = true, engine.FailedAttempt{Reason: "it can't write", ReadOnly: looked}
		auto, _ := policy.Guard(policy.New(policy.Auto), nil, policy.GuardedFiles{})
		if got, _ := auto.Judge(t.Context(), q); got != want {
			t.Errorf("a command that failed, read-only %t: %v, want %v", looked, got, want)
		}
	}
	denied, _ := policy.Guard(policy.New(policy.Yolo, parse(t, policy.User, "[[rule]]\ntoolName = \"run_shell_command\"\ndecision = \"deny\"\npriority = 1\n")...), nil, policy.GuardedFiles{})
	if got, _ := denied.Judge(t.Context(), q); got != engine.Deny {
		t.Error("the same below a rule that denies it:", got)
	}
}

// What would not be honoured is not offered.
func TestGuardedFilesOfferNoAlways(t *testing.T) {
	for name, want := range map[string]int{"GEMINI.md": 0, "main.go": 1} {
		user := et.NewApprover(t, engine.Refused{})
		_, a := policy.Guard(policy.New(policy.Default), user, policy.GuardedFiles{})
		if _, err := a.Approve(t.Context(), engine.Proposal{Tool: tool(engine.Edit), Intent: engine.Intent{
			Paths: []string{"/project/" + name}, Grants: []engine.Grant{{Tool: "edit", Target: name}}}}); err != nil {
			t.Fatal(err)
		}
		if got := len(user.Proposals()[0].Intent.Grants); got != want {
			t.Errorf("%s: %d grants offered; want %d", name, got, want)
		}
	}
}

// Where nobody can be asked, the configuration is left alone.
func TestGuardUnattended(t *testing.T) {
	p := policy.New(policy.Yolo)
	p.Unattended = true
	g, _ := policy.Guard(p, nil, policy.GuardedFiles{Own: []string{"/home/.gemini"}})
	v, reason := g.Judge(t.Context(), engine.Proposal{Tool: tool(engine.Edit), Intent: engine.Intent{Paths: []string{"/home/.gemini/settings.json"}}})
	if v != engine.Deny || reason.Text == "" {
		t.Error(v, reason)
	}
}

// What runs with all rights is asked about in Yolo, too, also if it is run only later.
func TestGuardAgreed(t *testing.T) {
	runs := []string{"/project/early.sh"}
	files := policy.GuardedFiles{Agreed: func() []string { return runs }}
	runs = append(runs, "/project/bin")
	for _, c := range []struct {
		path                 string
		attended, unattended engine.Verdict
	}{
		{"early.sh", engine.Ask, engine.Deny}, {"bin/x", engine.Ask, engine.Deny}, {"binary", engine.Allow, engine.Allow},
	} {
		if c.attended == engine.Ask { // what is confined to reading can't write there, and what may write is asked about
			for write, want := range map[string]engine.Verdict{"": engine.Allow, "/elsewhere": engine.Ask} {
				q := shell(engine.Plain, "x")
				q.Intent.Plan.Confined, q.Intent.Plan.Writes = true, []string{"/project/" + c.path}
				if write != "" {
					q.Intent.Plan.Rights.Write = []string{write}
				}
				g, _ := policy.Guard(policy.New(policy.Yolo), nil, files)
				if v, _ := g.Judge(t.Context(), q); v != want {
					t.Errorf("%s, with the right to write to %q: %v, want %v", c.path, write, v, want)
				}
			}
		}
		for unattended, want := range map[bool]engine.Verdict{false: c.attended, true: c.unattended} {
			p := policy.New(policy.Yolo)
			p.Unattended = unattended
			g, _ := policy.Guard(p, nil, files)
			v, _ := g.Judge(t.Context(), engine.Proposal{Tool: tool(engine.Edit), Intent: engine.Intent{Paths: []string{"/project/" + c.path}}})
			if v != want {
				t.Errorf("%s, %v: %v, want %v", c.path, unattended, v, want)
			}
		}
	}
}

// A command that writes gemline's own configuration is asked about in Yolo as
// an edit of it is.
func TestGuardedRedirections(t *testing.T) {
	dir := t.TempDir()
	own := filepath.Join(dir, ".gemini")
	p, _ := policy.Guard(policy.New(policy.Yolo), nil, policy.GuardedFiles{Own: []string{own}, Except: []string{filepath.Join(own, "tmp")}, State: []string{"kept", "*/chats"}})
	for path, want := range map[string]engine.Verdict{
		".gemini/settings.json": engine.Ask, "sub/../.gemini/x": engine.Ask, own + "/x": engine.Ask, "~/.gemini/policies/a.toml": engine.Ask, "$HOME/.Gemini/x": engine.Ask,
		"~/.gemini/tmp/../policies/a.toml": engine.Ask, "~/./.gemini/x": engine.Ask, "~//.gemini/x": engine.Ask, "${HOME%/}/.gemini/x": engine.Ask, "$HOME/x/../.gemini/x": engine.Ask,
		`~/".gemini"/x`: engine.Ask, `~/.gemini\/x`: engine.Ask, "$HOME/'.gemini/x'": engine.Ask, "~/.gem*/x": engine.Ask, "~/.gem[/x": engine.Ask, "$(echo ~/.gemini)/x": engine.Ask, "~root/../home/.gemini/x": engine.Ask,
		"~/.gemini/tmp/project/chats/x": engine.Ask, own + "/tmp/project/chats/x": engine.Ask, own + "/tmp/kept/x": engine.Ask, own + "/tmp/chats/x": engine.Allow, own + "/tmp/project/kept": engine.Allow, "~/.gemini/tmp/$x/y": engine.Ask, "$HOME/.gemini": engine.Ask,
		"x": engine.Allow, "gemini/x": engine.Allow, own + "/tmp/x": engine.Allow, "~/.gemini/tmp/x": engine.Allow, "$out": engine.Allow, "*.txt": engine.Allow, "~/.geminiignore": engine.Allow,
		"~/x/*": engine.Allow, "~/.*": engine.Ask, "~/.config/*": engine.Allow,
	} {
		if got, _ := p.Judge(t.Context(), engine.Proposal{Tool: tool(engine.Execute), Intent: engine.Intent{Plan: engine.Plan{Dir: dir, Writes: []string{path}}}}); got != want {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
}

// A link on the way to gemline's own configuration is guarded as that is, also from confined commands
// that name it.
func TestGuardedLinks(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "conf", "real"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real", filepath.Join(dir, "conf", "link")); err != nil {
		t.Skip(err)
	}
	p, _ := policy.Guard(policy.New(policy.Yolo), nil, policy.GuardedFiles{Own: []string{filepath.Join(dir, "conf/link/r.toml")}})
	for text, want := range map[string]engine.Verdict{
		"ln -sfn x conf/link": engine.Ask, "rm conf/link": engine.Ask, "unlink ./conf/../conf/link": engine.Ask, "mv conf/link x": engine.Ask,
		"cat conf/link/r.toml": engine.Allow, "rm conf/link/other": engine.Allow, "rm conf/real/other": engine.Allow, "touch conf/other": engine.Allow,
	} {
		s := script.Read(text)
		for _, confined := range []bool{true, false} {
			in := engine.Intent{Plan: engine.Plan{Dir: dir, Commands: s.Commands, Class: s.Class, Writes: s.Writes, Confined: confined}}
			if got, _ := p.Judge(t.Context(), engine.Proposal{Tool: tool(engine.Execute), Intent: in}); got != want {
				t.Errorf("%s, confined %v: %v, want %v", text, confined, got, want)
			}
		}
	}

	// The right to write to a directory with a link that leads out of it is the right to change the link.
	if err := os.Symlink(t.TempDir(), filepath.Join(dir, "conf", "out")); err != nil {
		t.Fatal(err)
	}
	out := []string{filepath.Join(dir, "conf/out/r.toml")}
	for i, files := range []policy.GuardedFiles{{Own: out}, {Agreed: func() []string { return out }}} {
		g, _ := policy.Guard(policy.New(policy.Yolo), nil, files)
		for place, want := range map[string]engine.Verdict{"": engine.Ask, "conf": engine.Ask, "conf/out": engine.Ask, "conf/real": engine.Allow, "other": engine.Allow} {
			in := engine.Intent{Plan: engine.Plan{Dir: dir, Confined: true, Rights: engine.Rights{Write: []string{filepath.Join(dir, place)}}}}
			if got, _ := g.Judge(t.Context(), engine.Proposal{Tool: tool(engine.Execute), Intent: in}); got != want {
				t.Errorf("%d, the right to write to %q: %v, want %v", i, place, got, want)
			}
		}
	}
}

// A command changes gemline's own configuration also by what it is told, where
// nothing confines it.
func TestGuardedCommands(t *testing.T) {
	dir := t.TempDir()
	own := filepath.Join(dir, ".gemini")
	p, _ := policy.Guard(policy.New(policy.Yolo), nil, policy.GuardedFiles{Own: []string{own}, Except: []string{filepath.Join(own, "tmp")}, State: []string{"kept", "*/chats"}})
	for text, want := range map[string]engine.Verdict{
		`cp a "$HOME"/.gemini/`: engine.Ask, "cp -t ~/.gemini a": engine.Ask, "cd ~/.gemini && echo x > y": engine.Ask, "mkdir -p ~/.gemini/policies": engine.Ask, "ln -s ~/.gemini l; echo x > l/y": engine.Ask,
		"D=~/.gemini; echo x > $D/y": engine.Ask, "rm .gemini/policies/a.toml": engine.Ask, "mv .gemini x": engine.Ask, "rm -r " + own: engine.Ask, "sed -i s/a/b/ .gemini/settings.json": engine.Ask, `sed -Ei s/a/b/ "$F" .gemini/x`: engine.Ask, `sed --in-pl s/a/b/ "$F" .gemini/x`: engine.Ask, `sed -n p "$F" .gemini/x`: engine.Allow,
		"rsync a ~/.gemini/b": engine.Ask, "sudo rm .gemini/x": engine.Ask, "rm ~/.gemini/tmp/project/chats/x": engine.Ask,
		"cat ~/.gemini/settings.json": engine.Allow, "ls -a ~/.gemini > out.txt": engine.Ask, "cat .gemini/settings.json": engine.Allow, "sed -n p .gemini/settings.json": engine.Allow, "rm x": engine.Allow,
		"cp .gemini/settings.json x": engine.Allow, "rm .gemini/tmp/x": engine.Allow, "rm -r $out": engine.Allow, "cp src/* x": engine.Allow,
	} {
		s := script.Read(text)
		in := engine.Intent{Plan: engine.Plan{Dir: dir, Commands: s.Commands, Class: s.Class, Writes: s.Writes}}
		if got, _ := p.Judge(t.Context(), engine.Proposal{Tool: tool(engine.Execute), Intent: in}); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
		if in.Plan.Confined = true; len(in.Plan.Writes) == 0 {
			if got, _ := p.Judge(t.Context(), engine.Proposal{Tool: tool(engine.Execute), Intent: in}); got != engine.Allow {
				t.Errorf("confined, %s: %v, want %v", text, got, engine.Allow)
			}
		}
	}
}
