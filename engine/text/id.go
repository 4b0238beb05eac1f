package text

import "strings"

// ShortID returns the form of a session's id for people, which commands accept, too: the first
// eight digits of an id that gemline generated, and all of any other.
func ShortID(id string) string {
	const digits = 8
	if len(id) != 36 || id[digits] != '-' || id[14] != '4' || strings.Trim(id[:digits], "0123456789abcdef") != "" ||
		strings.Trim(id[:digits], id[:1]) == "" {
		return id
	}
	return id[:digits]
}
