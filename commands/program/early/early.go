// Package early starts, before main, the work that each start of the program needs.
//
// Libraries are initialized one after the other, which takes a third of a start, half of it for
// the schemas of JSON Schema. Meanwhile other goroutines make the parser of the command line and
// read the table of models.
//
// Package main imports the package for its init alone. The package imports few others, and is
// therefore initialized before the libraries that take time. A test's program does not import it:
// kong reads the standard streams, which package testing sets.
package early

import (
	"gemline/engine/model/catalog"
	"gemline/settings/flags"
)

func init() {
	for _, prepare := range []func(){flags.Prepare, func() { catalog.Shipped() }} {
		go func() {
			defer func() { recover() }() // the caller that needs the table gets the panic
			prepare()
		}()
	}
}
