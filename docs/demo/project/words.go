// Package words counts words.
package words

// Count returns how many words are in s. Words are separated by spaces.
func Count(s string) int {
	n := 0
	for _, r := range s {
		if r == ' ' {
			n++
		}
	}
	return n + 1
}
