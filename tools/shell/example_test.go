//go:build unix

package shell_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"gemline/tools/shell"
)

// A command has nobody to ask, and is not given what looks like a secret.
func Example() {
	o := shell.Run(context.Background(), shell.Command{
		Text: `read -r name || echo "nobody answers"
			echo "token: ${SERVICE_TOKEN-none}"
			exit 3`,
		Settings: shell.Settings{
			Environ: append(os.Environ(), "SERVICE_TOKEN=mF9pQ2xV7kL4tR8w"),
			Timeout: time.Minute,
		},
	})
	fmt.Println(o.Output)
	fmt.Println(o.OK(), o.Code, o.Status())
	// Output:
	// nobody answers
	// token: none
	// false 3 Command exited with code 3.
}
