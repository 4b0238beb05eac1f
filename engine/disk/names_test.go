package disk

import (
	"path/filepath"
	"testing"
	"unicode/utf8"
)

func TestSame(t *testing.T) {
	for _, c := range []struct {
		name, guarded string
		want          bool
	}{
		{".git", ".git", true},
		{".GIT", ".git", true},
		{".gIt", ".git", true},
		{".git.", ".git", true},
		{".git ", ".git", true},
		{".git. . .", ".git", true},
		{".git::$INDEX_ALLOCATION", ".git", true},
		{".gi\u200ct", ".git", true},
		{"\ufeff.git", ".git", true},
		{".g\u034fit", ".git", true},
		{".g\ufe0fit", ".git", true},
		{"\uff0e\uff27\uff29\uff34", ".git", true},
		{".g\u0130t", ".git", true},
		{".g\u0131t", ".git", true},
		{".\u017f\u017fh", ".ssh", true},
		{".\u00dfh", ".ssh", true},
		{".\u1e9eh", ".ssh", true},
		{"\u212aeys", "keys", true},
		{"caf\u00e9", "cafe\u0301", true},
		{"\u1e9b\u0323", "\u1e69", true},
		{"GIT~1", ".git", true},
		{"git~27", ".git", true},
		{"GI7EBA~1", ".gitmodules", true},
		{"GITMOD~1", ".gitmodules", true},
		{"GITMO~10", ".gitmodules", true},
		{"GEMINI~1", ".gemini", true},
		{"PACKAG~1.JSO", "package.json", true},
		{"WORKFL~3", "workflows", true},
		{"GIT~1 .", ".git", true},

		{"git", ".git", false},
		{".gitx", ".git", false},
		{".git ignore", ".git", false},
		{".g\u00edt", ".git", false},
		{"%2egit", ".git", false},
		{`\u002egit`, ".git", false},
		{".%67it", ".git", false},
		{"GIT~", ".git", false},
		{"git.~1~", ".git", false},
		{"git~1.txt", ".git", false},
		{"GITM~1", ".gitmodules", false},
		{"package~1", "package.json", false},
		{"", ".git", false},
		{"..", ".git", false},
		{"~1", ".git", false},
	} {
		if got := SameName(c.name, c.guarded); got != c.want {
			t.Errorf("%q and %q: %v", c.name, c.guarded, got)
		}
	}
}

// Folding twice is folding once, and never leaves anything that could hide.
func FuzzFold(f *testing.F) {
	for _, s := range []string{".git", "\u1e9b\u0323.", "a:b", "a\uff1ab", "~1", "\xff.", ". .", "\u0130\u200d"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once := FoldName(s)
		if utf8.ValidString(s) {
			if twice := FoldName(once); twice != once {
				t.Errorf("%q folds to %q and that to %q", s, once, twice)
			}
		}
		if !SameName(s, s) {
			t.Errorf("%q is not itself", s)
		}
	})
}

func TestAbsolute(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	for _, c := range []struct{ path, home, want string }{
		{"a/b", at("home"), at("w/a/b")},
		{"", at("home"), at("w")},
		{"../a", at("home"), at("a")},
		{"~", at("home"), at("home")},
		{"~/a", at("home"), at("home/a")},
		{"~a", at("home"), at("w/~a")},
		{"a/~", at("home"), at("w/a/~")},
		{"~/a", "", at("w/~/a")},
		{at("a"), at("home"), at("a")},
	} {
		if got := Absolute(c.path, at("w"), c.home); got != c.want {
			t.Errorf("%q: %s, want %s", c.path, got, c.want)
		}
	}
}
