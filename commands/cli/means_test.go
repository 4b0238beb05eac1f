package cli

import (
	"slices"
	"strings"
	"testing"

	"gemline/settings/flags"
)

func TestNames(t *testing.T) {
	var names []string
	for _, n := range table().Children {
		names = append(append(names, n.Name), n.Aliases...)
	}
	if !slices.Equal(names, Names()) {
		t.Errorf("the grammar has %q", names)
	}
}

// The help text fits the screen with all its commands in it.
func TestHelpNamesCommands(t *testing.T) {
	var b strings.Builder
	if err := flags.Help(&b, Commands()); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if len(line) > 81 {
			t.Errorf("wider than 80 columns: %q", line)
		}
	}
	for _, name := range Names() {
		alias := name == "hook" || name == "skill" || name == "extension"
		if !alias && !strings.Contains(b.String(), "\n  gemline "+name+" ") {
			t.Errorf("%s is not in the help text", name)
		}
	}
}

func TestMeans(t *testing.T) {
	for words, want := range map[string]bool{
		"config":                     true,
		"config is what I want":      true,
		"help":                       true,
		"help usage":                 true,
		"help me":                    true, // which is refused, with advice
		"help trust add":             true,
		"help me fix this":           false,
		"help trust me":              false,
		"help --json":                true,
		"tools":                      true,
		"tools --jsno":               true, // a mistake is told
		"tools for the job":          false,
		"inspect log --port x":       true,
		"inspect the log --prot 1":   false,
		"inspect log --prot 1":       true,
		"extensions list -o json":    true, // a flag of the program
		"sessions export 1 -O x.md":  true,
		"tools -m flash of the job":  false,
		"help me -m flash":           false,
		"models of growth":           false,
		"models list --online":       true,
		"sessions delete 3":          true,
		"sessions delete old things": true, // which is refused, with advice
		"sessions show -o json 1 2":  true,
		"worktree remove a b":        true,
		"sessions of the year":       false,
		"inspect a b":                false,
		"sessions export 3":          true, // a word is missing, which is told
		"config set model.name":      true,
		"completion bash":            true,
		"completion of the task":     false,
		"completion words -- a b c":  true,
		"man the barricades now":     false,
		"schema events":              true,
		"schema of the database":     false,
		"help -- me please":          true,
	} {
		if got := Means(strings.Fields(words)); got != want {
			t.Errorf("%q: %v", words, got)
		}
	}
}

// Whatever the words are, they are a command or a prompt, and no crash.
func FuzzMeans(f *testing.F) {
	f.Add("help me fix this")
	f.Add("sessions show -- --")
	f.Fuzz(func(t *testing.T, line string) {
		if words := strings.Fields(line); len(words) > 0 {
			Means(words)
		}
	})
}
