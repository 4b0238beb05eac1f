//go:build linux

package servers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/genai"

	pt "gemline/commands/program/acceptance/programtest"
	et "gemline/engine/enginetest"
)

// trialHome is a home with a server, a skill, an agent, a rule and a hook. The hook
// would leave a file.
func trialHome(t *testing.T, dir string) {
	t.Helper()
	pt.Write(t, dir, map[string]string{"desk.sh": pt.Desk, "here": "x\n",
		"home/.gemini/settings.json": strings.Replace(deskSettings(`, "trust": true`), "{", `{"hooks": {"SessionStart": [{"hooks":
			[{"type": "command", "command": "touch $HOME/hooked"}]}]}, "general": {"plan": {"enabled": true}}, `, 1),
		"home/.gemini/policies/own.toml":     "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = \"mkdir\"\ndecision = \"allow\"\npriority = 100\n",
		"home/.gemini/skills/knots/SKILL.md": "---\nname: knots\ndescription: Ties knots.\n---\nTie.\n",
		"home/.gemini/agents/looker.md":      "---\nname: looker\ndescription: Looks.\n---\nLook.\n"})
}

// What gemline tools and gemline policy say of a run is what its server receives, and what
// runs unasked, in each mode. No hook runs for it.
func TestTrialSaysWhatARunDoes(t *testing.T) {
	t.Parallel()
	commands := []string{"touch made", "mkdir made-too", "cat here", "echo x > .gemini/x"}
	for _, mode := range []string{"default", "auto_edit", "auto", "plan", "yolo"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			trialHome(t, dir)
			run := func(s *et.Server, args ...string) []byte {
				t.Helper()
				var out, errs bytes.Buffer
				cmd := pt.Headless(t, s, dir, &out, &errs, append([]string{"--skip-trust", "--approval-mode", mode}, args...)...)
				if err := cmd.Run(); err != nil {
					t.Fatalf("%s: %v: %s", args, err, errs.Bytes())
				}
				return out.Bytes()
			}
			idle := et.NewServer()
			t.Cleanup(idle.Close)
			told := offered(t, run(idle, "tools", "--headless", "--json"))
			if _, err := os.Stat(filepath.Join(dir, "home", "hooked")); err == nil {
				t.Error("a hook ran")
			}
			verdicts := map[string]string{}
			var calls []*genai.FunctionCall
			for _, command := range commands {
				var verdict struct{ Verdict string }
				if err := json.Unmarshal(run(idle, "policy", "test", "--headless", "--json", "--", command), &verdict); err != nil {
					t.Fatal(err)
				}
				verdicts[command] = verdict.Verdict
				calls = append(calls, et.Call(command, "run_shell_command", "command", command))
			}
			s := et.NewServer(et.Says("", calls...), et.Says("Done."))
			t.Cleanup(s.Close)
			var record struct{ Denied []struct{ Title string } }
			if err := json.Unmarshal(run(s, "-p", "go on", "--json"), &record); err != nil {
				t.Fatal(err)
			}
			for command, verdict := range verdicts {
				ran := !slices.ContainsFunc(record.Denied, func(d struct{ Title string }) bool { return strings.Contains(d.Title, command) })
				if ran != (verdict == "allow") {
					t.Errorf("%s: policy test says %s, and it ran: %v", command, verdict, ran)
				}
			}
			if sent := declared(t, s.Requests()[0].Body); !slices.Equal(told, sent) {
				t.Errorf("gemline tools lists\n%s\nand sent are\n%s", told, sent)
			}
			if len(idle.Requests()) > 0 {
				t.Error("a model was asked")
			}
		})
	}
}

// offered returns the names of the tools that gemline tools says the model is told about.
func offered(t *testing.T, document []byte) (names []string) {
	t.Helper()
	var doc struct {
		Tools []struct {
			Name    string
			Offered bool
		}
	}
	if err := json.Unmarshal(document, &doc); err != nil {
		t.Fatal(err)
	}
	for _, tool := range doc.Tools {
		if tool.Offered {
			names = append(names, tool.Name)
		}
	}
	slices.Sort(names)
	return names
}

// declared returns the names of the tools in a request.
func declared(t *testing.T, body []byte) (names []string) {
	t.Helper()
	var request struct {
		Tools []struct {
			FunctionDeclarations []struct{ Name string }
		}
	}
	if err := json.Unmarshal(body, &request); err != nil {
		t.Fatal(fmt.Errorf("%w: %s", err, body))
	}
	for _, tool := range request.Tools {
		for _, f := range tool.FunctionDeclarations {
			names = append(names, f.Name)
		}
	}
	slices.Sort(names)
	return names
}
