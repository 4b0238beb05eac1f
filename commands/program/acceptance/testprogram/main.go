// Testprogram is gemline for its tests: the day by which prices change and models end
// is GEMLINE_TEST_DAY, as in 2026-12-01. Without it the day is before all of these, so
// that no test depends on when it runs.
package main

import (
	"os"
	"time"

	"gemline/commands/program"
	_ "gemline/commands/program/early"
)

func main() {
	day, _ := time.Parse(time.DateOnly, os.Getenv("GEMLINE_TEST_DAY"))
	os.Exit(program.Main("dev", "", "", day))
}
