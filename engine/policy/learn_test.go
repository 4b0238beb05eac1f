package policy_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gemline/engine"
	et "gemline/engine/enginetest"
	"gemline/engine/policy"
)

// offered returns what is proposed for a call.
func offered(t *testing.T, q engine.Proposal, never bool) []engine.Grant {
	t.Helper()
	user := et.NewApprover(t, engine.Refused{})
	if _, err := policy.New(policy.Default).OfferRules(user, never).Approve(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	return user.Proposals()[0].Intent.Grants
}

// asked returns a call of the shell that offers what its tool would.
func asked(class engine.Class, script string) engine.Proposal {
	q := shell(class, script)
	q.Intent.Grants = []engine.Grant{{Label: "always this command", Tool: policy.Shell, Target: "/dir\x00" + script}}
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
		{engine.Plain, "git log -1", `always "git log ..."`, nil, []string{"git log", "git log -p x"}, []string{"git", "git push", "git log -1 | rm x"}},
		{engine.Plain, "ls -l", `always "ls ..."`, nil, []string{"ls", "ls x"}, []string{"lsof", "rm"}},
		{engine.Plain, "ls -l | wc", `always "ls ..." or "wc ..."`, nil, []string{"ls -l", "wc", "wc -l | ls"}, []string{"ls | rm x"}},
		{engine.Plain, "echo a.c", `always "echo ..."`, nil, nil, []string{"echoes", "echo: a.c | sh"}},
		{engine.Plain, "rm x", "", nil, nil, []string{"rm y", "rm x y"}},
		{engine.Plain, "git -C x log", "", nil, nil, []string{"git -C x push"}},
		{engine.Plain, "git config x y", "", nil, nil, []string{"git config core.pager x"}},
		{engine.Plain, "sudo ls | sudo: ls", "", nil, nil, []string{"ls", "sudo rm | sudo: rm"}},
		{engine.Plain, "npm run build", `always "npm run ..."`, nil, []string{"npm run x"}, []string{"npm test"}},
		{engine.Plain, "npm exec x", "", nil, nil, []string{"npm exec y"}},
		{engine.Plain, "yarn test", `always "yarn test ..."`, nil, []string{"yarn test x"}, []string{"yarn dlx x"}},
		{engine.Plain, "uv run x", "", nil, nil, []string{"uv run y"}},
		{engine.Plain, "uv", "", nil, nil, []string{"uv run y"}},
		{engine.Plain, "bundle exec x", "", nil, nil, []string{"bundle exec y"}},
		{engine.Plain, "bundle install", `always "bundle install ..."`, nil, []string{"bundle install x"}, []string{"bundle exec y"}},
		{engine.Plain, "python3.11 x.py", "", nil, nil, []string{"python3.11 y.py"}},
		{engine.Plain, "Python x.py", "", nil, nil, []string{"Python y.py"}},
		{engine.Plain, "nodejs x.js", "", nil, nil, []string{"nodejs y.js"}},
		{engine.Plain, "psql -l", "", nil, nil, []string{"psql x"}},
		{engine.Plain, "./build.sh x", `always "./build.sh ..."`, nil, []string{"./build.sh y"}, []string{"build.sh", "../build.sh"}},
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
				if got, _ := p.Judge(t.Context(), shell(engine.Plain, script)); got != want {
					t.Errorf("%s: %s for %q, by\n%s", c.script, policy.VerdictName(got), script, g.Rule)
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
		Intent: engine.Intent{Grants: []engine.Grant{{Label: "always for a.go", Tool: "edit", Target: "/a.go"}}}}
	g := offered(t, edit, false)[0]
	if !g.ProjectOnly {
		t.Error("a relative path would hold everywhere")
	}
	p := policy.New(policy.Default, parse(t, policy.User, g.Rule)...)
	if v, _ := p.Judge(t.Context(), edit); v != engine.Allow {
		t.Error("not covered by", g.Rule)
	}
	edit.Args = map[string]any{"file_path": "xa.go"}
	if v, _ := p.Judge(t.Context(), edit); v != engine.Ask {
		t.Error("covered by", g.Rule)
	}
}

// What is kept holds from the next call on, is written as a person would
// write it behind what is there, and can be taken back.
func TestKeep(t *testing.T) {
	dir := t.TempDir()
	store := policy.Store{User: filepath.Join(dir, "user.toml"), Project: filepath.Join(dir, "projects", "p.toml"), About: "said"}
	var told []string
	store.Failed = func(s string) { told = append(told, s) }
	store.Saved = store.Failed
	const before = "# My own.\n[[rule]]\ntoolName = \"glob\" # why not\ndecision = \"ask_user\"\npriority = 1"
	if err := os.WriteFile(store.User, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	p := policy.New(policy.Default)
	p.Store = store
	q := asked(engine.Plain, "git log -1")
	grants := offered(t, q, false)
	for range 2 {
		if err := p.Learn(grants[1], engine.Everywhere); err != nil {
			t.Fatal(err)
		}
	}
	if v, _ := p.Judge(t.Context(), shell(engine.Plain, "git log -p")); v != engine.Allow {
		t.Error("it does not hold")
	}
	const rule = "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = [\"git log\"]\ndecision = \"allow\"\npriority = 950\n"
	if b, _ := os.ReadFile(store.User); string(b) != before+"\n\n# said\n"+rule {
		t.Errorf("%s", b)
	}
	if len(told) == 0 || !strings.Contains(told[0], store.User) || !strings.Contains(told[0], `commandPrefix = ["git log"]`) {
		t.Error(told)
	}
	was, err := p.Revoke(policy.Origin{File: store.User, Line: 8})
	if b, _ := os.ReadFile(store.User); err != nil || was != "# said\n"+strings.TrimSpace(rule) || strings.TrimSpace(string(b)) != before {
		t.Errorf("%v: %q leaves %q", err, was, b)
	}
	if _, err := p.Revoke(policy.Origin{File: store.User, Line: 1}); err == nil {
		t.Error("a comment was taken for a rule")
	}
	if err := p.Learn(grants[0], engine.InProject); err != nil {
		t.Fatal(err)
	}
	if rules, _, err := policy.Load([]policy.Source{{Path: store.Project, Tier: policy.User, Required: true}}); err != nil || len(rules) != 1 || !rules[0].Learned() {
		t.Error(rules, err)
	}
	if info, err := os.Stat(store.Project); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info, err)
	}

	// A file with a mistake is left alone, and the answer holds all the same.
	if err := os.WriteFile(store.User, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	told = nil
	if err := p.Learn(offered(t, asked(engine.Plain, "ls"), false)[1], engine.Everywhere); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(store.User); string(b) != "x" || len(told) != 1 || !strings.Contains(told[0], "not saved") {
		t.Errorf("%q, %q", b, told)
	}
	if v, _ := p.Judge(t.Context(), shell(engine.Plain, "ls x")); v != engine.Allow {
		t.Error("it does not hold for the session")
	}

	// For a session, what covers more is no more than that.
	p = policy.New(policy.Default)
	if err := p.Learn(grants[1], engine.Session); err != nil {
		t.Fatal(err)
	}
	for script, want := range map[string]engine.Verdict{"git log": engine.Allow, "git show": engine.Ask} {
		if v, _ := p.Judge(t.Context(), shell(engine.Plain, script)); v != want {
			t.Errorf("%s: %s", script, policy.VerdictName(v))
		}
	}

	// When that ends, all of it does, and no rule of a file.
	if err := p.Learn(offered(t, asked(engine.Plain, "ls"), false)[0], engine.Session); err != nil {
		t.Fatal(err)
	}
	rules := len(policy.New(policy.Default).Rules())
	p.ForgetGrants()
	for _, script := range []string{"git log", "ls"} {
		if v, _ := p.Judge(t.Context(), shell(engine.Plain, script)); v != engine.Ask {
			t.Errorf("%s: %s after all", script, policy.VerdictName(v))
		}
	}
	if n := len(p.Rules()); n != rules {
		t.Errorf("%d rules are left of %d", n, rules)
	}
}

// What is offered, and what is not, where a rule would say too much or could
// not be written.
func TestOffered(t *testing.T) {
	plain := func(script string) engine.Proposal { return asked(engine.Plain, script) }
	count := func(q engine.Proposal) (kept int) {
		for _, g := range offered(t, q, false) {
			if g.Rule != "" {
				kept++
			}
		}
		return kept
	}
	for script, want := range map[string]int{"ls": 2, "go": 1, "go test": 2, "go exec x": 1, "npm x y": 1, "cargo config": 1, "go config": 1, "git -x": 1, "A=1 ls": 0, "ls | A=1 ls": 0, "x*y": 1, "env: ls": 1, "BASH x": 1, "ls | rm": 1, "rm | ls": 1, "git Log": 1} {
		if got := count(plain(script)); got != want {
			t.Errorf("%s: %d rules, want %d", script, got, want)
		}
	}
	if got := offered(t, plain("wc | ls | wc"), false); !strings.Contains(got[0].Rule, "commandLine = 'wc | ls | wc'\ndirectory = '/dir'\n") || !strings.Contains(got[1].Rule, `commandPrefix = ["ls", "wc"]`) {
		t.Errorf("%+v", got)
	}
	if got := offered(t, plain("ls it's\ta\x7f"), false); !strings.Contains(got[0].Rule, `commandLine = "ls it's\u0009a\u007F"`) {
		t.Errorf("%+v", got)
	}
	for _, c := range []struct {
		kind engine.Kind
		args map[string]any
		want int
	}{
		{engine.Edit, map[string]any{"file_path": "it's\n"}, 1}, {engine.Edit, map[string]any{"file_path": "\x00"}, 0}, {engine.Edit, map[string]any{"file_path": "a\x00b"}, 0}, {engine.Edit, map[string]any{"file_path": 1}, 0},
		{engine.Edit, nil, 0}, {engine.Other, map[string]any{"file_path": "a"}, 1}, {engine.Fetch, nil, 1},
	} {
		q := engine.Proposal{Tool: named("write_file", c.kind), Args: c.args, Intent: engine.Intent{Grants: []engine.Grant{{Tool: "write_file", Target: "x"}}}}
		if got := count(q); got != c.want {
			t.Errorf("%v: %d rules, want %d", c.args, got, c.want)
			continue
		}
		if g := offered(t, q, false)[0]; g.Rule != "" {
			if v, _ := policy.New(policy.Default, parse(t, policy.User, g.Rule)...).Judge(t.Context(), q); v != engine.Allow || g.ProjectOnly != (c.kind == engine.Edit) {
				t.Errorf("%v: %s by\n%s", c.args, policy.VerdictName(v), g.Rule)
			}
		}
		q.Intent.Grants = nil
		if got := offered(t, q, false); got != nil {
			t.Errorf("offered where nothing was: %+v", got)
		}
	}
	none := asked(engine.Plain, "ls")
	none.Intent.Plan.Commands = nil
	bare := asked(engine.Plain, "ls")
	bare.Intent.Plan.Commands = []engine.Command{{}}
	if count(none) != 0 || count(bare) != 0 {
		t.Error("a rule about no command")
	}
	for _, store := range []policy.Store{{}, {Project: "p.toml"}, {User: "u.toml"}} {
		p, user := policy.New(policy.Default), et.NewApprover(t, engine.Refused{})
		p.Store = store
		if _, err := p.OfferRules(user, false).Approve(t.Context(), plain("ls")); err != nil {
			t.Fatal(err)
		}
		if got := user.Proposals()[0].Intent.Grants[0].SessionOnly; got != (store.Project == "" && store.User == "") {
			t.Errorf("%+v: for the session only: %t", store, got)
		}
	}
}

// Where an answer is kept: in the file of its scope, for what is near in the
// project's, and else for the session.
func TestScopes(t *testing.T) {
	const rule = "[[rule]]\ntoolName = \"glob\"\ndecision = \"allow\"\npriority = 950\n"
	for _, c := range []struct {
		grant         engine.Grant
		scope         engine.Scope
		user, project bool
		protects      int // rules and grants that the policy lists
	}{
		{engine.Grant{Tool: "glob", Rule: rule}, engine.Everywhere, true, false, 1},
		{engine.Grant{Tool: "glob", Rule: rule}, engine.InProject, false, true, 1},
		{engine.Grant{Tool: "glob", Rule: rule, ProjectOnly: true}, engine.Everywhere, false, true, 1},
		{engine.Grant{Tool: "glob", Rule: rule}, engine.Session, false, false, 1},
		{engine.Grant{Tool: "glob", Rule: rule, Target: "x"}, engine.Session, false, false, 1},
		{engine.Grant{Tool: "glob", Rule: rule, Target: "x"}, engine.InProject, false, true, 1},
		{engine.Grant{Tool: "glob", Rule: rule, ProjectOnly: true}, engine.Session, false, false, 1},
		{engine.Grant{Tool: "glob", Rule: rule}, engine.Once, false, false, 0},
		{engine.Grant{Tool: "glob"}, engine.Everywhere, false, false, 1},
		{engine.Grant{Rule: rule}, engine.Everywhere, false, false, 0},
	} {
		dir := t.TempDir()
		p := policy.New(policy.Default)
		p.Store = policy.Store{User: filepath.Join(dir, "u.toml"), Project: filepath.Join(dir, "p.toml")}
		before := len(p.Rules())
		if err := p.Learn(c.grant, c.scope); err != nil {
			t.Fatal(err)
		}
		there := func(name string) bool {
			b, err := os.ReadFile(filepath.Join(dir, name))
			return err == nil && string(b) == rule
		}
		if there("u.toml") != c.user || there("p.toml") != c.project || len(p.Rules())-before != c.protects {
			t.Errorf("%+v in scope %d: user's %t, project's %t, %d rules", c.grant, c.scope, there("u.toml"), there("p.toml"), len(p.Rules())-before)
		}
	}
	p := policy.New(policy.Default) // a store that keeps nothing, and tells nobody
	if err := p.Learn(engine.Grant{Tool: "glob", Rule: rule}, engine.Everywhere); err != nil {
		t.Fatal(err)
	}
	if err := p.Learn(engine.Grant{Tool: "glob", Rule: "x"}, engine.Session); err == nil {
		t.Error("a rule that is none is learned")
	}
	// What nobody granted does not hold: another target, another tool.
	p = policy.New(policy.Default)
	if err := p.Learn(engine.Grant{Tool: "edit"}, engine.Session); err != nil {
		t.Fatal(err)
	}
	q := engine.Proposal{Tool: named("write_file", engine.Edit), Intent: engine.Intent{Grants: []engine.Grant{{Tool: "edit"}}}}
	if v, _ := p.Judge(t.Context(), q); v != engine.Allow {
		t.Error(v)
	}
}

// What was learned is listed with its place, in the file or in the session. What is taken
// back no longer holds, and the places of the others stay right.
func TestRevoke(t *testing.T) {
	p := policy.New(policy.Default)
	p.Store = policy.Store{User: filepath.Join(t.TempDir(), "u.toml"), About: "said"}
	places := func() (list []string) {
		for _, r := range p.Rules() {
			if r.Learned() {
				list = append(list, strings.TrimPrefix(r.Where(), filepath.Dir(p.Store.User)+"/"))
			}
		}
		slices.Sort(list)
		return list
	}
	holds := func(words ...string) (list []string) {
		for _, w := range words {
			if v, _ := p.Judge(t.Context(), asked(engine.Plain, w)); v == engine.Allow {
				list = append(list, w)
			}
		}
		return list
	}
	learn := func(script string, i int, s engine.Scope) {
		if err := p.Learn(offered(t, asked(engine.Plain, script), false)[i], s); err != nil {
			t.Fatal(err)
		}
	}
	learn("cp a b", 1, engine.Everywhere)
	learn("mv a b", 1, engine.Everywhere)
	learn("ln a b", 0, engine.Session)
	learn("touch a", 1, engine.Session)
	for _, c := range []struct {
		revoke engine.Scope
		line   int
		places []string
		holds  []string
	}{
		{places: []string{"this session:1", "this session:2", "u.toml:2", "u.toml:9"}, holds: []string{"cp a b", "mv a b", "ln a b", "touch a"}},
		{engine.Everywhere, 2, []string{"this session:1", "this session:2", "u.toml:2"}, []string{"mv a b", "ln a b", "touch a"}},
		{engine.Session, 1, []string{"this session:2", "u.toml:2"}, []string{"mv a b", "touch a"}},
		{engine.Everywhere, 2, []string{"this session:2"}, []string{"touch a"}},
		{engine.Session, 2, nil, nil},
	} {
		file := "this session"
		if c.revoke == engine.Everywhere {
			file = p.Store.User
		}
		if c.line > 0 {
			if _, err := p.Revoke(policy.Origin{File: file, Line: c.line}); err != nil {
				t.Fatal(err)
			}
		}
		if got := places(); !slices.Equal(got, c.places) {
			t.Errorf("%+v: %q", c, got)
		}
		if got := holds("cp a b", "mv a b", "ln a b", "touch a"); !slices.Equal(got, c.holds) {
			t.Errorf("%+v: %q hold", c, got)
		}
	}
}

// Rules are taken out of a file and put into it, and all else in it stays.
func TestAppendAndRevoke(t *testing.T) {
	rule := func(name string) string {
		return "[[rule]]\ntoolName = \"" + name + "\"\ndecision = \"deny\"\npriority = 1\n"
	}
	write := func(text string) string {
		file := filepath.Join(t.TempDir(), "r.toml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	for _, c := range []struct {
		text      string
		line      int
		was, left string
	}{
		{rule("a") + rule("b"), 1, rule("a"), rule("b")},
		{rule("a") + rule("b"), 5, rule("b"), rule("a")},
		{"# one\n# more\n" + rule("a") + "\n # two\n" + rule("b"), 3, "# one\n# more\n" + rule("a"), " # two\n" + rule("b")},
		{"# one\n" + rule("a") + "\n# two\n" + rule("b"), 8, "# two\n" + rule("b"), "# one\n" + rule("a") + "\n"},
		{"\n" + rule("a"), 2, rule("a"), "\n"},
		{"# top\n\n" + rule("a"), 3, rule("a"), "# top\n\n"},
	} {
		file := write(c.text)
		was, err := new(policy.Policy).Revoke(policy.Origin{File: file, Line: c.line})
		b, _ := os.ReadFile(file)
		if err != nil || was != strings.TrimSpace(c.was) || string(b) != c.left {
			t.Errorf("%q: %v: %q leaves %q", c.text, err, was, b)
		}
	}
	for _, line := range []int{0, 2, 9} {
		if _, err := new(policy.Policy).Revoke(policy.Origin{File: write(rule("a")), Line: line}); err == nil {
			t.Error("no rule begins at line", line)
		}
	}
	file := write("")
	for _, c := range []struct{ rule, about, want string }{
		{rule("a"), "", rule("a")}, {rule("a"), "again", rule("a")}, {rule("b"), "two\nlines", rule("a") + "\n# two\uFFFDlines\n" + rule("b")},
	} {
		if _, err := policy.Append(file, c.about, c.rule); err != nil {
			t.Fatal(err)
		}
		if b, _ := os.ReadFile(file); string(b) != c.want {
			t.Errorf("%q, want %q", b, c.want)
		}
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := policy.Append(file, "", rule("a")); err != nil {
		t.Fatal(err)
	}
	if now, err := os.Stat(file); err != nil || !os.SameFile(info, now) {
		t.Error("a file is written although nothing changes")
	}
	if _, err := policy.Append(file, "", "x"); err == nil {
		t.Error("what is no rule is written")
	}
	if b, _ := os.ReadFile(file); !strings.HasPrefix(string(b), rule("a")) {
		t.Errorf("%q", b)
	}
	link := filepath.Join(t.TempDir(), "link.toml")
	if err := os.Symlink(file, link); err != nil {
		t.Skip(err)
	}
	if _, err := policy.Append(link, "", rule("c")); err != nil {
		t.Fatal(err)
	}
	if to, err := os.Readlink(link); err != nil || to != file {
		t.Error("the link is gone", err)
	}
	if b, _ := os.ReadFile(file); !strings.HasSuffix(string(b), rule("c")) {
		t.Errorf("%q", b)
	}
	for _, bad := range []string{filepath.Join(file, "x.toml"), t.TempDir()} {
		if _, err := policy.Append(bad, "", rule("a")); err == nil {
			t.Error("written to", bad)
		}
	}
}

// What is kept of a command covers it whatever its words hold, and no other.
// A program that is named from where one is, is another one elsewhere: what is
// said of it holds in the project at most.
func TestProposalsOfNearPrograms(t *testing.T) {
	for script, near := range map[string]bool{"./build.sh x": true, "../x": true, "bin/x": true, "ls | ./x": true, "./x | ls": true, "/usr/bin/x": false, "x ./y": false} {
		for _, g := range offered(t, asked(engine.Plain, script), false) {
			if exact := g.Target != ""; g.ProjectOnly != (near || exact) { // what is exact is about a directory
				t.Errorf("%s: %s: near is %v", script, g.Label, g.ProjectOnly)
			}
		}
	}
}

func TestProposalsOfOddWords(t *testing.T) {
	for _, word := range []string{"a'b", `a\b`, `a"b`, "a\tb", "a\nb", "a\rb", "a\ab", "a\x1fb", "a\x7fb", "a'\x01\\\"\x7f", "é\u200b", "a b"} {
		q := asked(engine.Plain, "echo x")
		q.Intent.Plan.Commands[0].Argv[1].Text, q.Args["command"] = word, "echo "+word
		grants := offered(t, q, false)
		p := policy.New(policy.Default, parse(t, policy.User, grants[0].Rule)...)
		if v, _ := p.Judge(t.Context(), q); v != engine.Allow {
			t.Errorf("%q is asked about again; kept was\n%s", word, grants[0].Rule)
		}
		q.Intent.Plan.Commands[0].Argv[1].Text, q.Args["command"] = word+"x", "echo "+word+"x"
		if v, _ := p.Judge(t.Context(), q); v != engine.Ask {
			t.Errorf("%q also covers another word", word)
		}
	}
}

// What is kept of a line of several commands is the line, in its directory: none
// of them alone, in another order, or behind another one.
func TestProposalsAreExact(t *testing.T) {
	guarded := "test -d sub | rm -rf build"
	p := policy.New(policy.Default, parse(t, policy.User, offered(t, asked(engine.Plain, guarded), false)[0].Rule)...)
	judge := func(script, dir string) engine.Verdict {
		q := shell(engine.Plain, script)
		q.Intent.Plan.Dir = dir
		v, _ := p.Judge(t.Context(), q)
		return v
	}
	if v := judge(guarded, "/dir"); v != engine.Allow {
		t.Errorf("it is %s", policy.VerdictName(v))
	}
	for _, script := range []string{"rm -rf build", "test -d sub", "rm -rf build | test -d sub", "test -d other | rm -rf build", guarded + " | ls", " " + guarded} {
		if v := judge(script, "/dir"); v != engine.Ask {
			t.Errorf("%q is %s", script, policy.VerdictName(v))
		}
	}
	for _, dir := range []string{"/", "/dir/sub", "/other", ""} {
		if v := judge(guarded, dir); v != engine.Ask {
			t.Errorf("in %q it is %s", dir, policy.VerdictName(v))
		}
	}
	deny := "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = \"rm\"\ndecision = \"deny\"\npriority = 1\n"
	p = policy.New(policy.Default, append(parse(t, policy.User, offered(t, asked(engine.Plain, guarded), false)[0].Rule), parse(t, policy.User, deny)...)...)
	if v := judge(guarded, "/dir"); v != engine.Deny {
		t.Errorf("in spite of a rule that denies it is %s", policy.VerdictName(v))
	}
}

// A file that may hold secrets is asked about before it is shown, unless the user
// has said so of this file.
func TestSecretFiles(t *testing.T) {
	q := engine.Proposal{Tool: named("read_file", engine.Read), Args: map[string]any{"file_path": "server.key"}, Intent: engine.Intent{Paths: []string{"/dir/server.key"}, Secret: "server.key",
		Grants: []engine.Grant{{Label: "read_file of server.key", Tool: "read_file", Target: "/dir/server.key", Names: "file_path"}}}}
	const allow = "[[rule]]\ntoolName = \"read_file\"\ndecision = \"allow\"\npriority = 900\n"
	kept := offered(t, q, false)[0]
	for _, c := range []struct {
		name string
		mode policy.Mode
		rule string
		want engine.Verdict
	}{
		{"default", policy.Default, "", engine.Ask}, {"auto_edit", policy.AutoEdit, "", engine.Ask}, {"plan", policy.Plan, "", engine.Ask}, {"yolo", policy.Yolo, "", engine.Allow},
		{"a rule for all reads", policy.Default, allow, engine.Ask},
		{"a rule for this one", policy.Default, allow + "argsPattern = 'server[.]key'\n", engine.Allow},
		{"a rule for another", policy.Default, allow + "argsPattern = 'client[.]key'\n", engine.Ask},
		{"a rule for all keys", policy.Default, allow + "argsPattern = '[.]key\"'\n", engine.Allow},
		{"a rule for the directory", policy.Default, allow + "argsPattern = '\"file_path\":\"'\n", engine.Ask},
		{"what is kept", policy.Default, kept.Rule, engine.Allow},
		{"a denial", policy.Yolo, "[[rule]]\ntoolName = \"read_file\"\ndecision = \"deny\"\npriority = 1\n", engine.Deny},
	} {
		p := policy.New(c.mode, parse(t, policy.User, c.rule)...)
		if got, _ := p.Judge(t.Context(), q); got != c.want {
			t.Errorf("%s: %s", c.name, policy.VerdictName(got))
		}
	}
	strange := q
	strange.Args, strange.Intent.Secret = map[string]any{"file_path": "a\x01.key"}, `"a\x01.key"` // as it is shown
	for about, want := range map[string]engine.Verdict{"[.]key": engine.Allow, "file_path": engine.Ask} {
		p := policy.New(policy.Default, parse(t, policy.User, allow+"argsPattern = '"+about+"'\n")...)
		if got, _ := p.Judge(t.Context(), strange); got != want {
			t.Errorf("a rule about %s: %s", about, policy.VerdictName(got))
		}
	}
	p := policy.New(policy.Default)
	if err := p.Learn(kept, engine.Session); err != nil {
		t.Fatal(err)
	}
	if got, _ := p.Judge(t.Context(), q); got != engine.Allow {
		t.Errorf("in spite of always it is %s", policy.VerdictName(got))
	}
	q.Intent.Grants[0].Target, q.Args["file_path"] = "/dir/other.key", "other.key"
	if got, _ := p.Judge(t.Context(), q); got != engine.Ask {
		t.Errorf("another file is %s", policy.VerdictName(got))
	}
}

// What a tool says that its calls are about is covered to the letter, and all of
// its calls are if it says nothing.
func TestTargets(t *testing.T) {
	fetch := func(target string) engine.Proposal {
		return engine.Proposal{Tool: named("web_fetch", engine.Fetch), Intent: engine.Intent{Grants: []engine.Grant{{Tool: "web_fetch", Target: target}}}}
	}
	for _, c := range []struct {
		said    string   // "always" to
		covered []string // targets
		asked   []string
	}{
		{"a.test", []string{"a.test"}, []string{"b.test", "a.test b.test", "a.tes", ""}},
		{"it's \x01", []string{"it's \x01"}, []string{"it's"}},
		{"", []string{"", "a.test"}, nil},
	} {
		rule := offered(t, fetch(c.said), false)[0].Rule
		p := policy.New(policy.Default, parse(t, policy.User, rule)...)
		for _, target := range c.covered {
			if v, _ := p.Judge(t.Context(), fetch(target)); v != engine.Allow {
				t.Errorf("%q is not covered by\n%s", target, rule)
			}
		}
		for _, target := range c.asked {
			if v, _ := p.Judge(t.Context(), fetch(target)); v != engine.Ask {
				t.Errorf("%q is %s by\n%s", target, policy.VerdictName(v), rule)
			}
		}
	}
}

// What is kept of an answer about a tool of an MCP server can be read again.
func TestReadsRulesOfServers(t *testing.T) {
	for target, good := range map[string]bool{"mcp_ev_get-sum": true, "mcp_ev_*": false, "*": false, "run_shell_command": false} {
		text := fmt.Sprintf("[[rule]]\ntoolName = %q\ntarget = \"tool x\"\ndecision = \"allow\"\npriority = 100\n", target)
		rules, warnings, err := policy.Parse("x.toml", policy.User, []byte(text))
		if err != nil || (len(rules) == 1) != good || (warnings == nil) != good {
			t.Errorf("%s: %v %v", target, err, warnings)
		}
	}
}

// What tools.allowed could say so that a call runs is enough for it, the narrowest first.
func TestEntriesOfCalls(t *testing.T) {
	for script, want := range map[string]string{
		"go test ./...":      "run_shell_command(go test ./...)",
		"ls -l | wc | ls -l": "run_shell_command(ls -l),run_shell_command(wc)",
		"echo a;b":           "run_shell_command(echo 'a;b')",
		"echo it's":          `run_shell_command(echo "it's")`,
		`echo it's$`:         "",
		"echo $x":            "",
		"A=b make":           "",
		"echo \x01 \xff":     "",
	} {
		q := shell(engine.Plain, script)
		lists := policy.Entries(q)
		if all := lists[len(lists)-1]; !slices.Equal(all, []string{policy.Shell}) {
			t.Errorf("%s: %q is not the whole tool", script, all)
		}
		if want == "" {
			if len(lists) != 1 {
				t.Errorf("%s: %q", script, lists)
			}
			continue
		}
		if got := strings.Join(lists[0], ","); got != want {
			t.Errorf("%s: %q, want %q", script, got, want)
		}
		rules, wrong := policy.Lists{Allowed: lists[0]}.Rules(policy.User, "flag")
		p := policy.New(policy.Plan).With(policy.Default, rules...)
		if got, _ := p.Judge(t.Context(), q); wrong != nil || got != engine.Allow {
			t.Errorf("%s: %q allows it not: %v, %v", script, lists[0], got, wrong)
		}
	}
	if got := policy.Entries(engine.Proposal{Tool: named("glob", engine.Search)}); len(got) != 1 || !slices.Equal(got[0], []string{"glob"}) {
		t.Errorf("%q", got)
	}
}
