// Package teletype runs a program at a terminal, for tests.
//
// A [Session] is a program whose terminal the test holds: it sends what a user
// would type, waits for what the program shows, and keeps every byte. [Lint]
// says where such a transcript breaks the rules for terminals that can only
// append. A [Tmux] is a screen that a real terminal draws.
package teletype
