package markdown

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTables(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       [][][]string
	}{
		{"none", "a | b\n\n- c | d\n", nil},
		{"one", "Look:\n\n| Name | Age |\n|:---|---:|\n| **Ada** | 36 |\n| `a\\|b` |\n", [][][]string{{{"Name", "Age"}, {"Ada", "36"}, {"a|b", ""}}}},
		{"two, one in a list", "| A |\n|---|\n| 1 |\n\n- x\n\n  | B |\n  |---|\n  | [t](u) |\n", [][][]string{{{"A"}, {"1"}}, {{"B"}, {"t (u)"}}}},
		{"in code", "```\n| A |\n|---|\n| 1 |\n```\n", nil},
		{"blocks in cells", "| # a | - b |\n|---|---|\n| &lt; | x  y |", [][][]string{{{"# a", "- b"}, {"<", "x  y"}}}},
		{"too wide", strings.Repeat("|a", 2000) + "|\n" + strings.Repeat("|-", 2000) + "|\n|1|\n", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, Tables(tt.text)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func FuzzTables(f *testing.F) {
	f.Add("| a | b |\n|---|---|\n| 1 |\n")
	f.Add("> | `a\\|` |\n> |---|\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, table := range Tables(text) {
			for _, row := range table {
				if len(row) != len(table[0]) {
					t.Errorf("%q has rows of %d and %d cells", text, len(table[0]), len(row))
				}
			}
		}
	})
}
