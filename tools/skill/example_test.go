package skill_test

import (
	"fmt"
	"os"
	"path/filepath"

	"gemline/tools/skill"
)

// A skill is a folder. What it says is read when it is needed, as it is then.
func Example() {
	dir, err := os.MkdirTemp("", "skills")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "release", skill.FileName)
	os.Mkdir(filepath.Dir(file), 0o700)
	os.WriteFile(file, []byte("---\nname: release\ndescription: Makes a release\n---\nTag it, then push.\n"), 0o600)
	l := skill.Library{Dirs: func() []skill.Dir { return []skill.Dir{{Path: dir, Source: skill.User}} }, Off: func() []string { return nil }}
	for _, s := range l.Skills() {
		if s.Source == skill.User {
			words, err := s.Read()
			fmt.Printf("%s: %s\n%s %v\n", s.Name, s.Description, words, err)
		}
	}
	// Output:
	// release: Makes a release
	// Tag it, then push. <nil>
}
