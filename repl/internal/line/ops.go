package line

// An op is an editing key, as a character that no input contains. Characters and ops form one
// stream of keys.
const (
	opFirst rune = 0x10FE00 + iota

	opLeft
	opRight
	opWordLeft
	opWordRight
	opHome
	opEnd
	opRubout
	opDelete
	opDeleteOrEnd // Ctrl-D
	opKillRight
	opKillLeft
	opKillAll
	opKillWord
	opRuboutWord  // back to white space
	opRuboutAlnum // back to the start of a word
	opYank
	opTranspose
	opUndo
	opPrev // in the history
	opNext
	opSearch
	opSearchOn // to a newer line
	opAbort
	opComplete
	opMode // Shift-Tab
	opEdit
	opStop   // Ctrl-Z
	opResume // after a stop
	opRedraw
	opShow   // held-back text
	opEscape // a lone ESC

	opLast
)

// newlineMark stands for a line break within the line.
const newlineMark rune = 0x10FF00

// isOpOrMark reports whether r is an op or the mark. No rune of the input is.
func isOpOrMark(r rune) bool { return r >= 0x10FE00 && r <= 0x10FFFF }

// isOp reports whether r is an op.
func isOp(r rune) bool { return r > opFirst && r < opLast }
