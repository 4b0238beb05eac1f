package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/tools/command"
	"gemline/tools/files"
	"gemline/tools/toolstest"
	"gemline/tools/workspace"
)

// rehearsal returns p in a rehearsal, and its tools.
// A place is a workspace with tools.
type place struct {
	toolstest.Place
	families Families
}

func newPlace(t testing.TB, names map[string]string) place {
	t.Helper()
	p := toolstest.NewPlace(t, names)
	return place{p, Families{Files: files.Tools{Workspace: p.Workspace}, Commands: command.Tools{Workspace: p.Workspace}}}
}

func (p *place) rehearsal(pretend bool, more ...engine.Tool) (*Rehearsal, engine.Toolset) {
	p.Helper()
	over := &workspace.Overlay{}
	ws, err := workspace.New(workspace.Config{Roots: []string{p.Dir}, RespectGit: true, RespectGemini: true, Overlay: over})
	if err != nil {
		p.Fatal(err)
	}
	p.families.Files.Workspace, p.families.Commands.Workspace = ws, ws
	r := Rehearse(ws, over, pretend, nil)
	return r, r.Tools(append(New(p.families), more...))
}

func tool(t testing.TB, ts engine.Toolset, name string) engine.Tool {
	t.Helper()
	for _, tool := range ts.Tools() {
		if tool.Name() == name {
			return tool
		}
	}
	t.Fatal("no tool", name)
	return engine.Tool{}
}

// Whatever looks at files sees what was written, and nothing is.
func TestRehearsalIsSeenByAllTools(t *testing.T) {
	p := newPlace(t, map[string]string{"a.go": "package a\n", "sub/b.go": "package b\n", "app/x": ""})
	before := treeOf(t, p.Dir)
	_, ts := p.rehearsal(false)
	do := func(name, args string) string {
		t.Helper()
		_, r, err := p.Do(tool(t, ts, name), args)
		if err != nil {
			t.Fatalf("%s %s: %v", name, args, err)
		}
		return p.Short(r.Text)
	}
	do("replace", `{"file_path":"a.go","instruction":"i","old_string":"package a","new_string":"package main"}`)
	do("write_file", `{"file_path":"app/[id]/page.tsx","content":"export needle\n"}`)
	do("write_file", `{"file_path":".gitignore","content":"*.log\n"}`)
	do("write_file", `{"file_path":"sub/noise.log","content":"needle\n"}`)
	do("replace", `{"file_path":"page.tsx","instruction":"found by its name","old_string":"export","new_string":"import"}`)
	for _, c := range []struct{ name, args, want, not string }{
		{"read_file", `{"file_path":"a.go"}`, "package main", ""},
		{"read_file", `{"file_path":"app/[id]/page.tsx"}`, "import needle", ""},
		{"list_directory", `{"dir_path":"app"}`, "[DIR] [id]", ""},
		{"list_directory", `{"dir_path":"app/[id]"}`, "page.tsx (14 bytes)", ""},
		{"list_directory", `{"dir_path":"sub"}`, "b.go", "noise.log"},
		{"glob", `{"pattern":"app/[id]/page.tsx"}`, "$/app/[id]/page.tsx", ""},
		{"glob", `{"pattern":"**/*"}`, "$/app/[id]/page.tsx", "noise.log"},
		{"glob", `{"pattern":"*.tsx","dir_path":"app/[id]"}`, "$/app/[id]/page.tsx", ""},
		{"grep_search", `{"pattern":"needle"}`, "app/[id]/page.tsx", "noise.log"},
		{"grep_search", `{"pattern":"package \\w+","dir_path":"a.go"}`, "package main", "package a\n"},
		{"grep_search", `{"pattern":"n..dle","dir_path":"app/[id]/page.tsx"}`, "import needle", ""},
	} {
		if got := do(c.name, c.args); !strings.Contains(got, c.want) || c.not != "" && strings.Contains(got, c.not) {
			t.Errorf("%s %s: %s", c.name, c.args, got)
		}
	}
	parts, skipped, err := p.families.Files.ReadMany(t.Context(), []string{p.Path("app"), p.Path("a.go"), p.Path("sub/noise.log")}, nil)
	text := ""
	for _, part := range parts {
		text += part.Text
	}
	if err != nil || !strings.Contains(text, "import needle") || !strings.Contains(text, "package main") || len(skipped) != 1 {
		t.Errorf("got %q, %v, %v", text, skipped, err)
	}
	if _, _, err := p.Do(tool(t, ts, "write_file"), `{"file_path":"app/[id]/page.tsx/below","content":"x"}`); err == nil || !strings.Contains(err.Error(), "page.tsx is not a directory") {
		t.Errorf("a file below a file: %v", err)
	}
	if after := treeOf(t, p.Dir); after != before {
		t.Errorf("there was\n%s\nand there is\n%s", before, after)
	}
}

// treeOf is what a tree holds, with times and modes.
func treeOf(t testing.TB, dir string) string {
	t.Helper()
	var all strings.Builder
	if err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintln(&all, strings.TrimPrefix(path, dir), info.Mode(), info.ModTime().UnixNano())
		if info.Mode().IsRegular() {
			b, err := os.ReadFile(path)
			fmt.Fprintf(&all, "%q\n", b)
			return err
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return all.String()
}

func TestRehearsalCarriesNothingElseOut(t *testing.T) {
	other := engine.Tool{Declaration: &genai.FunctionDeclaration{Name: "deploy"}, Prepare: func(context.Context, map[string]any) (engine.Call, error) {
		return engine.Call{Intent: engine.Intent{Title: "deploy\nall"}, Run: func(context.Context, engine.Host) (engine.Result, error) {
			panic("it was deployed")
		}}, nil
	}}
	stealthy := other // it says that it edits, and does so past the workspace
	stealthy.Declaration, stealthy.Kind = &genai.FunctionDeclaration{Name: "save"}, engine.Edit
	calls := [][2]string{{"run_shell_command", `{"command":"touch made\n#"}`}, {"deploy", `{}`}, {"save", `{}`},
		{"run_shell_command", `{"command":"make","dir_path":"sub"}`}, {"write_file", `{"file_path":"a","content":"x"}`}, {"read_file", `{"file_path":"a"}`}}
	for _, pretend := range []bool{false, true} {
		p := newPlace(t, map[string]string{"a": "", "sub/x": ""})
		r, ts := p.rehearsal(pretend, other, stealthy)
		for _, call := range calls {
			_, _, err := p.Do(tool(t, ts, call[0]), call[1])
			var ce *engine.CallError
			done := call[0] == "write_file" || call[0] == "read_file" || pretend
			if done != (err == nil) || err != nil && (!errors.As(err, &ce) || ce.Type != "not_carried_out") {
				t.Errorf("%v, pretending %v: %v", call, pretend, err)
			}
		}
		var titles []string
		for _, s := range r.Steps() {
			titles = append(titles, s.Tool+": "+s.Title)
		}
		want := `run_shell_command: run: "touch made\n#" | deploy: "deploy\nall" | save: "deploy\nall" | run_shell_command: run in sub: make | write_file: write: a`
		if got := strings.Join(titles, " | "); got != want {
			t.Errorf("got %s", got)
		}
		if _, err := os.Lstat(p.Path("made")); err == nil {
			t.Error("the command was run")
		}
	}
}

// A judge judges every call alike.
type judge engine.Verdict

func (j judge) Offers(engine.Tool) bool { return j != judge(engine.Deny) }
func (j judge) Judge(context.Context, engine.Proposal) (engine.Verdict, engine.Reason) {
	return engine.Verdict(j), engine.Reason{Text: "why"}
}
func (j judge) Learn(engine.Grant, engine.Scope) error { return nil }
func named(name string, k engine.Kind) engine.Tool {
	return engine.Tool{Declaration: &genai.FunctionDeclaration{Name: name}, Kind: k}
}

// Nothing is asked that does nothing, and what is denied is denied.
func TestRehearsalPolicy(t *testing.T) {
	p := newPlace(t, nil)
	for _, c := range []struct {
		tool        engine.Tool
		pretend     bool
		judge, want engine.Verdict
		offered     bool
	}{
		{named("write_file", engine.Edit), false, engine.Ask, engine.Allow, true},
		{named("replace", engine.Edit), true, engine.Ask, engine.Allow, true},
		{named("replace", engine.Edit), false, engine.Deny, engine.Deny, false},
		{named("save", engine.Edit), false, engine.Ask, engine.Allow, false},
		{named("run_shell_command", engine.Execute), false, engine.Ask, engine.Allow, false},
		{named("run_shell_command", engine.Execute), true, engine.Ask, engine.Allow, true},
		{named("run_shell_command", engine.Execute), true, engine.Deny, engine.Deny, false},
		{named("deploy", engine.Other), false, engine.Ask, engine.Allow, false},
		{named("web_fetch", engine.Fetch), false, engine.Ask, engine.Ask, true}, // it does go out
		{named("ask_user", engine.AskUser), false, engine.Ask, engine.Ask, true},
		{named("read_file", engine.Read), false, engine.Allow, engine.Allow, true},
	} {
		r, _ := p.rehearsal(c.pretend)
		policy := r.Policy(judge(c.judge))
		got, _ := policy.Judge(t.Context(), engine.Proposal{Tool: c.tool})
		if got != c.want || policy.Offers(c.tool) != c.offered {
			t.Errorf("%s, pretending %v: %v becomes %v, offered %v", c.tool.Name(), c.pretend, c.judge, got, policy.Offers(c.tool))
		}
	}
	if (*Rehearsal)(nil).Policy(judge(engine.Ask)) != engine.Policy(judge(engine.Ask)) || (*Rehearsal)(nil).Patch() != "" {
		t.Error("no rehearsal changes something")
	}
}

// The same calls make the same files, whether they are carried out or go by
// way of a patch and git; and the model is told the same.
func TestRehearsalComesTrue(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		if os.Getenv("GEMLINE_TEST_ALL") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	start := map[string]string{
		"plain.txt": "one\ntwo\nthree\n", "open": "no end", "crlf.txt": "one\r\ntwo\r\nthree\r\n", "mixed": "one\ntwo\r\nthree\n", "empty": "",
		"bom.cs": "\ufeffone\ntwo\n", "wide.txt": "\xff\xfeo\x00n\x00e\x00\n\x00", "latin": "caf\xe9 one\ntwo\n", "run.sh": "#!/bin/sh\none\n",
		"deep/ünï code/b.txt": "one\none\n", "colours": "\x1b[1mone\x1b[m\n", "long": strings.Repeat("one two three four\n", 500) + "one\n",
	}
	words := []string{"one", "two", "three", "four", "é", "\u202e", "no end", "#!/bin/sh"}
	for seed := range uint64(25) {
		rng := rand.New(rand.NewPCG(seed, 3))
		var places []place
		for range 3 { // real, rehearsed, patched
			p := newPlace(t, start)
			if err := os.Chmod(p.Path("run.sh"), 0o755); err != nil {
				t.Fatal(err)
			}
			if seed%2 == 0 {
				git(t, p.Dir, "init", "-q")
			}
			places = append(places, p)
		}
		real, rehearsed, patched := places[0], places[1], places[2]
		r, ts := rehearsed.rehearsal(false)
		names := []string{"new.txt", "new dir/a", "new dir/b/c \"d\"", "-x"}
		for name := range start {
			names = append(names, name)
		}
		word := func() string { return words[rng.IntN(len(words))] }
		before := treeOf(t, rehearsed.Dir)
		for range 15 {
			args := map[string]any{"file_path": names[rng.IntN(len(names))]}
			name := "write_file"
			if rng.IntN(3) > 0 {
				name, args["instruction"], args["allow_multiple"] = "replace", "i", true
				args["old_string"], args["new_string"] = word(), word()+[]string{"", "\n", "\nx\n"}[rng.IntN(3)]
				if rng.IntN(4) == 0 {
					args["old_string"] = ""
				}
			} else {
				var lines []string
				for range rng.IntN(5) {
					lines = append(lines, word())
				}
				args["content"] = strings.Join(lines, "\n") + []string{"", "\n"}[rng.IntN(2)]
			}
			b, err := json.Marshal(args)
			if err != nil {
				t.Fatal(err)
			}
			_, want, werr := real.Do(tool(t, New(real.families), name), string(b))
			_, got, gerr := rehearsed.Do(tool(t, ts, name), string(b))
			if w, g := real.Short(want.Text+fmt.Sprint(werr)), rehearsed.Short(got.Text+fmt.Sprint(gerr)); w != g {
				t.Fatalf("seed %d: %s %s: the model is told\n%s\nand in a rehearsal\n%s", seed, name, b, w, g)
			}
		}
		if after := treeOf(t, rehearsed.Dir); after != before {
			t.Fatalf("seed %d: the rehearsal changed something", seed)
		}
		patch := r.Patch()
		if patch != "" {
			cmd := exec.Command("git", "apply", "--whitespace=nowarn")
			cmd.Dir, cmd.Stdin, cmd.Env = patched.Dir, strings.NewReader(patch), withoutSettings()
			if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
				t.Fatalf("seed %d: %v: %s\n%s", seed, err, out, patch)
			}
		}
		if want, got := contents(t, real.Dir), contents(t, patched.Dir); want != got {
			t.Fatalf("seed %d: want\n%s\ngot\n%s\nby\n%s", seed, want, got, patch)
		}
	}
}

func git(t testing.TB, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, withoutSettings()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
}

// withoutSettings is an environment in which git goes by no settings of whoever
// runs the tests.
func withoutSettings() []string {
	return append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
}

// contents is what the files of a tree hold, and which can be run.
func contents(t testing.TB, dir string) string {
	t.Helper()
	var all strings.Builder
	if err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.Name() == ".git":
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		b, err := os.ReadFile(path)
		fmt.Fprintf(&all, "%q %v %q\n", strings.TrimPrefix(path, dir), info.Mode()&0o100 != 0, b)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// The patch is for the repository, or else for the directory that is worked in.
func TestRehearsalBase(t *testing.T) {
	p := newPlace(t, map[string]string{"top": "1\n", "sub/a": "1\n"})
	git(t, p.Dir, "init", "-q")
	if err := os.Symlink(p.Path("top"), p.Path("sub/link")); err != nil {
		t.Skip(err)
	}
	over := &workspace.Overlay{}
	ws, err := workspace.New(workspace.Config{Roots: []string{p.Path("sub"), p.Dir, filepath.Join(filepath.Dir(p.Dir), "out")}, Overlay: over})
	if err != nil {
		t.Fatal(err)
	}
	r := Rehearse(ws, over, false, nil)
	write := tool(t, r.Tools(New(Families{Files: files.Tools{Workspace: ws}})), "write_file")
	if _, _, err := p.Do(write, `{"file_path":"a","content":"2\n"}`); err != nil || r.ApplyDir() != "" {
		t.Error(err, r.ApplyDir())
	}
	if _, _, err := p.Do(write, `{"file_path":"link","content":"2\n"}`); err != nil || r.ApplyDir() != p.Dir {
		t.Error(err, r.ApplyDir())
	}
	_, _, err = p.Do(write, `{"file_path":`+fmt.Sprintf("%q", filepath.Join(filepath.Dir(p.Dir), "out", "x"))+`,"content":"2\n"}`)
	var ce *engine.CallError
	if !errors.As(err, &ce) || ce.Type != "not_in_patch" {
		t.Error(err)
	}
	var names []string
	for l := range strings.Lines(r.Patch()) {
		if strings.HasPrefix(l, "diff ") {
			names = append(names, l)
		}
	}
	if got := strings.Join(names, ""); got != "diff --git a/sub/a b/sub/a\ndiff --git a/top b/top\n" {
		t.Errorf("got %s", got)
	}
}
