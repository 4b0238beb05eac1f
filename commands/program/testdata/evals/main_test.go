package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What can't be done is said before a model is asked.
func TestRefused(t *testing.T) {
	t.Chdir("../../../..")
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	program := file("gemline", "")
	good := file("good.json", `{"results":[{"task":"a","runs":5,"passed":4}]}`)
	for want, args := range map[string][]string{
		"the PROGRAM is missing; evals -h": {},
		"-n 0: a task is tried once":       {"-n", "0", program},
		"-n -3: a task is tried once":      {"-n", "-3", program},
		`invalid value "x" for flag -n`:    {"-n", "x", program},
		"-model; evals -h says more":       {"-model", "x", program},
		"-n 3 is for a model":              {"-n", "3", program},
		"no program to try: ":              {filepath.Join(dir, "none")},
		"no task in commands/program/testdata/evals/tasks is called edits_one_lime; did you mean edits_one_line?": {program, "edits_one_line", "edits_one_lime"},
		"is called x; there are:\nanswers_a_question_without_editing\n":                                           {program, "x"},
		"holds no task, which is a folder":                                                                        {"-C", dir, program},
		"nowhere/a.json: no such file":                                                                            {"-json", filepath.Join(dir, "nowhere/a.json"), program},

		"-compare takes two files of results, not 1": {"-compare", good},
		"none.json: no such file":                    {"-compare", good, filepath.Join(dir, "none.json")},
		"empty.json holds no results":                {"-compare", good, file("empty.json", "")},
		"list.json holds no results":                 {"-compare", good, file("list.json", "[]")},
		"other.json holds no results":                {"-compare", file("other.json", `{"model":"x"}`), good},
		`the task "a" passed 7 of 5 runs`:            {"-compare", good, file("odd.json", `{"results":[{"task":"a","runs":5,"passed":7}]}`)},
		"b.json have no task in common":              {"-compare", good, file("b.json", `{"results":[{"task":"b","runs":1,"passed":1}]}`)},
	} {
		var out strings.Builder
		if err := evals(args, &out); err == nil || !strings.Contains(err.Error(), want) || out.Len() > 0 {
			t.Errorf("%q: %v, %s", args, err, &out)
		}
	}
}

// Where no run has reached the model, tasks that want nothing to happen prove nothing.
func TestUnreached(t *testing.T) {
	t.Chdir("../../../..")
	program := filepath.Join(t.TempDir(), "gemline")
	for script, want := range map[string]string{
		"exit 1":                      "x/y has answered in no run",
		"exit 41":                     "x/y can't be used:\nexit status 41",
		"echo no such x >&2; exit 52": "x/y can't be used:\nno such x",
	} {
		started := filepath.Join(t.TempDir(), "started")
		if err := os.WriteFile(program, []byte("#!/bin/sh\necho >>'"+started+"'\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		if err := evals([]string{"-m", "x/y", "-n", "3", program, "edits_one_line"}, &out); err == nil || err.Error() != want {
			t.Errorf("%v, %s", err, &out)
		}
		if runs, _ := os.ReadFile(started); (script != "exit 1") != (len(runs) == 1) {
			t.Errorf("%s: %d runs", script, len(runs))
		}
	}
}

// Of the tasks that one file has alone, nothing can be compared.
func TestCompare(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{"a.json": `{"task":"x","runs":5,"passed":4},{"task":"y","runs":1}`, "b.json": `{"task":"z","runs":1},{"task":"x","runs":5,"passed":5}`} {
		if err := os.WriteFile(name, []byte(`{"results":[`+text+`]}`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out strings.Builder
	if err := evals([]string{"-compare", "a.json", "b.json"}, &out); err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(out.String()) {
		got = append(got, strings.Join(strings.Fields(line), " "))
	}
	if want := []string{"y only in a.json", "z only in b.json", "x 4/5 (38 to 96 %) 5/5 (57 to 100 %)", "all 4/5 (38 to 96 %) 5/5 (57 to 100 %)"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestHelp(t *testing.T) {
	var out strings.Builder
	if err := evals([]string{"-h"}, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"PROGRAM is ", "TASK is ", "./gemline edits_one_line", "-n N", "-compare a.json b.json"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in %s", want, &out)
		}
	}
}

func TestReport(t *testing.T) {
	usd := 0.25
	for _, c := range []struct {
		model   string
		results []result
		want    string
	}{
		{"m", []result{{Task: "a", Runs: 1, Passed: 1, Tokens: 7, CostUSD: &usd}}, "1 task: 1/1 (21 to 100 %)  7 tokens  $0.2500  0.0 s"},
		{"m", []result{{Runs: 2, Passed: 2, CostUSD: &usd}, {Runs: 2, CostUSD: &usd}}, "2 tasks: 2/4 (15 to 85 %)  0 tokens  $0.5000  0.0 s"},
		{"m", []result{{Runs: 1, CostUSD: &usd}, {Runs: 1}}, "2 tasks: 0/2 (0 to 66 %)  0 tokens  cost unknown  0.0 s"},
		{"", []result{{Runs: 1, Passed: 1}}, "1 task: 1/1 (21 to 100 %)  0.0 s"},
	} {
		var out strings.Builder
		report(&out, c.model, c.results)
		if lines := strings.Split(strings.TrimSpace(out.String()), "\n"); lines[len(lines)-1] != c.want {
			t.Errorf("%s", &out)
		}
	}
}

// The expectation that was not met comes first, whatever gemline has said.
func TestUnmet(t *testing.T) {
	messages := []byte(strings.Repeat("warning: the context of the model is not known\n", 100))
	for check, want := range map[string]string{
		"true\ngrep -q x $ANSWER\ntrue":               "the check failed at: grep -q x $ANSWER\ngemline's last",
		"not echo seen\ntrue":                         "the check failed at: not echo seen\nseen\ngemline's last",
		"not false\n grep -q 'port = 9000' $ANSWER":   "the check failed at: grep -q 'port = 9000' $ANSWER\ngemline's last",
		"true | grep \"a b\"":                         "the check failed at: true | grep \"a b\"\ngemline's last",
		"echo 1 >&2; sh -c 'echo out; exit 3'; false": "the check failed at: echo 1 >&2; sh -c 'echo out; exit 3'; false\n1\nout\ngemline's last",
		"test -n \"$UNSET\" || true":                  "the check failed at: test -n \"$UNSET\" || true\n",
	} {
		got := afterRun(unmet(t.TempDir(), append(os.Environ(), "ANSWER=/dev/null"), check), nil, messages)
		if !strings.HasPrefix(got, want) || len(got) > 1000 {
			t.Errorf("%s: %s", check, got)
		}
	}
	if got := unmet(t.TempDir(), os.Environ(), "true\nnot false\n\n"); got != "" {
		t.Error(got)
	}
	if got, want := afterRun("f", errors.New("exit status 41"), nil), "f\ngemline ended with exit status 41"; got != want {
		t.Errorf("%s", got)
	}
}

// What is wrong with the file of a task is said before a model is asked.
func TestFaultyTask(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.txtar")
	const text = "-- prompt --\np\n-- recording --\nr\n-- broken --\nb\n-- check --\n"
	for more, want := range map[string]string{
		"true\n! true\nfalse\n":          "begins with !", // at which the shell does not stop
		"! true\nfalse\n":                "begins with !",
		"true\necho \"\n":                "check is no script: echo \": ",
		"true\n-- stup --\ntrue\n":       "a task has no stup; it has prompt, ",
		"true\n-- projects/a --\ntrue\n": "a task has no projects/a; ",
	} {
		if err := os.WriteFile(path, []byte(text+more), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := (&task{parts: map[string]string{}, files: map[string]string{}}).read(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", more, err)
		}
	}
}
