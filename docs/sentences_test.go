package docs_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// mostOpaque is how many sentences may have to be read twice. It only falls.
const mostOpaque = 12

// TestSentences counts the sentences of comments and pages that stand on pronouns in the
// place of nouns: of ten words or more, in which 27 % or more of the words are pointers.
func TestSentences(t *testing.T) {
	t.Parallel()
	var opaque []string
	look := func(path, paragraph string) {
		paragraph = regexp.MustCompile("`[^`]*`").ReplaceAllString(paragraph, " X ")
		for _, s := range regexp.MustCompile(`[.!?]\s+`).Split(strings.Join(strings.Fields(paragraph), " "), -1) {
			words, n := regexp.MustCompile(`[A-Za-z']+`).FindAllString(s, -1), 0
			for _, w := range words {
				switch strings.ToLower(w) {
				case "it", "that", "which", "this", "what", "those", "these", "one", "so", "such", "there", "of":
					n++
				}
			}
			if len(words) >= 10 && n*100 >= len(words)*27 {
				opaque = append(opaque, fmt.Sprintf("%s: %s", path, s))
			}
		}
	}
	fenced, parted := regexp.MustCompile("(?ms)^```.*?^```"), regexp.MustCompile(`\n\s*\n|\n(?:[-*|#]|\d+\.) `)
	alone, beside := regexp.MustCompile(`^\s*// (.*)`), regexp.MustCompile(`\S.*\s// (.*)`)
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "acceptance" || d.Name() == ".git"):
			return fs.SkipDir
		case path == "docs/settings.md", path == "CHANGELOG.md", strings.HasSuffix(path, "_test.go"):
			return nil
		}
		switch filepath.Ext(path) {
		case ".md":
			if dir := filepath.ToSlash(filepath.Dir(path)); strings.HasPrefix(dir, "engine/") || strings.HasPrefix(dir, "tools/") {
				return nil // what a model reads
			}
			text, err := os.ReadFile(path)
			for _, p := range parted.Split(fenced.ReplaceAllString(string(text), "\n\n"), -1) {
				look(path, p)
			}
			return err
		case ".go":
			text, err := os.ReadFile(path)
			comment := ""
			for line := range strings.Lines(string(text) + "\n") {
				line = strings.TrimRight(line, "\n")
				switch m := alone.FindStringSubmatch(line); {
				case m != nil:
					comment += " " + m[1]
				default:
					look(path, comment)
					comment = ""
					if m := beside.FindStringSubmatch(line); m != nil {
						look(path, m[1])
					}
				}
			}
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(opaque) > mostOpaque {
		t.Errorf("%d sentences stand on pronouns, where %d may:\n%s", len(opaque), mostOpaque, strings.Join(opaque, "\n"))
	}
}
