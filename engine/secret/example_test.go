package secret_test

import (
	"fmt"
	"slices"

	"gemline/engine/secret"
)

// A name says what may hold a secret, however it is spelt, and a variable says
// where it lies.
func Example() {
	for _, path := range []string{"deploy/.ENV", ".env.example", "home/.ssh/config", "main.go"} {
		fmt.Println(path, secret.Path(path))
	}
	env := map[string]string{"KUBECONFIG": "/srv/cluster.yaml"}
	getenv := func(name string) string { return env[name] }
	list := secret.Files("/home/ann", "/home/ann/.gemini", getenv)
	fmt.Println(slices.Contains(list, "/home/ann/.ssh"), slices.Contains(list, "/srv/cluster.yaml"))
	// Output:
	// deploy/.ENV true
	// .env.example false
	// home/.ssh/config true
	// main.go false
	// true true
}
