package memory

import "os"

// careful has no meaning here.
const careful = 0

func noDirectory(error) bool { return false }

// own does nothing: a file belongs to whoever made it.
func own(*os.File, os.FileInfo) {}

// settle does nothing: directories can't be flushed.
func settle(string) {}
