package project_test

import (
	"fmt"

	"gemline/settings/project"
)

func ExamplePaths() {
	p := project.New("/home/ada", "", "/src/app")
	fmt.Println(p.User("settings.json"))
	fmt.Println(p.Workspace("settings.json"))
	fmt.Println(p.AtHome())
	// Output:
	// /home/ada/.gemini/settings.json
	// /src/app/.gemini/settings.json
	// false
}
