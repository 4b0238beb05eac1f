package output

import "strings"

// lookalikes maps characters to their usual ASCII spelling.
var lookalikes = map[rune]string{
	'\u00a0': " ", '\u2002': " ", '\u2003': " ", '\u2009': " ", '\u200a': " ", '\u202f': " ", '\u3000': " ",
	'\u2018': "'", '\u2019': "'", '\u201a': "'", '\u201b': "'", '\u2032': "'",
	'\u201c': `"`, '\u201d': `"`, '\u201e': `"`, '\u201f': `"`, '\u00ab': `"`, '\u00bb': `"`, '\u2033': `"`,
	'\u2010': "-", '\u2011': "-", '\u2012': "-", '\u2013': "-", '\u2014': "--", '\u2015': "--", '\u2212': "-",
	'\u2026': "...", '\u2022': "*", '\u2023': "*", '\u2043': "-", '\u00b7': "*", '\u25cf': "*", '\u25aa': "*", '\u25e6': "*", '\u25cb': "o",
	'\u2190': "<-", '\u2192': "->", '\u2194': "<->", '\u21d0': "<=", '\u21d2': "=>", '\u21d4': "<=>",
	'\u27f5': "<-", '\u27f6': "->", '\u279c': "->", '\u2191': "^", '\u2193': "v",
	'\u00d7': "x", '\u00f7': "/", '\u2264': "<=", '\u2265': ">=", '\u2260': "!=", '\u2248': "~=", '\u00b1': "+-",
	'\u00a9': "(c)", '\u00ae': "(R)", '\u2122': "(TM)",
	'\u2713': "(yes)", '\u2714': "(yes)", '\u2705': "(yes)", '\u2717': "(no)", '\u2718': "(no)", '\u274c': "(no)",
	'\u2588': "#", '\u2591': "#", '\u2592': "#", '\u2593': "#",
}

// ascii returns the ASCII spelling of r.
func ascii(r rune) string {
	switch s := lookalikes[r]; {
	case s != "":
		return s
	case strings.ContainsRune("\u2500\u2501\u2504\u2505\u2508\u2509\u254c\u254d\u2550\u2574\u2576\u2578\u257a\u257c\u257e", r):
		return "-"
	case strings.ContainsRune("\u2502\u2503\u2506\u2507\u250a\u250b\u254e\u254f\u2551\u2575\u2577\u2579\u257b\u257d\u257f", r):
		return "|"
	case r >= 0x2500 && r <= 0x257f:
		return "+"
	}
	return escaped(r)
}

// toASCII returns s with each other character replaced by a similar ASCII text, or by an escape.
func toASCII(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r < 0x80 {
			b.WriteRune(r)
		} else {
			b.WriteString(ascii(r))
		}
	}
	return b.String()
}
