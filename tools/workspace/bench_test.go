package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkWalk lists a small tree, or the one that GEMLINE_BENCH_TREE names.
func BenchmarkWalk(b *testing.B) {
	dir := os.Getenv("GEMLINE_BENCH_TREE")
	if dir == "" {
		files := map[string]string{".gitignore": "*.log\n/out/\n!keep.log\n"}
		for i := range 2000 {
			files[fmt.Sprintf("d%d/e%d/f%d.go", i%10, i%100, i)] = "package p\n"
		}
		dir = tree(b, files)
	}
	w := open(b, Config{Roots: []string{dir}, RespectGit: true})
	n := 0
	for b.Loop() {
		n = 0
		for _, err := range w.Walk(b.Context(), dir, WalkOptions{}) {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
	}
	b.ReportMetric(float64(n), "files")
}

func BenchmarkResolve(b *testing.B) {
	dir := tree(b, map[string]string{"src/pkg/a.go": ""})
	w := open(b, Config{Roots: []string{dir}})
	for b.Loop() {
		if _, err := w.Resolve(filepath.Join("src", "pkg", "a.go")); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRead reads one file.
func BenchmarkRead(b *testing.B) {
	dir := tree(b, map[string]string{"src/pkg/deep/a.go": "package p\n"})
	w := open(b, Config{Roots: []string{dir}})
	for b.Loop() {
		if _, err := w.ReadText(filepath.Join(dir, "src", "pkg", "deep", "a.go")); err != nil {
			b.Fatal(err)
		}
	}
}
