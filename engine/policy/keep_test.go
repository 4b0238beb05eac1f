package policy_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gemline/engine"
	et "gemline/engine/enginetest"
	"gemline/engine/policy"
)

// offered returns what is proposed for a call.
func offered(t *testing.T, q engine.Proposal, never bool) []engine.Grant {
	t.Helper()
	user := et.NewApprover(t, engine.Answer{})
	if _, err := policy.New(policy.Default).Propose(user, never).Approve(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	return user.Proposals()[0].Intent.Grants
}

// asked returns a call of the shell that offers what its tool would.
func asked(class engine.Class, script string) engine.Proposal {
	q := shell(class, script)
	q.Intent.Grants = []engine.Grant{{Label: "this exact command", Tool: policy.Shell, Target: "/dir\x00" + script}}
	return q
}

// What is proposed covers the call, and what it is kept as says no more than
// its label.
func TestProposals(t *testing.T) {
	for _, c := range []struct {
		class         engine.Class
		script        string
		label         string   // of the second grant
		exact, prefix []string // what else each covers
		not           []string // what neither does
	}{
		{engine.Plain, "git log -1", "what begins with git log", nil, []string{"git log", "git log -p x"}, []string{"git", "git push", "git log -1 | rm x"}},
		{engine.Plain, "ls -l", "what begins with ls", nil, []string{"ls", "ls x"}, []string{"lsof", "rm"}},
		{engine.Plain, "ls -l | wc", "what begins with ls or wc", []string{"ls -l", "wc"}, []string{"wc -l | ls"}, []string{"ls | rm x"}},
		{engine.Plain, "echo a.c", "what begins with echo", nil, nil, []string{"echoes", "echo: a.c | sh"}},
		{engine.Plain, "rm x", "", nil, nil, []string{"rm y", "rm x y"}},
		{engine.Plain, "git -C x log", "", nil, nil, []string{"git -C x push"}},
		{engine.Plain, "git config x y", "", nil, nil, []string{"git config core.pager x"}},
		{engine.Plain, "sudo ls | sudo: ls", "", []string{"ls"}, nil, []string{"sudo rm | sudo: rm"}},
		{engine.Readable, "ls $x", "", nil, nil, []string{"ls"}},
		{engine.Opaque, "ls", "", nil, nil, nil},
	} {
		q := asked(c.class, c.script)
		grants := offered(t, q, false)
		label := ""
		if len(grants) > 1 {
			label = grants[1].Label
		}
		if label != c.label || (grants[0].Rule != "") != (c.class == engine.Plain) {
			t.Errorf("%s: %+v", c.script, grants)
		}
		for i, g := range grants {
			if g.Rule == "" {
				continue
			}
			p := policy.New(policy.Default, parse(t, policy.User, g.Rule)...)
			judge := func(script string, want engine.Verdict) {
				if got, _ := p.Judge(shell(engine.Plain, script)); got != want {
					t.Errorf("%s: %s for %q, by\n%s", c.script, policy.Word(got), script, g.Rule)
				}
			}
			judge(c.script, engine.Allow)
			for _, script := range [][]string{c.exact, c.prefix}[i] {
				judge(script, engine.Allow)
			}
			for _, script := range c.not {
				judge(script, engine.Ask)
			}
		}
		if got := offered(t, q, true); got != nil {
			t.Errorf("offered although it never is: %+v", got)
		}
	}
	edit := engine.Proposal{Tool: named("write_file", engine.Edit), Args: map[string]any{"file_path": "a.go"},
		Intent: engine.Intent{Grants: []engine.Grant{{Label: "edits of a.go", Tool: "edit", Target: "/a.go"}}}}
	g := offered(t, edit, false)[0]
	if !g.Near {
		t.Error("a relative path would hold everywhere")
	}
	p := policy.New(policy.Default, parse(t, policy.User, g.Rule)...)
	if v, _ := p.Judge(edit); v != engine.Allow {
		t.Error("not covered by", g.Rule)
	}
	edit.Args = map[string]any{"file_path": "xa.go"}
	if v, _ := p.Judge(edit); v != engine.Ask {
		t.Error("covered by", g.Rule)
	}
}

// What is kept holds from the next call on, is written as a person would
// write it behind what is there, and can be taken back.
func TestKeep(t *testing.T) {
	dir := t.TempDir()
	shelf := policy.Shelf{User: filepath.Join(dir, "user.toml"), Project: filepath.Join(dir, "projects", "p.toml"), About: "said"}
	var told []string
	shelf.Told = func(s string) { told = append(told, s) }
	const before = "# My own.\n[[rule]]\ntoolName = \"glob\" # why not\ndecision = \"ask_user\"\npriority = 1"
	if err := os.WriteFile(shelf.User, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	p := policy.New(policy.Default)
	p.Shelf = shelf
	q := asked(engine.Plain, "git log -1")
	grants := offered(t, q, false)
	for range 2 {
		if err := p.Learn(grants[1], engine.Everywhere); err != nil {
			t.Fatal(err)
		}
	}
	if v, _ := p.Judge(shell(engine.Plain, "git log -p")); v != engine.Allow {
		t.Error("it does not hold")
	}
	const rule = "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = [\"git log\"]\ndecision = \"allow\"\npriority = 950\n"
	if b, _ := os.ReadFile(shelf.User); string(b) != before+"\n\n# said\n"+rule {
		t.Errorf("%s", b)
	}
	if len(told) == 0 || !strings.Contains(told[0], shelf.User) || !strings.Contains(told[0], `commandPrefix = ["git log"]`) {
		t.Error(told)
	}
	was, err := policy.Revoke(shelf.User, 8)
	if b, _ := os.ReadFile(shelf.User); err != nil || was != "# said\n"+strings.TrimSpace(rule) || strings.TrimSpace(string(b)) != before {
		t.Errorf("%v: %q leaves %q", err, was, b)
	}
	if _, err := policy.Revoke(shelf.User, 1); err == nil {
		t.Error("a comment was taken for a rule")
	}
	if err := p.Learn(grants[0], engine.InProject); err != nil {
		t.Fatal(err)
	}
	if rules, _, err := policy.Load([]policy.Source{{Path: shelf.Project, Tier: policy.User, Must: true}}); err != nil || len(rules) != 1 || !rules[0].Kept() {
		t.Error(rules, err)
	}
	if info, err := os.Stat(shelf.Project); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info, err)
	}

	// A file with a mistake is left alone, and the answer holds all the same.
	if err := os.WriteFile(shelf.User, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	told = nil
	if err := p.Learn(offered(t, asked(engine.Plain, "ls"), false)[1], engine.Everywhere); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(shelf.User); string(b) != "x" || len(told) != 1 || !strings.Contains(told[0], "not kept") {
		t.Errorf("%q, %q", b, told)
	}
	if v, _ := p.Judge(shell(engine.Plain, "ls x")); v != engine.Allow {
		t.Error("it does not hold for the session")
	}

	// For a session, what covers more is no more than that.
	p = policy.New(policy.Default)
	if err := p.Learn(grants[1], engine.Session); err != nil {
		t.Fatal(err)
	}
	for script, want := range map[string]engine.Verdict{"git log": engine.Allow, "git show": engine.Ask} {
		if v, _ := p.Judge(shell(engine.Plain, script)); v != want {
			t.Errorf("%s: %s", script, policy.Word(v))
		}
	}
}
