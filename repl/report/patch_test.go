package report

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gemline/engine"
)

const aPatch = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-\u00a0\"old\"\r\n+<new>\r\n"

func planned(titles ...string) []PlannedCall {
	all := []PlannedCall{}
	for _, title := range titles {
		all = append(all, PlannedCall{Tool: "run", Title: title})
	}
	return all
}

// What is printed of a run that changes nothing is what can be applied. The
// model speaks beside it.
func TestPatchIsAllThatIsPrinted(t *testing.T) {
	failure := Outcome{Err: errors.New("no more"), ExitCode: 53, Reason: "max_turns"}
	for _, c := range []struct {
		name      string
		collected DryRun
		quiet     bool
		outcome   Outcome
		out, err  string
	}{
		{name: "patch", collected: DryRun{Patch: aPatch}, out: aPatch, err: "I see.\n"},
		{name: "quiet", collected: DryRun{Patch: aPatch}, quiet: true, out: aPatch},
		{name: "no edit", err: "I see.\nwarning: no file was edited, so there is no patch\n"},
		{name: "no edit, quiet", quiet: true},
		{name: "failure", collected: DryRun{Patch: aPatch, Planned: planned("run: a")}, outcome: failure,
			err: "I see.\nwarning: the patch so far is not printed, since the run did not end well; --json has it\nerror: no more\n"},
		{name: "failure before an edit", outcome: failure, err: "I see.\nerror: no more\n"},
		{name: "panic", collected: DryRun{Patch: aPatch}, outcome: Outcome{Err: errors.New("oh"), ExitCode: 70, Reason: "internal"}, err: "I see.\nerror: oh\n"},
		{name: "nobody reads", collected: DryRun{Patch: aPatch}, outcome: Outcome{Err: errors.New("gone"), ExitCode: 141, Silent: true}, err: "I see.\n"},
		{name: "plan", collected: DryRun{Patch: aPatch, Planned: planned("write: x", "run: make")},
			out: "would write: x\nwould run: make\n\n" + aPatch, err: "I see.\n"},
		{name: "plan without an edit", collected: DryRun{Planned: planned("run: make")}, out: "would run: make\n", err: "I see.\n"},
		{name: "hostile plan", collected: DryRun{Patch: aPatch, Planned: planned("run: a\n--- a/y\n+++ b/y\x1b[31m\u202e")},
			out: "would run: a --- a/y +++ b/y\\u{202e}\n\n" + aPatch, err: "I see.\n"},
		{name: "nothing", collected: DryRun{Planned: planned()}, err: "I see.\nwarning: nothing would be done\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench("text", func(r *Config) {
				r.Quiet, r.DryRun = c.quiet, func() DryRun { return c.collected }
			})
			b.Begin(Init{Prompt: "mend it"})
			b.see(engine.RequestStarted{}, engine.Text{Delta: "I see."})
			b.Finish(c.outcome)
			if diff := cmp.Diff(c.out, b.out.String()); diff != "" {
				t.Error("standard output:", diff)
			}
			if diff := cmp.Diff(c.err, b.err.String()); diff != "" {
				t.Error("standard error:", diff)
			}
		})
	}
}

func TestPatchBesideOtherLines(t *testing.T) {
	b := newBench("text", func(r *Config) { r.DryRun = func() DryRun { return DryRun{Patch: aPatch} } })
	b.see(engine.Text{Delta: "half"}, engine.Retry{Err: errors.New("cut"), Restart: false}, engine.Text{Delta: "rest"}, engine.Notice{Text: "note"})
	b.Finish(Outcome{})
	if got := b.err.String(); got != "half\nwarning: cut; asking again\nrest\nwarning: note\n" {
		t.Errorf("got %q", got)
	}
}

// Records hold the patch to the byte, and arguments as JSON can have them.
func TestPatchInRecords(t *testing.T) {
	for _, format := range []string{"json", "stream-json"} {
		plan := []PlannedCall{{Tool: "run", Title: "run: \x1b[mx", Args: map[string]any{"n": nan(), "bad": "\xff"}}, {}}
		for _, c := range []struct {
			collected DryRun
			outcome   Outcome
			want      string // of patch and planned
		}{
			{DryRun{}, Outcome{}, `"" -`},
			{DryRun{Patch: aPatch}, Outcome{Err: errors.New("x")}, quoted(aPatch) + " -"},
			{DryRun{Patch: aPatch, Planned: plan}, Outcome{},
				quoted(aPatch) + ` [{"args":{"bad":"\\xff","n":null},"title":"run: x","tool":"run"},{"args":{},"title":"","tool":""}]`},
			{DryRun{Planned: planned()}, Outcome{}, `"" []`},
			{DryRun{Patch: aPatch}, Outcome{Err: errors.New("x"), Reason: "internal"}, "- -"},
		} {
			b := newBench(format, func(r *Config) { r.DryRun = func() DryRun { return c.collected } })
			b.Begin(Init{Prompt: "hi"})
			b.Finish(c.outcome)
			text := strings.TrimSpace(b.out.String())
			if format == "stream-json" {
				text = text[strings.LastIndex(text, "\n")+1:]
			}
			var record map[string]any
			if err := json.Unmarshal([]byte(text), &record); err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, key := range []string{"patch", "planned"} {
				v, there := record[key]
				if !there {
					v = nil
					got += " -"
					continue
				}
				got += " " + quoted(v)
			}
			if got = got[1:]; got != c.want {
				t.Errorf("%s: got %s, want %s", format, got, c.want)
			}
		}
	}
}

func quoted(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return strings.TrimSpace(b.String())
}
