package markdown

// maxMarkers is the most list markers of a line that are tried before the line is complete.
// Distinguishing a marker from a rule takes the whole line.
const maxMarkers = 50

// head returns how much of line decides that its innermost block is a paragraph, whatever follows:
// the markers of quotes and items, and one character that begins no other block. It returns 0 if
// that is undecided, or needs the whole line. In a paragraph, a line may be indented.
func head(line []byte, inParagraph bool) int {
	i, ok := indent(line, 0, inParagraph)
	markers := 0
	for ok && i < len(line) {
		rest := line[i:]
		switch c := rest[0]; {
		case c == '>':
			i, ok = indent(line, i+1, false)
			continue
		case c < 0x20:
			return 0
		case c == '<':
			if len(rest) > 1 && !beginsTag(rest[1]) {
				return i + 2
			}
			return 0
		}
		if markers++; markers > maxMarkers {
			return 0
		}
		n, marker := begins(rest)
		switch {
		case n == 0:
			return 0
		case !marker:
			return i + n
		}
		i, ok = indent(line, i+n, false)
	}
	return 0
}

// indent skips the blanks from line[i] on. It returns false if they may be the indentation of code.
func indent(line []byte, i int, any bool) (int, bool) {
	for start := i; i < len(line); i++ {
		switch {
		case line[i] != ' ' && line[i] != '\t':
			return i, true
		case !any && (line[i] == '\t' || i-start >= 3):
			return 0, false
		}
	}
	return i, true
}

// begins reads the first characters of s, where a block may begin. It returns the length of a list
// marker, or the number of characters that decide that s is text, or 0.
func begins(s []byte) (n int, marker bool) {
	c := s[0]
	switch c {
	case '-', '*', '_', '=':
		n = run(s, string(c)+" \t") // a rule, an underline
	case '`', '~':
		if n = run(s, string(c)); n >= 3 {
			return 0, false
		}
	case '#':
		n = run(s, "#")
		if n < len(s) && n <= 6 && blank(s[n]) {
			return 0, false
		}
	case '+':
		n = 1
	case '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		n = run(s, "0123456789")
		if n < len(s) && n <= 9 && (s[n] == '.' || s[n] == ')') {
			if n+1 < len(s) && blank(s[n+1]) {
				return n + 1, true
			}
			n++
		}
	}
	if n >= len(s) || s[n] < 0x20 && s[n] != '\t' {
		return 0, false
	}
	if (c == '-' || c == '*' || c == '+') && blank(s[1]) {
		return 1, true
	}
	return n + 1, false
}

// run returns the length of the longest prefix of s whose characters are in set.
func run(s []byte, set string) int {
	for i, c := range s {
		in := false
		for j := range len(set) {
			in = in || set[j] == c
		}
		if !in {
			return i
		}
	}
	return len(s)
}

func blank(c byte) bool { return c == ' ' || c == '\t' }

func letter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func digit(c byte) bool { return '0' <= c && c <= '9' }
