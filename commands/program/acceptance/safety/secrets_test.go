//go:build unix

package safety

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	"gemline/commands/program/acceptance/teletype"
	et "gemline/engine/enginetest"
)

// Secrets that gemline is told of, each in its own way. They look like nothing
// but themselves.
const (
	keyCanary    = "canary-of-the-key-3f9a17c2d8"
	envCanary    = "canary-of-the-environment-71b0e4"
	dotenvCanary = "canary+of/the dotenv\"99"
	urlCanary    = "canary-of-a-url-58d1"
)

// shapeCanary is known to nobody, and looks like a key.
var shapeCanary = "AI" + "zaCanaryOfAShape0123456789abcdefghijk"

// A keeper is a user with secrets, and who looks for them afterwards.
type keeper struct {
	t       *testing.T
	server  *et.Server
	home    string
	project string
	env     []string
	printed bytes.Buffer
}

func newKeeper(t *testing.T, replies ...et.Reply) *keeper {
	t.Helper()
	s := et.NewServer(replies...)
	c := pt.Terminal(t, s)
	k := &keeper{t: t, server: s, project: c.Dir, home: pt.HomeOf(c)}
	k.env = append(c.Env, "GEMINI_API_KEY="+keyCanary, "DEPLOY_TOKEN="+envCanary, "FEED=https://me:"+urlCanary+"@example.com/x", "GEMINI_MODEL="+pt.Model)
	pt.Write(t, k.project, map[string]string{"notes.txt": "key " + keyCanary + "\ntoken " + envCanary + "\npassword " + dotenvCanary + "\nurl " + urlCanary + "\nshape " + shapeCanary + "\nthe end\n",
		".env": "DB_PASSWORD='" + dotenvCanary + "'\n"})
	return k
}

// run runs the program with the loosest of umasks and returns its exit code.
func (k *keeper) run(stdin string, args ...string) int {
	k.t.Helper()
	cmd := exec.Command("/bin/sh", append([]string{"-c", `umask 0; exec "$@"`, "sh", pt.Self(k.t)}, args...)...)
	cmd.Dir, cmd.Env, cmd.Stdin = k.project, k.env, strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		k.t.Fatal(err)
	}
	k.printed.Write(out)
	return cmd.ProcessState.ExitCode()
}

// search reports secrets in everything that the user's home holds, and in what
// was printed and sent. Shapes are looked for in what is stored only.
func (k *keeper) search() {
	k.t.Helper()
	known := []string{keyCanary, envCanary, dotenvCanary, urlCanary, `canary+of/the dotenv\"99`, "canary%2Bof%2Fthe+dotenv"}
	look := func(where, text string, secrets ...string) {
		for _, s := range secrets {
			if i := strings.Index(text, s); i >= 0 {
				k.t.Errorf("%q in %s: ...%q...", s, where, text[max(0, i-100):min(len(text), i+len(s)+50)])
			}
		}
	}
	look("what was printed", k.printed.String(), known...)
	for i, r := range k.server.Requests() {
		if got := r.Header.Get("x-goog-api-key"); got != keyCanary {
			k.t.Errorf("request %d is paid for by %q", i, got)
		}
		r.Header.Del("x-goog-api-key") // where it belongs
		look(fmt.Sprintf("request %d", i), fmt.Sprintf("%s?%s %v %s", r.Path, r.Query, r.Header, r.Body), known...)
	}
	files := 0
	err := filepath.WalkDir(k.home, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		if mode := info.Mode().Perm(); mode&0o077 != 0 && path != k.home {
			k.t.Errorf("%s has mode %o", path, mode)
		}
		if !info.Mode().IsRegular() {
			return nil
		}
		files++
		b, err := os.ReadFile(path)
		look(path, path+"\n"+string(b), known...)
		if !strings.Contains(path, "background-processes") { // which the model reads as it is
			look(path, string(b), shapeCanary)
		}
		return err
	})
	if err != nil || files == 0 {
		k.t.Errorf("%d files: %v", files, err)
	}
}

// spill has the model get hold of secrets in every way there is.
func spill() []et.Reply {
	sh := func(id, command string) et.Reply {
		return et.Says("", et.Call(id, "run_shell_command", "command", command))
	}
	return []et.Reply{
		et.Says("I read.", et.Call("1", "read_file", "file_path", "notes.txt"), et.Call("2", "grep_search", "pattern", "canary"), et.Call("3", "read_file", "file_path", ".env")),
		sh("4", "cat notes.txt .env; env; cat /proc/$PPID/environ"),
		sh("5", "head -c 12 notes.txt; sleep 0.1; tail -c +13 notes.txt; exit 3"),
		sh("6", "for i in 1 2 3 4 5 6 7 8 9 10; do cat notes.txt notes.txt notes.txt notes.txt notes.txt notes.txt notes.txt notes.txt notes.txt notes.txt notes.txt notes.txt notes.txt notes.txt; done"),
		et.Says("", et.Call("7", "run_shell_command", "command", "cat notes.txt; sleep 0.1", "is_background", true)),
		et.Says("", et.Call("8", "write_file", "file_path", "copy.txt", "content", "token [redacted: DEPLOY_TOKEN]\n")),
		et.Says("All done."),
	}
}

const shortOutputs = `{"tools":{"truncateToolOutputThreshold":4000}}`

// Whatever the model gets hold of, nothing that gemline knows to be secret is
// printed, sent or kept, and what only looks like it is not kept.
func TestSecretsStay(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"text", "json", "stream-json"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			k := newKeeper(t, append(spill(), et.Says("", et.Call("9", "write_file", "file_path", "copy.txt", "content", "shape [redacted: API key]\n")), et.Says("On we go."))...)
			pt.Write(t, k.home, map[string]string{".gemini/settings.json": shortOutputs})
			k.env = append(k.env, "GEMINI_DEBUG_LOG_FILE="+filepath.Join(k.home, "debug.log"))
			if code := k.run("piped "+envCanary, "-y", "-d", "-o", format, "-p", "what is "+envCanary+" in @notes.txt?"); code != 0 {
				t.Errorf("exit code %d: %s", code, k.printed.String())
			}
			if code := k.run("", "-y", "-d", "-o", format, "--resume", "latest", "-p", "go on"); code != 0 {
				t.Errorf("exit code %d: %s", code, k.printed.String())
			}
			if n := strings.Count(k.printed.String(), "commands do not get environment variables that look like secrets: DEPLOY_TOKEN, FEED;"); n == 0 || n > 1 && format == "text" {
				t.Errorf("told %d times what commands are not given", n)
			}
			if _, err := os.Stat(filepath.Join(k.project, "copy.txt")); err == nil {
				t.Error("a mark took the place of a secret")
			}
			// What was said is in the prompt of stream-json as the user gave it.
			if format == "stream-json" {
				k.printed.Reset()
			}
			k.search()
			requests := k.server.Requests()
			last := string(requests[len(requests)-1].Body)
			for _, want := range []string{"key [redacted: GEMINI_API_KEY]", "token [redacted: DEPLOY_TOKEN]", "password [redacted: DB_PASSWORD]", "url [redacted: FEED]", "shape [redacted: API key]", "All done."} {
				if !strings.Contains(last, want) {
					t.Errorf("%q is not in the resumed conversation", want)
				}
			}
			if n := strings.Count(last, "Nothing was changed"); n != 2 { // before and after it was resumed
				t.Errorf("%d calls would have written a mark", n)
			}
			if before := string(requests[1].Body); !strings.Contains(before, shapeCanary) {
				t.Error("the model does not see what the file says")
			}
		})
	}
}

// A server that says what it was sent does not bring the key anywhere.
func TestSecretsInErrors(t *testing.T) {
	t.Parallel()
	said := "the key " + keyCanary + " and " + strings.Repeat("x", 560) + envCanary + " are not what they were"
	for name, reply := range map[string]et.Reply{
		"401":       et.Status(401, "UNAUTHENTICATED", said),
		"500":       et.Status(500, "INTERNAL", said),
		"a page":    et.WebPage(403, said),
		"a text":    {Wire: &et.Wire{Status: 418, Body: said}},
		"no answer": {Wire: &et.Wire{Body: `{"candidates": "` + keyCanary + `"}`}},
		"no JSON":   {Wire: &et.Wire{Pieces: []string{"data: " + strings.Repeat("y", 80) + keyCanary + "\n\n"}}},
		"a fault":   {Wire: &et.Wire{Pieces: []string{`data: {"error":{"code":400,"message":"` + keyCanary + `","status":"INVALID_ARGUMENT"}}` + "\n\n"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKeeper(t, reply, reply, reply)
			for _, format := range []string{"text", "json", "stream-json"} {
				if code := k.run("", "-d", "--max-attempts", "1", "-o", format, "-p", "hi"); code == 0 {
					t.Errorf("exit code 0: %s", k.printed.String())
				}
			}
			k.search()
		})
	}
}

// Batches keep records of their own.
func TestSecretsInBatches(t *testing.T) {
	t.Parallel()
	k := newKeeper(t, append(spill(), et.Status(500, "INTERNAL", "no "+keyCanary))...)
	pt.Write(t, k.project, map[string]string{"prompts": "what is in @notes.txt?\nanother\n"})
	if code := k.run("", "-y", "--batch", "prompts", "--jobs", "1", "--max-attempts", "1", "--batch-state", filepath.Join(k.home, "state")); code == 0 {
		t.Errorf("exit code 0: %s", k.printed.String())
	}
	k.search()
}

// What is typed in a session is seen by whoever types it, and kept nowhere.
func TestSecretsInSessions(t *testing.T) {
	t.Parallel()
	k := newKeeper(t, append(spill()[1:3], et.Says("Done."), et.Says("Good."))...)
	c := teletype.Command{Path: pt.Self(t), Env: k.env, Dir: k.project, Args: []string{"-y"}}
	s := teletype.Start(t, c)
	for _, line := range []string{"the token is " + envCanary, "!echo " + keyCanary, "and " + shapeCanary} {
		s.Say(line)
	}
	s.Expect("Good.")
	s.Say("/quit")
	pt.Succeeds(t, s)
	k.search()
}

// A run that prints a patch keeps no more than others.
func TestSecretsInPatches(t *testing.T) {
	t.Parallel()
	k := newKeeper(t, append(spill()[:1], et.Says("", et.Call("4", "replace", "file_path", "notes.txt", "instruction", "end", "old_string", "the end\n", "new_string", "the end\n\nMore.\n\n\n")), et.Says("Done."))...)
	if code := k.run("", "--patch", "-p", "mend it"); code != 0 || !strings.Contains(k.printed.String(), "+More.") {
		t.Errorf("exit code %d: %s", code, k.printed.String())
	}
	k.printed.Reset() // a patch has what is next to what it changes
	k.search()
}
