//go:build unix

package command

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gemline/engine"
	"gemline/engine/disk"
	"gemline/tools/sandbox"
)

// A held bench is one whose commands are confined: to one that says what it
// lacks, until it is given that.
type held struct {
	shellBench
	outside, secret string // directories
	profiles        *[]sandbox.Profile
	asked           *[]engine.Proposal
	answer          engine.Answer
	failure         error
}

func (h held) State() sandbox.State {
	return sandbox.State{Name: "test", Files: true, Network: true, RunsReadOnly: true}
}

func (h held) Confine(_ *exec.Cmd, p sandbox.Profile) (func(), error) {
	*h.profiles = append(*h.profiles, p)
	return func() {}, nil
}

func (h held) Approve(_ context.Context, p engine.Proposal) (engine.Answer, error) {
	*h.asked = append(*h.asked, p)
	return h.answer, h.failure
}

// named puts the directories in the place of their names.
func (h held) named(text string) string {
	return strings.NewReplacer("$OUT", h.outside, "$KEY", h.secret).Replace(text)
}

func newHeld(t *testing.T) held {
	h := held{shellBench: newShellBench(t), profiles: new([]sandbox.Profile), asked: new([]engine.Proposal)}
	h.outside, h.secret = disk.ResolveLinks(t.TempDir()), disk.ResolveLinks(t.TempDir())
	if err := errors.Join(os.Symlink(h.secret, filepath.Join(h.dir, "link")), os.WriteFile(filepath.Join(h.dir, "sub", "tool"), []byte("tool"), 0o700)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(filepath.Join(h.secret, "key"), nil, 0o600), os.WriteFile(filepath.Join(h.secret, "other"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	h.env.Launcher.Sandbox = h
	h.env.Launcher.Config.Hidden = []string{h.secret}
	return h
}

// What a call asks for is what it does not have anyway, by real paths, and it
// is not covered by what covers the same command without.
func TestRights(t *testing.T) {
	h := newHeld(t)
	files := func(kind string, paths ...any) map[string]any {
		return map[string]any{"fileSystem": map[string]any{kind: paths}}
	}
	for _, test := range []struct {
		name string
		asks map[string]any
		want engine.Rights
	}{
		{"nothing", map[string]any{"network": false}, engine.Rights{}},
		{"network", map[string]any{"network": true}, engine.Rights{Network: true}},
		{"inside", files("write", "sub", h.dir), engine.Rights{}},
		{"outside", files("write", h.outside, h.outside+"/."), engine.Rights{Write: []string{h.outside}}},
		{"by a link", files("write", "link/x"), engine.Rights{Read: []string{h.secret + "/x"}, Write: []string{h.secret + "/x"}, Missing: []string{h.secret + "/x"}}},
		{"by dots", files("write", "../up"), engine.Rights{Write: []string{filepath.Dir(h.dir) + "/up"}, Missing: []string{filepath.Dir(h.dir) + "/up"}}},
		{"protected", files("write", ".git/hooks/x"), engine.Rights{Protected: true}},
		{"all that is protected", map[string]any{"fileSystem": map[string]any{"protected": true}}, engine.Rights{Protected: true}},
		{"readable", files("read", "/usr"), engine.Rights{}},
		{"hidden", files("read", h.secret+"/key"), engine.Rights{Read: []string{h.secret + "/key"}, Files: []string{h.secret + "/key"}}},
		{"around what is hidden", files("read", filepath.Dir(h.secret)), engine.Rights{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			tool := runShellCommand(h.env)
			plain := h.prepare(tool, map[string]any{"command": "true"}).Intent
			in := h.prepare(tool, map[string]any{"command": "true", "additional_permissions": test.asks}).Intent
			if diff := cmp.Diff(test.want, in.Plan.Rights); diff != "" {
				t.Error(diff)
			}
			if same := in.Grants[0] == plain.Grants[0]; same != test.want.Empty() {
				t.Errorf("covered by %q", plain.Grants[0].Target)
			}
			if in.Plan.Confined != test.want.Empty() {
				t.Errorf("confined: %v", in.Plan.Confined)
			}
		})
	}
	for _, asks := range []map[string]any{files("write", ""), files("read", "a\x00b"), files("write", map[string]any{}), files("write", make([]any, 21)...)} {
		if _, err := runShellCommand(h.env).Prepare(t.Context(), map[string]any{"command": "true", "additional_permissions": asks}); err == nil {
			t.Errorf("%v is understood", asks)
		}
	}
	in := h.prepare(runShellCommand(h.env), map[string]any{"command": "true", "additional_permissions": map[string]any{"else": true}}).Intent
	if !in.Plan.Rights.Empty() {
		t.Errorf("an unknown permission gives %v", in.Plan.Rights)
	}
	h.env.Revertible, h.env.Uncovered = func() bool { return true }, func(int) ([]string, bool) { return []string{h.dir + "/big"}, true }
	if err := os.Mkdir(filepath.Join(h.dir, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := h.prepare(runShellCommand(h.env), map[string]any{"command": "true", "additional_permissions": files("write", h.outside)}).Run(t.Context(), h); err != nil {
		t.Error(err)
	}
	got := (*h.profiles)[len(*h.profiles)-1]
	if diff := cmp.Diff([]string{h.outside, h.dir + "/.git"}, got.Write); diff != "" || len(got.ReadOnly) > 0 { // the user was asked about it
		t.Error("a command that was asked about can't write to what undo does not bring back", got.ReadOnly, diff)
	}
	h.env.Launcher.Sandbox, h.env.Revertible = nil, nil
	_, note, err := runShellCommand(h.env).Fit(map[string]any{"command": "true", "additional_permissions": map[string]any{}})
	if err != nil || note != `"additional_permissions"` {
		t.Errorf("rights can be asked for where none are kept back: %s, %v", note, err)
	}
}

// What a command names that it is kept from and would read, it is asked about before it runs; what it
// may go on without, or has no need of, is not.
func TestNamed(t *testing.T) {
	h := newHeld(t)
	h.env.Launcher.Config.Shell.Environ, h.env.HasUser = append(h.env.Launcher.Config.Shell.Environ, "HOME="+h.secret), true
	for command, want := range map[string]string{
		"cat ~/key": "key", `head -3 "$HOME/key"`: "key", "grep -c x ${HOME}/key ~/other": "key other", "cat link/key": "key",
		"cd link && cat key": "key", "cat $KEY/key | wc -l": "key", "cp ~/key .": "key", "echo a; wc -l <x; cat ~/key": "key",
		"sudo cat ~/key": "key", "base64 ~/key && strings ~/other": "key other",
		"wc -l < ~/key": "key", "while read l; do echo $l; done < ~/key": "key", "cat 0<~/key": "key", "echo $(<~/key)": "key",
		"cat <<< $(< ~/key)": "key", "source ~/key": "key", ". ~/key": "key", "exec 3< $HOME/key; cat <&3": "key", "cat < ~/key ~/key": "key",
		"cat <<< ~/key": "", "wc -l < ~/none": "", "echo x > ~/key": "", "wc -l < sub/tool": "",
		"echo ~/key": "", "basename ~/key": "", "test -f ~/key && echo yes": "", "[ -f ~/key ]": "", "cat '~/key'": "", "cat ~/none": "",
		"npm ci --userconfig ~/key": "", "rm ~/key": "", "touch ~/key": "", "cat sub/tool": "", "cat ~/$X": "", "git log -- ~/key": "",
	} {
		in := h.prepare(runShellCommand(h.env), map[string]any{"command": h.named(command)}).Intent
		var got []string
		for _, path := range in.Plan.Rights.Read {
			got = append(got, filepath.Base(path))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v; want %s", command, got, want)
		}
		if in.Plan.Rights.Empty() != (want == "") || want != "" && (in.Plan.IsReadOnly || in.Plan.NetworkArgs != nil || in.Plan.ReadOnlyArgs != nil) {
			t.Errorf("%s: %+v", command, in.Plan)
		}
	}
}

// What is offered with the network is the same call.
func TestOnline(t *testing.T) {
	h := newHeld(t)
	tool := runShellCommand(h.env)
	args := map[string]any{"command": "git -C sub fetch; npm ci; npm test", "description": "d", "dir_path": "sub", "is_background": true, "delay_ms": 7.0,
		"additional_permissions": map[string]any{"fileSystem": map[string]any{"read": []any{h.secret}, "write": []any{h.outside}}}}
	in := h.prepare(tool, args).Intent
	want := map[string]any{"command": args["command"], "description": "d", "dir_path": "sub", "is_background": true, "delay_ms": 7.0,
		"additional_permissions": map[string]any{"network": true, "fileSystem": map[string]any{"read": []any{h.secret}, "write": []any{h.outside}}}}
	if diff := cmp.Diff(want, in.Plan.NetworkArgs); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"git fetch", "npm ci"}, in.Plan.NetworkPrograms); diff != "" {
		t.Error(diff)
	}
	again := h.prepare(tool, in.Plan.NetworkArgs).Intent
	if again.Plan.NetworkArgs != nil || again.Plan.Limits != in.Plan.Limits {
		t.Errorf("%+v", again)
	}
}

// A command that failed without a right is asked about once more, with that
// right named, and runs with it if that is the answer.
func TestAskedAgain(t *testing.T) {
	const offline = "echo 'curl: (6) Could not resolve host: example.org'; test -e ok || { touch ok; exit 6; }"
	for _, test := range []struct {
		name, command string
		answer        engine.Answer
		failed        string
		profile       func(h held) sandbox.Profile // of the second run
		says          string
	}{
		{"network", offline, engine.Allowed{}, "the network",
			func(h held) sandbox.Profile {
				return sandbox.Profile{Root: h.dir, Loopback: true, Hidden: []string{h.secret}, Network: true}
			}, "Could not resolve"},
		{"network, by one that is silent", "curl -s x:; test -e ok || { touch ok; exit 6; }", engine.Allowed{}, "the network",
			func(h held) sandbox.Profile {
				return sandbox.Profile{Root: h.dir, Loopback: true, Hidden: []string{h.secret}, Network: true}
			}, ""},
		{"refused", offline, engine.Refused{Note: "use the cache"}, "the network", nil,
			"The command failed; it probably needs the network, which it was not given. The user said: use the cache"},
		{"nobody", offline, engine.Unasked{Advice: "A rule would."}, "the network", nil,
			"The command failed; it probably needs the network, which it was not given: A rule would."},
		{"write", "echo \"touch: cannot touch '$OUT/a': Read-only file system\"; test -e ok || { touch ok; exit 1; }", engine.Allowed{}, "writing to the directory $OUT and everything below it",
			func(h held) sandbox.Profile {
				return sandbox.Profile{Root: h.dir, Loopback: true, Hidden: []string{h.secret}, Write: []string{h.outside}}
			}, "cannot touch"},
		{"read", "echo \"cat: $KEY/key: Permission denied\"; test -e ok || { touch ok; exit 1; }", engine.Allowed{}, "reading the file $KEY/key",
			func(h held) sandbox.Profile {
				return sandbox.Profile{Root: h.dir, Loopback: true, Hidden: []string{h.secret + "/other"}}
			}, ""},
		{"a file that it makes", "test -e ok && exec echo x > $OUT/a; touch ok; echo \"bash: $OUT/a: Read-only file system\"; exit 1", engine.Allowed{}, "writing to the directory $OUT and everything below it",
			func(h held) sandbox.Profile {
				return sandbox.Profile{Root: h.dir, Loopback: true, Hidden: []string{h.secret}, Write: []string{h.outside}}
			}, ""},
		{"protected", "echo 'error: could not lock config file .git/config: Read-only file system'; mkdir -p .git; touch .git/config; test -e ok || { touch ok; exit 1; }",
			engine.Allowed{}, "writing to all that is protected in the workspace (.git, .gemini)",
			func(h held) sandbox.Profile {
				return sandbox.Profile{Root: h.dir, Loopback: true, Hidden: []string{h.secret}, Unprotected: true}
			}, "could not lock"},
		{"protected, and made", "mkdir -p .git; test -e ok || { touch ok; echo 'bash: .git/x: Read-only file system'; exit 1; }; echo x > .git/x",
			engine.Allowed{}, "writing to all that is protected in the workspace (.git, .gemini)",
			func(h held) sandbox.Profile {
				return sandbox.Profile{Root: h.dir, Loopback: true, Hidden: []string{h.secret}, Unprotected: true}
			}, ""},
		{"made and undone", "echo 'gemline: sandbox: \".git\" was made or changed, which commands may not do; it is now called \"git.put-aside-1\"'; test -e ok || { touch ok; exit 125; }",
			engine.Allowed{}, "writing to all that is protected in the workspace (.git, .gemini)",
			func(h held) sandbox.Profile {
				return sandbox.Profile{Root: h.dir, Loopback: true, Hidden: []string{h.secret}, Unprotected: true}
			}, "put-aside"},
		{"taken away", "test -e ok && exec rm -f $OUT/a; touch ok; echo \"rm: cannot remove '$OUT/a': Read-only file system\"; exit 1", engine.Allowed{}, "writing to the directory $OUT and everything below it",
			func(h held) sandbox.Profile {
				return sandbox.Profile{Root: h.dir, Loopback: true, Hidden: []string{h.secret}, Write: []string{h.outside}}
			}, ""},
		{"the network, and then a file", "test -e ok && { curl -so $OUT/a x:; exit 0; }; touch ok; echo 'curl: (6) Could not resolve host: example.org'; exit 6", engine.Allowed{}, "the network and writing to the directory $OUT and everything below it",
			func(h held) sandbox.Profile {
				return sandbox.Profile{Root: h.dir, Loopback: true, Hidden: []string{h.secret}, Network: true, Write: []string{h.outside}}
			}, ""},
		{"no reason", "echo hm; exit 1", engine.Allowed{}, "", nil, "hm"},
		{"hidden with the temporary directory", "echo \"bash: $OUT/a: No such file or directory\"; test -e ok || { touch ok; exit 1; }", engine.Allowed{}, "writing to the directory $OUT and everything below it",
			func(h held) sandbox.Profile {
				return sandbox.Profile{Root: h.dir, Loopback: true, Hidden: []string{h.secret}, Write: []string{h.outside}}
			}, "No such file"},
		{"read where the temporary directory hides it", "echo \"cat: $OUT/there: No such file or directory\"; test -e ok || { touch ok; exit 1; }", engine.Allowed{}, "reading the file $OUT/there",
			func(h held) sandbox.Profile {
				return sandbox.Profile{Root: h.dir, Loopback: true, Hidden: []string{h.secret}, ReadOnly: []string{h.outside + "/there"}}
			}, "No such file"},
		{"not ours to give", "echo 'cat: /proc/1/mem: Permission denied'; exit 1", engine.Allowed{}, "", nil, "Permission denied"},
		{"it has it", "echo 'rm: sub: Permission denied'; exit 1", engine.Allowed{}, "", nil, "Permission denied"},
		{"success", "echo 'Could not resolve host'", engine.Allowed{}, "", nil, "Could not"},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := newHeld(t)
			if strings.Contains(test.says, "No such file") && !disk.InsideAny([]string{"/tmp", "/var/tmp"}, h.outside) {
				t.Skip("the temporary directory is elsewhere")
			}
			h.answer = test.answer
			if err := errors.Join(os.WriteFile(filepath.Join(h.secret, "key"), nil, 0o600), os.WriteFile(filepath.Join(h.secret, "other"), nil, 0o600)); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(h.outside, "there"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			h.env.Launcher.Sandbox = h
			tool := runShellCommand(h.env)
			call := h.prepare(tool, map[string]any{"command": h.named(test.command)})
			r, err := call.Run(t.Context(), h)
			if !strings.Contains(r.Text, test.says) {
				t.Errorf("the model reads %q", r.Text)
			}
			if test.failed == "" {
				if len(*h.asked) > 0 || len(*h.profiles) != 1 {
					t.Fatalf("asked: %+v", *h.asked)
				}
				return
			}
			if len(*h.asked) != 1 {
				t.Fatalf("asked %d times", len(*h.asked))
			}
			p := (*h.asked)[0]
			if want := h.named(test.failed); p.Intent.Plan.Failure.Reason != want || p.Intent.Plan.Rights.String() != want || p.Intent.Draft != nil || p.Tool.Name() != tool.Name() {
				t.Errorf("asked with %+v", p.Intent)
			}
			if diff := cmp.Diff(p.Intent.Plan.Rights, h.prepare(tool, p.Args).Intent.Plan.Rights); diff != "" {
				t.Error("the arguments ask for something else", diff)
			}
			if test.profile != nil {
				if diff := cmp.Diff(test.profile(h), (*h.profiles)[1]); diff != "" || err != nil {
					t.Error(diff, err)
				}
				return
			}
			var failed *engine.CallError
			if !errors.As(err, &failed) || len(*h.profiles) != 1 || failed.Message != r.Text {
				t.Fatalf("%+v, run with %+v", err, *h.profiles)
			}
			if nobody, lacked := test.answer.(engine.Unasked); (failed.MissingRights != "") != lacked || failed.Advice != nobody.Advice {
				t.Errorf("%+v", failed)
			}
		})
	}
}

// A program that has to be got from the network first is asked about with it at once: without
// it would wait, not fail.
func TestDownloads(t *testing.T) {
	h := newHeld(t)
	bin := filepath.Join(h.dir, "node_modules/.bin")
	if err := errors.Join(os.MkdirAll(bin, 0o700), os.WriteFile(filepath.Join(bin, "tsc"), nil, 0o700)); err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]bool{"npx create-x": true, "npx -y create-x a": true, "npx tsc@5 --noEmit": true, "npx --package x tsc": true, "npx ../../tsc": true, "npx \"$X\"": true, "uvx ruff": true, "bunx x": true, "make && npx create-x": true,
		"npx tsc --noEmit": false, "cd sub && npx tsc": false, "npx --no-install x": false, "npx --version": false, "npx": false, "npm test": false, "echo npx x": false} {
		in := h.prepare(runShellCommand(h.env), map[string]any{"command": command}).Intent
		if in.Plan.Rights.Network != want {
			t.Errorf("%s: with %v", command, in.Plan.Rights)
		}
	}
}

// What a command makes, changes or removes that other programs go by is asked about, and taken
// back unless the user agrees, however much it makes.
func TestGuards(t *testing.T) {
	for _, test := range []struct {
		name, command string
		answer        engine.Answer
		failure       error
		reason, left  string // of the question; what is there after it
	}{
		{name: "made", command: "cp sub/tool .envrc", reason: ".envrc", left: ".vscode .vscode/a .vscode/b envrc.put-aside-1"},
		{name: "allowed", command: "cp sub/tool .envrc", answer: engine.Allowed{}, reason: ".envrc", left: ".envrc .vscode .vscode/a .vscode/b"},
		{name: "interrupted", command: "cp sub/tool .envrc", failure: context.Canceled, reason: ".envrc", left: ".vscode .vscode/a .vscode/b envrc.put-aside-1"},
		{name: "removed", command: "rm -r .vscode", reason: ".vscode/a, .vscode/b", left: ".vscode .vscode/a .vscode/b"},
		{name: "changed", command: "echo x >.vscode/a", reason: ".vscode/a", left: ".vscode .vscode/a .vscode/a.put-aside-1 .vscode/b"},
		{name: "several", command: "touch .vscode/{1,2,3,4,5,6,7}", answer: engine.Allowed{}, reason: ".vscode/1, .vscode/2, .vscode/3, .vscode/4, .vscode/5 and 2 more",
			left: ".vscode .vscode/1 .vscode/2 .vscode/3 .vscode/4 .vscode/5 .vscode/6 .vscode/7 .vscode/a .vscode/b"},
		{name: "many", command: "mkdir -p .aaa; touch .aaa/{1..2001}; cp sub/tool .envrc", reason: ".aaa, .envrc", left: ".vscode .vscode/a .vscode/b aaa.put-aside-1 envrc.put-aside-1"},
		{name: "named", command: "cp sub/tool .envrc", left: ".envrc .vscode .vscode/a .vscode/b"},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := newHeld(t)
			h.answer, h.failure = test.answer, test.failure
			h.env.Guards = func(path string) bool { return strings.HasPrefix(path, ".") }
			if err := errors.Join(os.Mkdir(filepath.Join(h.dir, ".vscode"), 0o700), os.WriteFile(filepath.Join(h.dir, ".vscode/a"), []byte("a"), 0o600), os.WriteFile(filepath.Join(h.dir, ".vscode/b"), []byte("b"), 0o600),
				os.WriteFile(filepath.Join(h.dir, "sub/tool"), []byte(test.command), 0o600)); err != nil {
				t.Fatal(err)
			}
			h.env.Launcher.Sandbox = h
			command := "bash sub/tool"
			if test.name == "named" {
				command = test.command
			}
			r, err := h.prepare(runShellCommand(h.env), map[string]any{"command": command}).Run(t.Context(), h)
			reason := ""
			if len(*h.asked) > 0 {
				reason = strings.TrimPrefix((*h.asked)[0].Intent.Plan.Failure.Reason, "it made or changed what other programs go by: ")
			}
			if reason != test.reason || (err == nil) != (test.answer != nil || reason == "") {
				t.Errorf("asked %q; %v: %s", reason, err, r.Text)
			}
			var left []string
			filepath.WalkDir(h.dir, func(path string, _ os.DirEntry, _ error) error {
				if rel, _ := filepath.Rel(h.dir, path); strings.Count(rel, ".") > 0 && rel != "." && !strings.HasPrefix(rel, "aaa.put-aside-1/") {
					left = append(left, rel)
				}
				return nil
			})
			if got := strings.Join(left, " "); got != test.left {
				t.Errorf("there is %.500s; want %s", got, test.left)
			}
		})
	}
}

// What a command in the background makes that other programs go by is told when it ends, where
// somebody is there to look at it.
func TestGuardsLater(t *testing.T) {
	h := newHeld(t)
	said := make(chan string, 1)
	h.env.HasUser, h.env.Guards, h.env.Emit = true, func(path string) bool { return strings.HasPrefix(path, ".") }, func(text string) { said <- text }
	if out, err := exec.Command("mkfifo", filepath.Join(h.dir, "go")).CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
	if err := os.WriteFile(filepath.Join(h.dir, "sub/tool"), []byte("read x <go; touch .envrc"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := h.prepare(runShellCommand(h.env), map[string]any{"command": "bash sub/tool", "is_background": true, "delay_ms": 0.0}).Run(t.Context(), h); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(h.dir, "go"), []byte("\n"), 0); err != nil {
		t.Fatal(err)
	}
	if got, want := <-said, "while bash sub/tool ran in the background, it or somebody else made or changed what other programs go by: .envrc; look at it before you use it"; got != want {
		t.Errorf("it says %s", got)
	}
	if _, err := os.Stat(filepath.Join(h.dir, ".envrc")); err != nil {
		t.Error(err)
	}
}
