package safe

import (
	"maps"
	"slices"
	"strings"
)

// Usages returns a command for every option of every program that is listed.
func Usages() (all []string) {
	say := func(name string, p program, behind ...string) {
		for _, word := range append([]string{""}, strings.Fields(p.options)...) {
			option := strings.TrimRight(word, "=?@")
			kind := strings.TrimPrefix(word, option)
			for _, value := range map[string][]string{"": {""}, "=": {"1", "x"}, "=?": {"", "x"}, "@": {"a.txt"}}[kind] {
				words := []string{name, option}
				switch {
				case option == "-#":
					words[1] = "-2"
				case kind == "=?" && value != "" && strings.HasPrefix(option, "--"):
					words[1] += "=" + value
				case kind == "=?":
					words[1] += value
				case kind != "":
					words = append(words, value)
				}
				for _, rest := range behind {
					all = append(all, strings.Join(words, " ")+" "+rest)
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(programs)) {
		say(name, programs[name], "", "a.txt", "a.txt b.txt")
	}
	for _, name := range slices.Sorted(maps.Keys(gitCommands)) {
		say("git "+name, gitCommands[name], "", "HEAD", "a.txt")
	}
	for word, takes := range findTests {
		all = append(all, "find . '"+word+"'"+strings.Repeat(" f", takes))
	}
	slices.Sort(all)
	return all
}

// Names returns the names of the programs that are listed.
func Names() []string {
	return append(slices.Sorted(maps.Keys(programs)), slices.Sorted(maps.Keys(gitCommands))...)
}
