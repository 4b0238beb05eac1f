package output

// A Label is the word that a message of the program begins with.
type Label string

// The labels, which are a contract: screen readers jump by them.
const (
	You        Label = "you"
	Gemini     Label = "gemini"
	Tool       Label = "tool"
	Result     Label = "result"
	Permission Label = "permission"
	Progress   Label = "progress"
	Warning    Label = "warning"
	Failure    Label = "error"
	Info       Label = "info"
	Done       Label = "done"
)

// Labels returns all labels.
func Labels() []Label {
	return []Label{You, Gemini, Tool, Result, Permission, Progress, Warning, Failure, Info, Done}
}

// What a prompt of the program begins with.
const (
	Ready   = "> "          // for a question or a task
	Shell   = "! "          // for a command
	Choices = "y yes, n no" // for an approval
)

// likeness says how the beginning of a line compares with what the program
// begins its own lines with.
type likeness int

const (
	unlike  likeness = iota // it is none
	partial                 // it may become one
	alike                   // it is one
)

// openings are what the program's own lines begin with.
var openings = func() []string {
	all := []string{Ready, Shell, Choices}
	for _, l := range Labels() {
		all = append(all, string(l)+":")
	}
	return all
}()

// compare looks at the beginning of a line, whose letters may be capitals.
func compare(b []byte) likeness {
	for _, o := range openings {
		if len(b) > len(o) {
			continue
		}
		same := true
		for i, c := range b {
			if 'A' <= c && c <= 'Z' {
				c += 'a' - 'A'
			}
			if c != o[i] {
				same = false
				break
			}
		}
		switch {
		case same && len(b) == len(o):
			return alike
		case same:
			return partial
		}
	}
	return unlike
}

// quote stands before a line of outside text that begins like one of the
// program's.
const quote = "| "
