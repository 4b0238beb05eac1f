package charset

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"golang.org/x/text/encoding/htmlindex"
)

func as(t testing.TB, charset, text string) []byte {
	t.Helper()
	enc, err := htmlindex.Get(charset)
	if err != nil {
		t.Fatal(err)
	}
	b, err := enc.NewEncoder().Bytes([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

var samples = map[string]string{
	"russian":  "Съешь же ещё этих мягких французских булок, да выпей чаю. Это обычный русский текст, в котором достаточно слов, чтобы узнать язык.\n",
	"japanese": "これは日本語の文章です。文字コードを正しく判定できるかどうかを確かめるために、ある程度の長さが必要です。カタカナも混ぜておきます。\n",
	"chinese":  "这是一段中文文字，用来检查能不能正确地识别它的编码。为了让统计方法有足够的依据，这里多写几句话，没有别的意思。\n",
	"korean":   "이것은 한국어 문장입니다. 문자 집합을 올바르게 판별하는지 확인하기 위하여 어느 정도 길이가 필요합니다. 그래서 몇 마디를 더 적습니다.\n",
	"french":   "L'été dernier, nous avons mangé des crêpes à la crème près du château où la fête était déjà terminée. Ça va très bien, merci.\n",
	"greek":    "Αυτό είναι ένα συνηθισμένο ελληνικό κείμενο που γράφτηκε για να δοκιμάσει την αναγνώριση της κωδικοποίησης των χαρακτήρων.\n",
}

func TestDecode(t *testing.T) {
	for _, test := range []struct {
		name    string
		in      []byte
		text    string
		charset string
		bom     bool
	}{
		{"empty", nil, "", "utf-8", false},
		{"ascii", []byte("a\nb\n"), "a\nb\n", "utf-8", false},
		{"utf-8", []byte("größe\r\n"), "größe\r\n", "utf-8", false},
		{"utf-8 with a mark", []byte("\xef\xbb\xbfa\n"), "a\n", "utf-8", true},
		{"only a mark", []byte("\xef\xbb\xbf"), "", "utf-8", true},
		{"utf-16le with a mark", []byte("\xff\xfea\x00=\xd8\x00\xde"), "a\U0001f600", "utf-16le", true},
		{"utf-16be with a mark", []byte("\xfe\xff\x00a\xd8=\xde\x00"), "a\U0001f600", "utf-16be", true},
		{"utf-32le with a mark", []byte("\xff\xfe\x00\x00a\x00\x00\x00"), "a", "utf-32le", true},
		{"utf-32be with a mark", []byte("\x00\x00\xfe\xff\x00\x00\x00a"), "a", "utf-32be", true},
		{"utf-16le without", []byte("h\x00e\x00l\x00l\x00o\x00\r\x00\n\x00"), "hello\r\n", "utf-16le", false},
		{"utf-16be without", []byte("\x00h\x00e\x00l\x00l\x00o\x00\n"), "hello\n", "utf-16be", false},
		{"utf-16le text like a 32 mark", []byte("\xff\xfe\x00\x00a\x00"), "\x00a", "utf-16le", true},
		{"shift-jis", as(t, "shift_jis", samples["japanese"]), samples["japanese"], "shift_jis", false},
		{"euc-jp", as(t, "euc-jp", samples["japanese"]), samples["japanese"], "euc-jp", false},
		{"gbk", as(t, "gbk", samples["chinese"]), samples["chinese"], "gb18030", false},
		{"euc-kr", as(t, "euc-kr", samples["korean"]), samples["korean"], "euc-kr", false},
		{"windows-1251", as(t, "windows-1251", samples["russian"]), samples["russian"], "windows-1251", false},
		{"koi8-r", as(t, "koi8-r", samples["russian"]), samples["russian"], "koi8-r", false},
		{"latin1", as(t, "windows-1252", samples["french"]), samples["french"], "windows-1252", false},
		{"windows-1252", as(t, "windows-1252", "“"+samples["french"]+"” – €"), "“" + samples["french"] + "” – €", "windows-1252", false},
		{"a short word", []byte("caf\xe9\n"), "café\n", "windows-1252", false},
		{"a letter before ASCII", []byte("Stra\xdfe, 20\xb0C\n"), "Straße, 20°C\n", "windows-1252", false},
		{"in a long file", append([]byte(strings.Repeat("plain line\n", 20000)), as(t, "windows-1251", samples["russian"])...),
			strings.Repeat("plain line\n", 20000) + samples["russian"], "windows-1251", false},
		{"escapes are text", []byte("\x1b[1mbold\x1b[0m\n"), "\x1b[1mbold\x1b[0m\n", "utf-8", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			text, f, err := Decode(test.in)
			if err != nil {
				t.Fatal(err)
			}
			if text != test.text || f.Charset != test.charset || f.BOM != test.bom || f.Lossy {
				t.Fatalf("got %.80q, %+v; want %.80q in %s", text, f, test.text, test.charset)
			}
			if back, err := f.Encode(text); err != nil || !bytes.Equal(back, test.in) {
				t.Errorf("back: %.80q, %v", back, err)
			}
		})
	}
}

func TestDecodeTellsLineEnds(t *testing.T) {
	if _, f, _ := Decode([]byte("a\r\nb\nc\r\n")); f.LF != 1 || f.CRLF != 2 {
		t.Errorf("got %+v", f)
	}
}

func TestDecodeRefusesWhatIsNotText(t *testing.T) {
	for name, in := range map[string]string{
		"nul":        "abc\x00def",
		"program":    "\x7fELF\x02\x01\x01\x00\x00\x00",
		"controls":   "\x01\x02\x03\x04\x05abc",
		"compressed": "\x1f\x8b\x08\x08\xde\xad\xbe\xef\x02\x03ab\x9c\xed\x05\x06\x0e",
	} {
		if text, f, err := Decode([]byte(in)); !errors.Is(err, ErrBinary) {
			t.Errorf("%s: got %q, %+v, %v", name, text, f, err)
		}
	}
}

// Bytes that mean nothing are shown as such, and are there again when the text is written.
func TestBytesThatAreNoText(t *testing.T) {
	for name, in := range map[string]string{
		"shift-jis":            string(as(t, "shift_jis", strings.Repeat(samples["japanese"], 5))) + "\xfd\n",
		"utf-8":                strings.Repeat("größe größe größe größe ", 5) + "\xff\n",
		"latin-1 in utf-8":     "/* Größe 你好 */\n/* Andr\xe9 */\nx = 1\n",
		"after a mark":         "\xef\xbb\xbfa\xff\n",
		"an odd length":        "\xff\xfea\x00b",
		"half a character":     "größe 你\xe5\xa5",
		"cut, nearly ASCII":    strings.Repeat("plain ", 20) + "ö \xe5\xa5",
		"cut, all but ASCII":   strings.Repeat("plain ", 20) + "\xf0\x9f\x98",
		"a surrogate in utf-8": "größe 你好 \xed\xa0\x80\n",
	} {
		text, f, err := Decode([]byte(in))
		if err != nil || !f.Raw || f.Lossy || !strings.Contains(Readable(text), "\ufffd") || strings.ContainsFunc(Readable(text), func(r rune) bool { return r >= firstRaw }) {
			t.Errorf("%s: got %q, %+v, %v", name, text, f, err)
		}
		if b, err := f.Encode(text); err != nil || string(b) != in {
			t.Errorf("%s: written as %q, %v", name, b, err)
		}
		if name == "shift-jis" {
			continue
		}
		if b, err := f.Encode("new " + text); err != nil || len(b) <= len(in) {
			t.Errorf("%s: with more before it: %q, %v", name, b, err)
		}
	}
	if s := "a \U0010ffff \U0010ff41"; Readable(s) == s {
		t.Errorf("%q is readable", s)
	}
}

// Where nothing says for sure what a text is written in, the language of the user does.
func TestGuessByLocale(t *testing.T) {
	english := strings.Repeat("int main() { return 0; } // ", 5)
	for _, test := range []struct{ locale, charset, text string }{
		{"ru_RU.UTF-8", "windows-1251", "// Привет\nx = 1\n"},
		{"ru_RU.KOI8-R", "koi8-r", "// Привет\nx = 1\n"},
		{"zh_CN.UTF-8", "gb18030", "// 你好\nx = 1\n"},
		{"ja_JP.UTF-8", "shift_jis", "// 日本\nx = 1\n"},
		{"ko_KR", "euc-kr", "// 안녕\nx = 1\n"},
		{"pl_PL.UTF-8", "windows-1250", "// zażółć gęślą\nx = 1\n"},
		{"pl_PL.UTF-8", "iso-8859-2", "// zażółć gęślą jaźń\nx = 1\n"},
		{"ko_KR.UTF-8", "euc-kr", english + "안녕하세요 세계\n"},
		{"zh_TW.UTF-8", "big5", english + "你好，世界。測試\n"},
		{"he_IL.UTF-8", "windows-1255", english + "שלום עולם\n"},
		{"th_TH.UTF-8", "windows-874", english + "สวัสดีชาวโลก\n"},
		{"he_IL.UTF-8", "windows-1252", samples["french"]},
		{"ja_JP.UTF-8", "windows-1252", samples["french"]},
		{"ru_RU.UTF-8", "koi8-r", samples["russian"]},
		{"en_US.UTF-8", "windows-1252", "caf\u00e9\n"},
		{"C", "windows-1252", "caf\u00e9\n"},
	} {
		in := as(t, test.charset, test.text)
		text, f, err := New("", test.locale).Decode(in)
		if err != nil || text != test.text || f.Charset != test.charset || !f.Guessed {
			t.Errorf("%s: got %q, %+v, %v", test.locale, text, f, err)
		}
	}
	for _, text := range []string{"größe\n", "plain\n"} {
		if got, f, err := New("windows-1251", "ru_RU.UTF-8").Decode([]byte(text)); got != text || f.Guessed || err != nil {
			t.Errorf("%q is %q, %+v, %v", text, got, f, err)
		}
	}
}

// What can be shown but not written back as it was must not be written.
func TestLossyTextIsNotWritten(t *testing.T) {
	for name, in := range map[string]string{
		"private characters":         "größe 你好 \U0010ffff\xff\n",
		"half a pair":                "\xff\xfea\x00\x3d\xd8",
		"a number that is no letter": "\x00\x00\xfe\xff\x00\x11\x00\x00",
	} {
		text, f, err := Decode([]byte(in))
		if err != nil || !f.Lossy || !strings.Contains(text, "\ufffd") {
			t.Errorf("%s: got %q, %+v, %v", name, text, f, err)
		}
		if b, err := f.Encode(text); !errors.Is(err, ErrLossy) {
			t.Errorf("%s: written as %q, %v", name, b, err)
		}
	}
}

func TestEncodeRefusesWhatTheCharsetLacks(t *testing.T) {
	for _, test := range []struct {
		f    Format
		text string
		want string
	}{
		{Format{Charset: "windows-1251"}, "привет 日", "the file's encoding, windows-1251, has no character '日' (U+65E5)"},
		{Format{Charset: "shift_jis"}, "日本 é", "the file's encoding, shift_jis, has no character 'é' (U+00E9)"},
		{Format{Charset: "utf-16le"}, "a\xff", "the text is not valid UTF-8 at byte 1 and can't be written as utf-16le"},
		{Format{Charset: "klingon"}, "a", "charset klingon is not known"},
	} {
		if b, err := test.f.Encode(test.text); err == nil || err.Error() != test.want {
			t.Errorf("got %q, %v; want %s", b, err, test.want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range samples {
		f.Add([]byte(s))
	}
	for _, s := range []string{"", "\xff\xfea\x00", "\xfe\xff", "caf\xe9", "\x00a\x00b", "\xff\xfe\x00\x00", "a\x00", "\x81\x40\x81", "\x8f\xa2\xaf", "\x84\x31\xa4\x37"} {
		f.Add([]byte(s))
	}
	f.Add([]byte("größe 你好 \xff \xe9\n\U0010fff0"))
	f.Fuzz(func(t *testing.T, b []byte) {
		text, format, err := Decode(b)
		if err != nil {
			if !errors.Is(err, ErrBinary) {
				t.Fatal(err)
			}
			return
		}
		again, format2, _ := Decode(b)
		if again != text || format2 != format {
			t.Fatalf("decoded as %+v, then as %+v", format, format2)
		}
		if format.Lossy {
			return
		}
		back, err := format.Encode(text)
		if err != nil || !bytes.Equal(back, b) {
			t.Fatalf("%+v: %q became %q, %v", format, b, back, err)
		}
	})
}

// Short texts of languages with many characters are told from each other and from those of
// alphabets, without a locale.
func TestGuessOfShortTexts(t *testing.T) {
	for charset, texts := range map[string][]string{
		"gb18030":   {"// 你好", "# 配置文件\n", "// 返回错误信息", "/* 读取用户的数据 */", "print(\"今天天气很好\")", "第一章 开始", "请输入密码：", "北京大学，中国", "我们都是好朋友", "测试数据,1,2\n", "文件不存在", "这是一个简单的例子。"},
		"big5":      {"// 你好嗎", "# 設定檔案\n", "// 返回錯誤訊息", "/* 讀取使用者的資料 */", "print(\"今天天氣很好\")", "第一章 開始", "請輸入密碼：", "台灣大學，台北市", "我們都是好朋友", "測試資料,1,2\n", "檔案不存在", "這是一個簡單的例子。"},
		"shift_jis": {"// こんにちは", "# 設定ファイル\n", "// エラーを返す", "/* ユーザーのデータを読む */", "print(\"今日は天気がいい\")", "第一章 はじめに", "パスワードを入力", "東京大学、日本", "名前,値段\n", "データ,1,2\n", "ファイルがありません", "これは簡単な例です。"},
		"euc-jp":    {"// こんにちは", "# 設定ファイル\n", "// エラーを返す", "/* ユーザーのデータを読む */", "print(\"今日は天気がいい\")", "第一章 はじめに", "パスワードを入力", "東京の大学、日本", "名前,値段\n", "データ,1,2\n", "ファイルがありません", "これは簡単な例です。"},
		"euc-kr":    {"// 안녕하세요", "# 설정 파일\n", "// 오류를 반환", "/* 사용자 데이터를 읽는다 */", "print(\"오늘 날씨가 좋다\")", "제1장 시작", "비밀번호를 입력", "서울대학교, 한국", "이름,가격\n", "자료,1,2\n", "파일이 없습니다", "이것은 간단한 예입니다."},
	} {
		for _, text := range texts {
			if got, f, err := Decode(as(t, charset, text)); err != nil || f.Charset != charset || got != text {
				t.Errorf("%s: %q is %q, %+v, %v", charset, text, got, f, err)
			}
		}
	}
	wrong := map[string]bool{"gb18030": true, "big5": true, "shift_jis": true, "euc-jp": true, "euc-kr": true}
	for charset, texts := range map[string][]string{
		"windows-1252": {"café", "naïve\n", "Größe", "GRÖSSE ÄNDERN", "ÄÖÜ", "äöüß", "½ °C ±5", "señor ñandú", "AÇÕES, OPÇÃO", "JÄÄTTÄÄ PÄÄTTÄÄ", "sjö, å, ö", "été à côté", "Ærø Åland ØÅ", "© 2020 Müller", "“quoted” – €5", "éé èè àà", "Î×Ï"},
		"windows-1251": {"// Привет", "ПРИВЕТ, МИР", "Файл не найден", "ФАЙЛ", "ошибка чтения", "да", "НЕТ", "Ёлка", "імʼя", "МАЄ ПІДТРИМКУ", "съешь же ещё", "БРОЙ", "й", "Объект №5"},
		"koi8-r":       {"Файл не найден", "ошибка чтения", "ПРИВЕТ", "да нет"}, "windows-1250": {"zażółć gęślą jaźń", "příliš žluťoučký kůň", "ŁÓŻ"},
		"windows-1253": {"Καλημέρα κόσμε", "ΕΓΚΑΤΑΣΤΑΣΗ", "σφάλμα"}, "windows-1254": {"şifre çözüldü", "İŞLEM"}, "windows-1255": {"שלום עולם"}, "windows-1256": {"مرحبا بالعالم", "ملف غير موجود"},
	} {
		for _, text := range texts {
			enc, _ := htmlindex.Get(charset)
			in, err := enc.NewEncoder().Bytes([]byte(text))
			if err != nil {
				continue
			}
			if got, f, err := Decode(in); err != nil || wrong[f.Charset] && eastern(in, "") != "" {
				t.Errorf("%s: %q is %q, %+v, %v", charset, text, got, f, err)
			}
			if charset == "windows-1252" && wrong[must(Decode(in))] {
				t.Errorf("%q is not read as Western", text)
			}
		}
	}
}

func must(_ string, f Format, _ error) string { return f.Charset }
