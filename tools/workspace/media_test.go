package workspace

import "testing"

// A file is what it begins with, and by its name where that leaves a choice.
func TestMedia(t *testing.T) {
	ftyp := func(brand string) string { return "\x00\x00\x00\x18ftyp" + brand }
	for _, test := range []struct{ name, content, want string }{
		{"a.webp", "RIFF1234WEBP", "image/webp"}, {"a", "RIFF1234WAVE", "audio/wav"}, {"a", "RIFF1234AVI ", "video/x-msvideo"}, {"a", "FORM1234AIFF", "audio/aiff"}, {"a", "FORM1234AIFC", "audio/aiff"}, {"a", "RIFF1234xxxx", ""}, {"a", "RIFF", ""},
		{"a", ftyp("avif"), "image/avif"}, {"a", ftyp("heic"), "image/heic"}, {"a", ftyp("mif1"), "image/heif"}, {"a", ftyp("qt  "), "video/quicktime"}, {"a", ftyp("M4A "), "audio/mp4"}, {"a.M4A", ftyp("isom"), "audio/mp4"}, {"a", ftyp("3gp4"), "video/3gpp"}, {"a", ftyp("isom"), "video/mp4"},
		{"a", "BM1234\x00\x00\x00\x0056", "image/bmp"}, {"a", "BMW and others", ""},
		{"a", "\x1aE\xdf\xa3", "video/webm"}, {"a.mkv", "\x1aE\xdf\xa3", "video/x-matroska"}, {"a", "OggS", "audio/ogg"}, {"a.ogv", "OggS", "video/ogg"}, {"a.txt", "%PDF-1.7", "application/pdf"},
		{"a.ico", "\x00\x00\x01\x00", "image/x-icon"}, {"a", "\x00\x00\x01\x00", ""}, {"a.mp3", "\xff\xfb", "audio/mpeg"}, {"a.mp3", "text", ""}, {"a.mid", "MThd", "audio/midi"}, {"a.png", "", ""},
	} {
		if got := Media(test.name, []byte(test.content)); got != test.want {
			t.Errorf("%s of %q: %s; want %s", test.name, test.content, got, test.want)
		}
	}
}
