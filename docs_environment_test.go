package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"gemline/docs"
)

// Every variable that the code asks for by name is on the page, and the page
// has no other.
func TestEnvironmentPage(t *testing.T) {
	page, _ := docs.Find("environment")
	code := string(grep(t, "-hE", `"[A-Z]`, "--", "*.go", ":!*_test.go", ":!testdata", ":!engine/enginetest", ":!repl/teletype"))
	// How the code asks for a variable; a list of names is asked for in a loop.
	asked := regexp.MustCompile(`(?:[gG]etenv|[lL]ookupEnv|[lL]ookup|\bget|named|first)\("([A-Z][A-Z0-9_]{2,})`)
	for _, m := range asked.FindAllStringSubmatch(code, -1) {
		if !strings.Contains(page.Text, "`"+m[1]) {
			t.Errorf("%s is read, and not on the page", m[1])
		}
	}
	var rows []string
	for _, b := range docs.Blocks(page.Text) {
		for _, row := range b.Rows {
			rows = append(rows, row[0])
		}
	}
	if len(rows) < 40 {
		t.Fatalf("%d rows", len(rows))
	}
	elsewhere := []string{"HTTP_PROXY", "NO_PROXY"} // net/http's own names
	for _, name := range regexp.MustCompile(`[A-Z][A-Z0-9_]{2,}`).FindAllString(strings.Join(rows, " "), -1) {
		if !strings.Contains(code, `"`+name) && !slices.Contains(elsewhere, name) && name != "SECTION" {
			t.Errorf("%s is on the page, and nothing reads it", name)
		}
	}
}
