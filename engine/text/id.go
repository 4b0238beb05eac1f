package text

import "strings"

// ShortID returns the id of a session as a person is shown it, which names the session, too: the
// first eight digits of one that gemline has made up, and all of another.
func ShortID(id string) string {
	const digits = 8
	if len(id) != 36 || id[digits] != '-' || id[14] != '4' || strings.Trim(id[:digits], "0123456789abcdef") != "" ||
		strings.Trim(id[:digits], id[:1]) == "" {
		return id
	}
	return id[:digits]
}
