package flags_test

import (
	"fmt"

	"gemline/settings/flags"
)

func ExampleParse() {
	f, err := flags.Parse([]string{"why", "is", "it", "slow?", "--json", "-m", "pro"})
	fmt.Println(f.Text(), f.Format(), f.Model, err)
	_, err = flags.Parse([]string{"--modle", "pro"})
	fmt.Println(err)
	// Output:
	// why is it slow? json pro <nil>
	// unknown flag --modle; did you mean --model?
}
