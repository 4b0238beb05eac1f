package shell

// A stripper removes terminal control sequences from a text that comes in pieces, cut
// anywhere. It recognizes the seven-bit sequences and the C1 controls in UTF-8; a lone byte
// 0x80 to 0x9f is no UTF-8 and stays.
//
// A control string ends at the end of its line at the latest, so a sequence
// that is never closed hides no more than that line. The line end stays.
//
// With screens it also removes the text on the alternate screen, which editors and pagers
// use.
type stripper struct {
	state   stripState
	screens bool
	away    bool   // on the alternate screen
	params  []byte // of a control sequence
}

type stripState uint8

const (
	stripText    stripState = iota
	stripC1                 // after 0xc2, which begins a C1 control or a letter
	stripEscape             // after ESC
	stripCharset            // after ESC and an intermediate byte
	stripCSI                // in a control sequence
	stripString             // in a control string: OSC, DCS, SOS, PM, APC
	stripEnding             // in a control string, after ESC
	stripC1End              // in a control string, after 0xc2
)

// append adds the text in src to dst, which must not overlap src.
func (s *stripper) append(dst, src []byte) []byte {
	for i := 0; i < len(src); i++ {
		b := src[i]
		switch s.state {
		case stripText:
			n := i
			for n < len(src) && src[n] != 0x1b && src[n] != 0xc2 {
				n++
			}
			if !s.away {
				dst = append(dst, src[i:n]...)
			}
			if i = n; n < len(src) {
				dst = s.text(dst, src[n])
			}
		case stripC1:
			switch {
			case b == 0x1b || b == 0xc2: // the next bytes are removed, and later bytes must not complete this one
				dst = s.text(append(dst, "\uFFFD"...), b)
			case b < 0x80 || b > 0x9f:
				dst = s.text(append(dst, 0xc2), b)
			default:
				s.state = c1(b)
			}
		case stripEscape:
			dst = s.escape(dst, b)
		case stripCharset:
			switch {
			case b >= 0x20 && b <= 0x2f:
			case b >= 0x30 && b <= 0x7e:
				s.state = stripText
			default:
				dst = s.text(dst, b)
			}
		case stripCSI:
			switch {
			case b >= 0x20 && b <= 0x3f:
				if s.screens && len(s.params) < longestParams {
					s.params = append(s.params, b)
				}
			case b >= 0x40 && b <= 0x7e:
				s.turn(b)
				s.state = stripText
			default:
				dst = s.text(dst, b)
			}
		case stripString, stripEnding, stripC1End:
			dst = s.inString(dst, b)
		}
	}
	return dst
}

// end adds the held-back byte, which began no sequence.
func (s *stripper) end(dst []byte) []byte {
	if s.state == stripC1 {
		dst = append(dst, 0xc2)
	}
	s.state = stripText
	return dst
}

// text processes b outside of sequences.
func (s *stripper) text(dst []byte, b byte) []byte {
	switch b {
	case 0x1b:
		s.state = stripEscape
		return dst
	case 0xc2:
		s.state = stripC1
		return dst
	}
	if s.state = stripText; s.away {
		return dst
	}
	return append(dst, b)
}

// longestParams is how many bytes of a sequence are read.
const longestParams = 16

// turn handles the end of a control sequence that switches the screen.
func (s *stripper) turn(end byte) {
	switch string(s.params) {
	case "?1049", "?1047", "?47":
		if end == 'h' || end == 'l' {
			s.away = end == 'h'
		}
	}
	s.params = s.params[:0]
}

func (s *stripper) escape(dst []byte, b byte) []byte {
	switch {
	case b >= 0x20 && b <= 0x2f:
		s.state = stripCharset
	case b >= 0x40 && b <= 0x5f:
		s.state = c1(b + 0x40)
	case b >= 0x30 && b <= 0x7e:
		s.state = stripText
	default:
		return s.text(dst, b)
	}
	return dst
}

func (s *stripper) inString(dst []byte, b byte) []byte {
	was := s.state
	s.state = stripString
	switch {
	case was == stripEnding && b != '\\':
		return s.escape(dst, b) // ESC ends the string and begins something else
	case was == stripEnding, was == stripC1End && b == 0x9c, b == 0x07, b == 0x18, b == 0x1a:
		s.state = stripText
	case b == 0x1b:
		s.state = stripEnding
	case b == 0xc2:
		s.state = stripC1End
	case b == '\n', b == '\r':
		return s.text(dst, b)
	}
	return dst
}

// c1 returns the state after a C1 control.
func c1(b byte) stripState {
	switch b {
	case 0x9b:
		return stripCSI
	case 0x90, 0x98, 0x9d, 0x9e, 0x9f:
		return stripString
	}
	return stripText
}
