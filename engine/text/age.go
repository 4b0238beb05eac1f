package text

import (
	"fmt"
	"strconv"
	"time"
)

// ParseAge parses an age: a number and h, d, w, or m, which is 30 days.
func ParseAge(s string) (time.Duration, error) {
	units := map[byte]time.Duration{'h': time.Hour, 'd': 24 * time.Hour, 'w': 7 * 24 * time.Hour,
		'm': 30 * 24 * time.Hour}
	if n := len(s) - 1; n > 0 && units[s[n]] > 0 {
		unit := units[s[n]]
		if k, err := strconv.ParseUint(s[:n], 10, 32); err == nil && k > 0 && s[0] != '+' && k < uint64(1<<62/unit) {
			return time.Duration(k) * unit, nil
		}
	}
	return 0, fmt.Errorf("%q is no age: write a number and h, d, w or m, such as 30d", s)
}

// Ago formats the time from t to now.
func Ago(t, now time.Time) string {
	d := now.Sub(t)
	for _, u := range []struct {
		name string
		long time.Duration
	}{{"day", 24 * time.Hour}, {"hour", time.Hour}, {"minute", time.Minute}} {
		if n := int(d / u.long); n > 0 {
			return fmt.Sprintf("%d %s ago", n, Plural(u.name, n))
		}
	}
	return "Just now"
}
