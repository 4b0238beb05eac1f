package workspace

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/encoding/htmlindex"

	"gemline/engine/charset"
)

// Where a text does not say what it is written in, an .editorconfig, the files beside it, a
// setting and the user's language do, in this order.
func TestCharsetOfFile(t *testing.T) {
	const editor, russian = ".editorconfig", "windows-1251:"
	beside := map[string]string{
		"src/b.c": russian + "// Ошибка при чтении файла, попробуйте ещё раз\n",
		"src/c.c": russian + "// Здравствуйте, это обычный комментарий на русском языке\n",
		"src/d.c": "// UTF-8: größe\n", "src/e.png": "\x89PNG\x00\xff\xfe",
	}
	for _, test := range []struct {
		name, setting, locale, in string
		files                     map[string]string
		charset                   string
		guessed                   bool
	}{
		{name: "nothing", in: "windows-1252:café\n", charset: "windows-1252", guessed: true},
		{name: "a setting", setting: "CP1251", in: "windows-1251:// Привет\n", charset: "windows-1251"},
		{name: "a setting for two bytes", setting: "gbk", in: "gbk:// 你好\n", charset: "gbk"},
		{name: "a setting beats a language", setting: "koi8-r", locale: "ru_RU.UTF-8", in: "koi8-r:// Привет\n", charset: "koi8-r"},
		{name: "a setting that does not fit", setting: "shift_jis", in: "windows-1252:caf\u00e9\n", charset: "windows-1252", guessed: true},
		{name: "UTF-8 needs no setting", setting: "gbk", in: "// größe\n", charset: "utf-8"},
		{name: "the language", locale: "ko_KR.UTF-8", in: "euc-kr:// 안녕\n", charset: "euc-kr", guessed: true},
		{name: "files beside it", files: beside, in: "windows-1251:// Привет\n", charset: "windows-1251", guessed: true},
		{name: "files beside it beat a language", locale: "ja_JP.UTF-8", files: beside, in: "windows-1251:// Привет\n", charset: "windows-1251", guessed: true},
		{name: "French beside it", locale: "ru_RU.UTF-8", files: map[string]string{"src/b.c": "windows-1252:// L'été dernier, nous avons mangé des crêpes à la crème près du château\n"},
			in: "windows-1252:// été à la crème\n", charset: "windows-1252", guessed: true},
		{name: "English with it", locale: "he_IL.UTF-8", files: map[string]string{"src/b.c": "windows-1255:// the first of all the words in this file שלום עולם\n"},
			in: "windows-1255:// שלום\n", charset: "iso-8859-8", guessed: true},
		{name: "a config", files: map[string]string{editor: "root = true\n[*]\nindent_style = tab\n[*.{c,h}]\ncharset = windows-1251\n"},
			in: "windows-1251:// Привет\n", charset: "windows-1251"},
		{name: "a config beats a setting", setting: "gbk", files: map[string]string{editor: "[*]\nCharset = Latin1 ; old\n"},
			in: "windows-1252:// été à la crème\n", charset: "windows-1252"},
		{name: "another section", locale: "ru_RU", files: map[string]string{editor: "[*.h]\ncharset = gbk\n[lib/**]\ncharset = gbk\n"},
			in: "windows-1251:// Привет\n", charset: "windows-1251", guessed: true},
		{name: "a folder's section", files: map[string]string{editor: "[src/**]\ncharset=euc-kr\n"}, in: "euc-kr:// 안녕\n", charset: "euc-kr"},
		{name: "a file's section", files: map[string]string{editor: "[/src/a.c]\ncharset=big5\n"}, in: "big5:// 你好\n", charset: "big5"},
		{name: "the last section", files: map[string]string{editor: "[*]\ncharset=gbk\n[a.?]\ncharset=big5\n"}, in: "big5:// 你好\n", charset: "big5"},
		{name: "the nearest config", files: map[string]string{editor: "[*]\ncharset=gbk\n", "src/.editorconfig": "# here\n[*.c]\ncharset=shift_jis\n"},
			in: "shift_jis:// 日本\n", charset: "shift_jis"},
		{name: "a root ends the search", locale: "ru_RU", files: map[string]string{editor: "[*]\ncharset=gbk\n", "src/.editorconfig": "root=true\n[*.h]\ncharset=big5\n"},
			in: "windows-1251:// Привет\n", charset: "windows-1251", guessed: true},
		{name: "UTF-16 without a mark", files: map[string]string{editor: "[*]\ncharset = utf-16le\n"}, in: "utf-16le:你好世界\n", charset: "utf-16le"},
		{name: "nonsense", files: map[string]string{editor: "[\n[]\n[{]\ncharset\n[*]\ncharset = klingon\n"}, in: "windows-1252:caf\u00e9\n", charset: "windows-1252", guessed: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			files := maps.Clone(test.files)
			if files == nil {
				files = map[string]string{}
			}
			files["src/a.c"] = test.in
			var text string
			for _, name := range slices.Sorted(maps.Keys(files)) {
				in, content := []byte(files[name]), files[name]
				if label, rest, ok := cutCharset(content); ok {
					enc, err := htmlindex.Get(label)
					if err != nil {
						t.Fatal(err)
					}
					if in, err = enc.NewEncoder().Bytes([]byte(rest)); err != nil {
						t.Fatal(err)
					}
					content = rest
				}
				if name == "src/a.c" {
					text = content
				}
				path := filepath.Join(dir, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, in, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			w, err := New(Config{Roots: []string{dir}, Charsets: charset.New(test.setting, test.locale)})
			if err != nil {
				t.Fatal(err)
			}
			defer w.close()
			f, err := w.ReadText(filepath.Join(dir, "src/a.c"))
			if err != nil || f.Text != text || f.Format.Charset != test.charset || f.Format.Guessed != test.guessed {
				t.Errorf("got %+v, %v; want %q in %s", f, err, text, test.charset)
			}
		})
	}
}

// Sections are meant for the files that https://spec.editorconfig.org says, but for ranges of
// numbers and a ** beside other characters.
func TestSectionOfEditorConfig(t *testing.T) {
	for _, test := range []struct{ glob, yes, no string }{
		{"*", "a a/b .a a.b.c", ""},
		{"*.c", "a.c d/a.c .c", "a.cc ac"},
		{"a*e.c", "ace.c d/abcde.c ae.c", "a/e.c"},
		{"d/*.c", "d/a.c", "a.c e/d/a.c d/e/a.c"},
		{"/d/*.c", "d/a.c", "e/d/a.c"},
		{"/*.c", "a.c", "d/a.c"},
		{"**.c", "a.c d/e/a.c", "a.h"},
		{"a/**/z.c", "a/z.c a/m/z.c a/m/n/z.c", "az.c amz.c"},
		{"d/**", "d/a d/e/a", "e/d/a"},
		{"**/e/*.c", "e/a.c d/e/a.c", "d/a.c"},
		{"?.c", "a.c d/ж.c", "ab.c .c"},
		{"[ab].c", "a.c d/b.c", "c.c ab.c"},
		{"[!ab].c", "c.c", "a.c b.c"},
		{"[a-c].c", "b.c", "d.c -.c"},
		{"[!a-c].c", "d.c", "b.c"},
		{"[\\]ab].c", "].c a.c", "\\.c"},
		{"*.{c,h}", "a.c d/a.h", "a.cc a.{c,h}"},
		{"*.{c,{h,hpp},}", "a.c a.h a.hpp a.", "a.hp a"},
		{"{a,b}/{x,y{1,2}}.c", "a/x.c b/y2.c", "a/y.c c/x.c"},
		{"{a\\,b,c}.x", "a,b.x c.x", "a.x b.x"},
		{"\\*.c", "*.c", "a.c"},
		{"{*.go,Makefile,*.{mk,make}}", "a.go d/Makefile x.mk x.make", "a.c"},
		{"[!]a-].c", "", "b.c"},
	} {
		for _, path := range strings.Fields(test.yes) {
			if !sectionMatches(test.glob, path) {
				t.Errorf("[%s] is not for %s", test.glob, path)
			}
		}
		for _, path := range strings.Fields(test.no) {
			if sectionMatches(test.glob, path) {
				t.Errorf("[%s] is for %s", test.glob, path)
			}
		}
	}
}

// cutCharset returns the charset in front of a text, and the text.
func cutCharset(s string) (label, text string, ok bool) {
	label, text, _ = strings.Cut(s, ":")
	_, err := htmlindex.Get(label)
	return label, text, err == nil
}
