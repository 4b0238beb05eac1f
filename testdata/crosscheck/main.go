// Crosscheck type-checks the program for other systems, as OS/ARCH each.
//
// It reads what a build would read and finds what a compiler would refuse, in
// a fraction of the time: nothing is compiled, and of what is imported only
// the declarations are looked at.
package main

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	wrong := 0
	for _, target := range os.Args[1:] {
		system, arch, _ := strings.Cut(target, "/")
		all, err := packages.Load(&packages.Config{
			Mode: packages.NeedName | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps |
				packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesSizes,
			Dir: "../..",
			Env: append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+arch),
		}, "./...")
		if err != nil {
			fmt.Fprintln(os.Stderr, target+":", err)
			os.Exit(1)
		}
		if n := packages.PrintErrors(all); n > 0 {
			fmt.Fprintf(os.Stderr, "%s: %d errors\n", target, n)
			wrong += n
		}
	}
	if wrong > 0 {
		os.Exit(1)
	}
}
