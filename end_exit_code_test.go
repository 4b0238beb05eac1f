//go:build unix

package main

import (
	"bytes"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gemline/docs"
	et "gemline/engine/enginetest"
)

// look and command are calls that need no leave, and that need some.
var (
	look    = et.Says("let me look", et.Call("1", "list_directory", "dir_path", ".")).With(1000, 10)
	command = et.Says("", et.Call("1", "run_shell_command", "command", "touch made"))
)

// wishes are endings that the user asked for, and others that are not the
// run's own fault.
var wishes = []ending{
	{name: "a full disk", args: []string{"-y", "-p", "hi"}, inside: small, code: 54, reason: "tool",
		replies: []et.Reply{et.Says("", et.Call("1", "write_file", "file_path", "big", "content", strings.Repeat("x", 128<<10))), et.Says("Well.")}},
	{name: "a sandbox that can't be had", args: []string{"--sandbox=lxc", "-p", "hi"}, code: 44, reason: "sandbox"},
	{name: "a rule", args: []string{"--fail-on-deny", "--approval-mode", "plan", "-p", "hi"}, replies: []et.Reply{command}, code: 61, reason: "denied"},
	{name: "tokens used up", args: []string{"--max-tokens", "1000", "-p", "hi"}, replies: []et.Reply{look, look}, code: 62, reason: "max_tokens"},
	{name: "time used up", args: []string{"--timeout", "0.5", "-p", "hi"}, replies: []et.Reply{et.Silent()}, code: 63, reason: "timeout"},
	{name: "calls used up", args: []string{"--max-tool-calls", "1", "-p", "hi"}, replies: []et.Reply{look, look}, code: 64, reason: "max_tool_calls"},
	{name: "no answer that fits", args: []string{"--json-schema", `{"type":"object"}`, "--max-repairs", "0", "-p", "hi"},
		replies: []et.Reply{et.Says("Hi.")}, code: 65, reason: "schema_mismatch"},
}

// small is a place of 64 KiB to work in.
var small = []string{"unshare", "-rm", "sh", "-c", `mount -t tmpfs -o size=64k none . && cd "$PWD" && exec "$@"`, "sh"}

// 141 has no record, as nobody reads.
func TestExitCodeOfClosedPipe(t *testing.T) {
	t.Parallel()
	s := et.NewServer(et.Says("Hi."))
	defer s.Close()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	defer w.Close()
	var errs bytes.Buffer
	run := headless(t, s, t.TempDir(), w, &errs, "-p", "hi")
	run.Run()
	if code := run.ProcessState.ExitCode(); code != 141 || errs.Len() > 0 {
		t.Errorf("code %d\n%s", code, errs.Bytes())
	}
}

// The page of exit codes has those that the program ends with, a test reaches
// each of them, and the others on the page are reserved.
func TestExitCodePage(t *testing.T) {
	page, ok := docs.Find("exit-codes")
	if !ok {
		t.Fatal("no page about exit codes")
	}
	listed := map[string]bool{}
	for _, row := range regexp.MustCompile(`(?m)^\| ([0-9]+|128\+n) \| (.*) \|$`).FindAllStringSubmatch(page.Text, -1) {
		if row[1] == "128+n" {
			for _, code := range regexp.MustCompile(`\b1[0-9]{2}\b`).FindAllString(row[2], -1) {
				listed[code] = true
			}
		} else if !strings.HasPrefix(row[2], "reserved: ") {
			listed[row[1]] = true
		}
	}
	reached := map[string]bool{"141": true}
	for _, e := range slices.Concat(endings, wishes) {
		reached[strconv.Itoa(e.code)] = true
	}
	if !maps.Equal(listed, reached) {
		t.Errorf("the page has %q, tests reach %q", slices.Sorted(maps.Keys(listed)), slices.Sorted(maps.Keys(reached)))
	}
	ending, err := os.ReadFile("commands/program/ending.go")
	if err != nil {
		t.Fatal(err)
	}
	set := regexp.MustCompile(`{([1-9]\d*), ["m]`).FindAllStringSubmatch(string(ending), -1)
	if len(set) < 20 {
		t.Errorf("only %q were found", set)
	}
	for _, m := range set {
		if !listed[m[1]] {
			t.Errorf("%s is not on the page", m[1])
		}
	}
}
