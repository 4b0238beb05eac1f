package disk_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// others are the files beside this package that read a link or rename a file
// themselves, and why ResolveLinks and Replace are not for them.
var others = map[string]string{
	"Readlink commands/program/front/closed_linux.go": "asks what a descriptor is",
	"Readlink tools/shell/process_linux.go":           "asks what a descriptor is",
	"Readlink repl/report/destination.go":             "stops at what stands for an open file of a process",
	"Readlink tools/mask/mask.go":                     "needs the name of each link on the way",
	"Readlink tools/workspace/dirs.go":                "stays inside of an open directory",
	"Rename repl/batch/output.go":                     "has written its file for hours, and sent it to the disk piece by piece",
	"Rename settings/project/registry.go":             "puts a directory aside",
	"Rename tools/sandbox/sandboxtest/sandboxtest.go": "tries what a command may rename",
	"Rename commands/program/front/screen.go":         "is no file's",
	"Readlink engine/journal/lock.go":                 "asks which terminal a process has",
	"Readlink tools/checkpoint/tree.go":               "keeps what a link says, not where it leads",
	"Readlink tools/checkpoint/scan.go":               "keeps what a link says, not where it leads",
	"Rename tools/checkpoint/restore.go":              "puts links and files back below an open directory",
	"Rename commands/cli/extensions_install.go":       "moves what was fetched to where ReplaceTree wants it",
	"Rename tools/source/archive.go":                  "moves what is in a new directory up",
	"Readlink settings/extension/install.go":          "sums up what a link says, not where it leads",
	"Readlink tools/source/source.go":                 "copies what a link says, and names it",
	"Rename tools/command/made.go":                    "puts aside what a command has made",

	"Readlink commands/program/acceptance/programtest/mcp_serve_linux.go": "asks which program a process runs",
	"Readlink commands/program/acceptance/programtest/undo_linux.go":      "shows what a link says",
}

// Who follows links and who replaces files is this package: nobody else does it by
// hand without a reason.
func TestOneHome(t *testing.T) {
	used := map[string]bool{}
	top := filepath.Join("..", "..")
	err := fs.WalkDir(os.DirFS(top), ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() && (e.Name() == "testdata" || e.Name() == ".git") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "engine/disk/") {
			return nil
		}
		text, err := os.ReadFile(filepath.Join(top, path))
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, text, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok && (s.Sel.Name == "Readlink" || s.Sel.Name == "Rename") {
				use := s.Sel.Name + " " + path
				if used[use] = true; others[use] == "" {
					t.Errorf("%s: disk.Follow says where a link leads, disk.Replace replaces a file", use)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for use := range others {
		if !used[use] {
			t.Errorf("%s: it is there no more", use)
		}
	}
}
