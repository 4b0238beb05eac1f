package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gemline/docs"
)

// The page of exit codes has those that the program ends with, and says which
// others are reserved.
func TestExitCodePage(t *testing.T) {
	page, _ := docs.Find("exit-codes")
	rows := map[string]string{}
	for _, b := range docs.Blocks(page.Text) {
		for i, row := range b.Rows {
			if i > 0 {
				rows[row[0]] = row[1]
			}
		}
	}
	code, err := os.ReadFile("commands/program/ending.go")
	if err != nil {
		t.Fatal(err)
	}
	var used []string
	for _, m := range regexp.MustCompile(`\bset\((\d+),`).FindAllStringSubmatch(string(code), -1) {
		used = append(used, m[1])
		if _, ok := rows[m[1]]; !ok && m[1] != "130" { // 128+2
			t.Errorf("%s is not on the page", m[1])
		}
	}
	if len(used) < 20 {
		t.Errorf("only %q were found", used)
	}
	for row, text := range rows {
		reserved := strings.HasPrefix(text, "reserved")
		if slices.Contains(used, row) == reserved && row != "0" && row != "128+n" {
			t.Errorf("%s: %s", row, text)
		}
	}
}
