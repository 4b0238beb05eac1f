// Package protocol has the common parts of the generators for providers other than Google:
// writing a conversation for a server, and reading its answer.
//
// # The history has Google's form
//
// The history has the form of google.golang.org/genai, for all providers. A generator converts it
// to its server's form for each request. Files that a server refuses are described in words
// ([DescribeFile]); ids that it refuses are replaced, consistently ([ID]).
//
// # Answers may have faults
//
// An [Answer] gets the pieces of a stream, and emits chunks. Calls whose arguments come in pieces
// are emitted whole, at the end. An answer with an invalid call is requested again. A call in the
// text counts only if there is no other text but a thought. A thought between <think> and
// </think> counts only at the beginning.
package protocol
