package agent

import "testing"

func TestReportAsShown(t *testing.T) {
	for _, c := range []struct {
		report any
		want   string
	}{
		{"text", ""},
		{nil, ""},
		{map[string]any{"b": []any{}, "a": []any{"x", 1.0}, "sum": "all is well"}, "sum: all is well\na:\n- x\n- 1\n"},
		{map[string]any{"at": []any{map[string]any{"path": "a.go", "why": "it is", "lines": []any{1.0, 2.0}}}, "ok": true},
			"at:\n- lines: [1,2], path: a.go, why: it is\nok: true\n"},
	} {
		if got := displayReport(c.report); got != c.want {
			t.Errorf("%v: %q, want %q", c.report, got, c.want)
		}
	}
}
