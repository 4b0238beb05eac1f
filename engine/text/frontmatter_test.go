package text

import "testing"

func TestQuoteFrontMatter(t *testing.T) {
	for in, want := range map[string]string{
		"name: r\ndescription: Use when: asked\ntools: Read": "name: r\ndescription: 'Use when: asked'\ntools: Read",
		"description: it's a: b":                             "description: 'it''s a: b'",
		"description: ends so:":                              "description: 'ends so:'",
		"description: a\n  b: c\n  d\nn: 1":                  "description: 'a b: c d'\nn: 1",
		"description: a\n  b\nn: 1":                          "description: a\n  b\nn: 1",
		"description: \"a\" b: c":                            "description: '\"a\" b: c'",
		"description: \"a: b\"":                              "description: \"a: b\"",
		"description: @ada #1":                               "description: '@ada #1'",
		"max_turns: 5\nlist: [a, b: c":                       "max_turns: 5\nlist: [a, b: c",
		"a:\n  b: c: d\n- e: f":                              "a:\n  b: c: d\n- e: f",
		"a: \n  b: c":                                        "a: \n  b: c",
		"a: |\n  b: c":                                       "a: |\n  b: c",
		"a: *bold* b":                                        "a: '*bold* b'",
		"a: [x] b\nl: [x, y]\no: {x: y}":                     "a: '[x] b'\nl: [x, y]\no: {x: y}",
		"a: > b\nc: >-\n  d: e":                              "a: '> b'\nc: >-\n  d: e",
		"a: - b":                                             "a: '- b'",
		"a: 'it's fine'\nb: 'it''s'":                         "a: 'it''s fine'\nb: 'it''s'",
		`a: "Use "this" now"` + "\n" + `b: "\"c\""`:          `a: 'Use "this" now'` + "\n" + `b: "\"c\""`,
		"a:\n\t- b: c":                                       "a:\n  - b: c",
		"":                                                   "",
	} {
		if got := QuoteFrontMatter(in); got != want {
			t.Errorf("%q: %q, not %q", in, got, want)
		}
	}
}
