package workspace

import (
	"bytes"
	"path/filepath"
	"strings"
)

// Media returns the MIME type of an image, a PDF, a sound or a film, by the beginning of its
// content and, if ambiguous, by its name. It returns "" for anything else.
func Media(name string, content []byte) string {
	ext := strings.ToLower(filepath.Ext(name))
	if len(content) >= 12 {
		if s := string(content[:4]); s == "RIFF" || s == "FORM" {
			switch string(content[8:12]) {
			case "WEBP":
				return "image/webp"
			case "WAVE":
				return "audio/wav"
			case "AVI ":
				return "video/x-msvideo"
			case "AIFF", "AIFC":
				return "audio/aiff"
			}
		}
		if string(content[4:8]) == "ftyp" {
			return brand(string(content[8:12]), ext)
		}
		if string(content[:2]) == "BM" && string(content[6:10]) == "\x00\x00\x00\x00" {
			return "image/bmp"
		}
	}
	for _, m := range magics {
		if bytes.HasPrefix(content, []byte(m.magic)) {
			switch {
			case m.mime == "video/webm" && ext == ".mkv":
				return "video/x-matroska"
			case m.mime == "audio/ogg" && ext == ".ogv":
				return "video/ogg"
			}
			return m.mime
		}
	}
	// Other files often begin with these bytes, too.
	if m := shy[ext]; m.mime != "" {
		for _, magic := range m.magic {
			if bytes.HasPrefix(content, []byte(magic)) {
				return m.mime
			}
		}
	}
	return ""
}

// shy has the types that count only if the name agrees.
var shy = map[string]struct {
	mime  string
	magic []string
}{
	".ico": {"image/x-icon", []string{"\x00\x00\x01\x00"}},
	".mp3": {"audio/mpeg", []string{"\xff\xfb", "\xff\xfa", "\xff\xf3", "\xff\xf2", "\xff\xe3"}},
	".aac": {"audio/aac", []string{"\xff\xf1", "\xff\xf9"}},
	".wma": {"audio/x-ms-wma", []string{"0&\xb2u"}},
	".wmv": {"video/x-ms-wmv", []string{"0&\xb2u"}},
	".mid": {"audio/midi", []string{"MThd"}},
}

// brand returns the type of a file in the QuickTime container format.
func brand(brand, ext string) string {
	switch brand {
	case "avif", "avis":
		return "image/avif"
	case "heic", "heix", "hevc", "heim":
		return "image/heic"
	case "mif1", "msf1":
		return "image/heif"
	case "qt  ":
		return "video/quicktime"
	case "M4A ", "M4B ":
		return "audio/mp4"
	}
	switch {
	case ext == ".m4a":
		return "audio/mp4"
	case strings.HasPrefix(brand, "3g"):
		return "video/3gpp"
	}
	return "video/mp4"
}

// magics are the unambiguous beginnings of files, with their types.
var magics = []struct{ mime, magic string }{
	{"image/png", "\x89PNG\r\n\x1a\n"},
	{"image/jpeg", "\xff\xd8\xff"},
	{"image/gif", "GIF87a"},
	{"image/gif", "GIF89a"},
	{"image/tiff", "II*\x00"},
	{"image/tiff", "MM\x00*"},
	{"application/pdf", "%PDF-"},
	{"audio/mpeg", "ID3"},
	{"audio/ogg", "OggS"},
	{"audio/flac", "fLaC"},
	{"video/webm", "\x1aE\xdf\xa3"},
	{"video/mpeg", "\x00\x00\x01\xba"},
	{"video/mpeg", "\x00\x00\x01\xb3"},
	{"video/x-flv", "FLV\x01"},
}
