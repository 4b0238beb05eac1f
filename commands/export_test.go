package commands

// Absent returns the names of the commands that are answered, and not carried
// out.
func Absent() (names []string) {
	for _, a := range absent {
		names = append(names, a.names...)
	}
	return names
}
