package text

import (
	"testing"
	"time"
)

func TestParseAge(t *testing.T) {
	day := 24 * time.Hour
	for in, want := range map[string]time.Duration{"1h": time.Hour, "30d": 30 * day, "2w": 14 * day, "1m": 30 * day,
		"0d": 0, "": 0, "d": 0, "30": 0, "-1d": 0, "+1d": 0, "1.5d": 0, "1y": 0, "1d ": 0, "99999999m": 0, "184467440737095516160d": 0} {
		got, err := ParseAge(in)
		if got != want || (err == nil) != (want > 0) {
			t.Errorf("ParseAge(%q) = %v, %v", in, got, err)
		}
	}
}

func TestAgo(t *testing.T) {
	now := time.Now()
	for d, want := range map[time.Duration]string{
		-time.Hour: "Just now", 0: "Just now", time.Minute: "1 minute ago", 90 * time.Minute: "1 hour ago",
		5 * time.Hour: "5 hours ago", 24 * time.Hour: "1 day ago", 700 * time.Hour: "29 days ago",
	} {
		if got := Ago(now.Add(-d), now); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}
