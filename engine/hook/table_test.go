package hook_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gemline/engine"
	et "gemline/engine/enginetest"
	"gemline/engine/hook"
)

// The outputs and the ends of hooks that are tried in all combinations.
var (
	outputs = []struct{ name, print string }{
		{"json", `echo '{"decision":"block","reason":"because","systemMessage":"a word","hookSpecificOutput":{"additionalContext":"more"}}'`},
		{"text", "echo words >&2"},
		{"empty", ":"},
		{"broken", `echo '{"decision":"block",'`},
	}
	ends = []struct{ name, end string }{
		{"0", "exit 0"}, {"1", "exit 1"}, {"2", "exit 2"}, {"3", "exit 3"}, {"signal", "kill -TERM $$"},
		{"timeout", "exec sleep 60"},
	}
)

// TestTable has a hook of each event say each kind of thing and end in each way, in a
// conversation with a call that is asked about. What then is different for the model, the
// user and the record is in testdata/table.txt, which UPDATE=1 writes.
func TestTable(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	got := map[string]string{}
	without := outcome(t, nil)
	each := func(f func(e hook.Event, name string, print, end string)) {
		for _, e := range hook.Events {
			for _, end := range ends {
				for _, out := range outputs {
					if e != hook.PreCompress {
						f(e, end.name+" "+out.name, out.print, end.end)
					}
				}
			}
		}
	}
	t.Run("cases", func(t *testing.T) {
		each(func(e hook.Event, name, print, end string) {
			t.Run(fmt.Sprint(e, " ", name), func(t *testing.T) {
				t.Parallel()
				k := on(e, `grep -q '"stop_hook_active":true' && exit 0; `+print+"; "+end)
				if strings.Contains(end, "sleep") {
					k.Timeout = 300 * time.Millisecond
				}
				what := different(without, outcome(t, []hook.Hook{k}))
				if what == "" && name != "0 empty" {
					t.Error("nobody gets anything of it")
				}
				mu.Lock()
				defer mu.Unlock()
				got[fmt.Sprint(e, name)] = what
			})
		})
	})
	var order []string
	cases := map[string][]string{}
	each(func(e hook.Event, name, _, _ string) {
		key := string(e) + "\n" + got[fmt.Sprint(e, name)]
		if cases[key] == nil {
			order = append(order, key)
		}
		cases[key] = append(cases[key], name)
	})
	var b strings.Builder
	for _, key := range order {
		e, what, _ := strings.Cut(key, "\n")
		fmt.Fprintf(&b, "%s: %s\n%s", e, strings.Join(cases[key], ", "), what)
	}
	const file = "testdata/table.txt"
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || b.String() != string(want) {
		t.Errorf("%v %s", err, cmp.Diff(string(want), b.String()))
	}
}

// different returns the lines of a that b has not, and those of b that a has not.
func different(a, b []string) string {
	var out strings.Builder
	without := func(mark string, these, those []string) {
		for _, l := range these {
			if !slices.Contains(those, l) {
				fmt.Fprintf(&out, "\t%s %s\n", mark, l)
			}
		}
	}
	without("-", a, b)
	without("+", b, a)
	return out.String()
}

// outcome returns what everybody gets of a conversation with hooks, in lines.
func outcome(t *testing.T, hooks []hook.Hook) (lines []string) {
	c := begin(t, hooks, et.Says("", et.Call("1", "note", "x", "that")), et.Says("done"), et.Says("again"))
	defer func() {
		if len(hooks) > 0 && len(c.calls) == 0 {
			t.Error("it did not run")
		}
	}()
	list := func(who string, all ...string) {
		for _, l := range all {
			lines = append(lines, who+" | "+l)
		}
	}
	notices := func() {
		for _, n := range c.Notices() {
			list("user", seen(n)...)
		}
	}
	if more := c.Start(t.Context(), "startup"); more != "" {
		list("model", "first: "+more)
	}
	notices()
	said, err := c.say("question")
	list("user", said...)
	if err != nil {
		list("user", "error: "+err.Error())
	}
	c.End(context.WithoutCancel(t.Context()), "exit")
	notices()
	list("model", c.told()...)
	for _, e := range c.journal.Entries() {
		list("record", string(e.Content.Role)+": "+told(e.Content))
	}
	for _, r := range c.journal.Results() {
		state := string(engine.Outcome(r.Err))
		if r.Err != nil {
			state += " " + engine.ErrorType(r.Err)
		}
		list("record", "call of "+r.Name+": "+state)
	}
	return lines
}
