package memory

// careful has no meaning here.
const careful = 0

func noDirectory(error) bool { return false }
