//go:build unix

package pipes

import (
	"bytes"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	"gemline/docs"
	et "gemline/engine/enginetest"
)

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
	run := pt.Headless(t, s, t.TempDir(), w, &errs, "-p", "hi")
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
	for _, e := range endings {
		reached[strconv.Itoa(e.code)] = true
	}
	if !maps.Equal(listed, reached) {
		t.Errorf("the page has %q, tests reach %q", slices.Sorted(maps.Keys(listed)), slices.Sorted(maps.Keys(reached)))
	}
	ending, err := os.ReadFile("commands/program/ending/ending.go")
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
