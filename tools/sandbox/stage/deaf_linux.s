#include "textflag.h"

// nothing is a handler of signals. It is not called by Go: the kernel comes
// from anywhere and returns by the restorer.
TEXT nothing<>(SB), NOSPLIT|NOFRAME, $0
	RET

// The address of it, since a func value would be that of a wrapper.
DATA ·nothing(SB)/8, $nothing<>(SB)
GLOBL ·nothing(SB), NOPTR|RODATA, $8
